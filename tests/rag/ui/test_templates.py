"""What a template may leave out and what it may not."""

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from rag.ui.templates import ENVIRONMENT, macros_of

FILES = sorted(str(name) for name in ENVIRONMENT.list_templates(extensions=["html"]))


def made_of(source: str, **values: object) -> str:
    return ENVIRONMENT.from_string(source).render(**values)


def test_text_is_escaped_and_what_is_missing_is_an_error() -> None:
    assert made_of("<p>{{ text }}</p>", text="<b> & \"'") == "<p>&lt;b&gt; &amp; &#34;&#39;</p>"
    assert made_of("{{ html | safe }}", html="<b>") == "<b>"
    with pytest.raises(UndefinedError):
        made_of("{{ text }}")


def test_line_breaks_between_tags_are_no_part_of_the_html() -> None:
    source = (
        '<ul class="a"\n    id="b">\n  {% for one in (1, 2) %}\n  <li>{{ one }}</li> <i>x</i>\n  {% endfor %}\n</ul>\n'
    )
    assert made_of(source) == '<ul class="a" id="b"><li>1</li> <i>x</i><li>2</li> <i>x</i></ul>'


@pytest.mark.parametrize("file", FILES)
def test_every_template_is_beside_the_code_that_fills_it(file: str) -> None:
    root = Path(str(ENVIRONMENT.loader.searchpath[0]))  # type: ignore[union-attr]
    code = (root / file).with_suffix(".py").read_text(encoding="utf-8")
    assert f'macros_of("{file}")' in code
    assert callable(macros_of(file))
