"""Every formula of the corpus renders in KaTeX, the one that Gradio ships, in a real browser."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from tests.corpus.pages import PAGES
from tests.rag.ui.browser import open_browser

pytestmark = pytest.mark.browser

# `strict` is KaTeX's own word on what LaTeX would not accept; "newLineInDisplayMode" is harmless, the rest is not.
RENDER = """
async ([module, formulas]) => {
    const katex = (await import(module)).default;
    const problems = [];
    for (const [where, tex, displayMode] of formulas) {
        const warnings = [];
        const strict = (code, message) => {
            if (code !== "newLineInDisplayMode") warnings.push(message);
            return "ignore";
        };
        try {
            const html = katex.renderToString(tex, {displayMode, strict, throwOnError: true});
            if (!html.includes("katex-html")) warnings.push("renders to nothing");
        } catch (error) {
            warnings.push(error.message);
        }
        for (const warning of warnings) problems.push(`${where}: ${tex}: ${warning}`);
    }
    return problems;
}
"""
ORIGIN = "http://katex.test/"


def katex_module() -> str:
    """The source of the KaTeX module that Gradio's frontend loads."""
    assets = Path(str(files("gradio"))) / "templates" / "frontend" / "assets"
    found = sorted(assets.glob("katex-*.js"))
    assert found, f"no KaTeX in {assets}: Gradio has moved it, tell this test where"
    return found[0].read_text(encoding="utf-8")


def problems_of(formulas: list[tuple[str, str, bool]]) -> list[str]:
    """Render each (place, TeX, display) in the browser; what KaTeX says of those it does not accept."""
    module = katex_module()
    with open_browser() as browser:
        page = browser.new_page()
        # The network is never asked: an empty page and the module are all there is.
        page.route("**/*", lambda route: route.abort())
        page.route(ORIGIN, lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
        page.route(f"{ORIGIN}katex.js", lambda route: route.fulfill(body=module, content_type="text/javascript"))
        page.goto(ORIGIN)
        found = page.evaluate(RENDER, [f"{ORIGIN}katex.js", formulas])
    assert isinstance(found, list)
    return [str(problem) for problem in found]


def test_every_formula_renders() -> None:
    formulas = [
        (f"{page.name}:{formula.line}", formula.tex, formula.display) for page in PAGES for formula in page.formulas()
    ]
    assert len(formulas) > 1000, "the corpus is full of formulas; finding few means not finding them"
    problems = problems_of(formulas)
    assert not problems, "\n".join(problems)


def test_broken_formulas_are_noticed() -> None:
    broken = [r"\frac{1}{2", r"\undefinedcommand", r"x^2^3", r"\left( x"]
    fine = [r"\frac{1}{2}", r"\text{显存} = 16N", r"\|x\|_2"]
    problems = problems_of([(json.dumps(tex), tex, False) for tex in [*broken, *fine]])
    assert len(problems) == len(broken), problems
