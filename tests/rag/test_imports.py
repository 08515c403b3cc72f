"""Imports run one way: app -> rag.ui -> ingest -> rag; read from the code, whatever is imported where."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.paths import ROOT

OURS = ("app", "ingest", "rag", "tests")


def modules() -> dict[str, Path]:
    files = [ROOT / "app.py", *(ROOT / "rag").rglob("*.py"), *(ROOT / "ingest").rglob("*.py")]
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


MODULES = modules()


@cache
def imports(file: Path, *, at_import: bool = False) -> list[str]:
    """Modules of ours that a file imports; with `at_import` only those that importing it imports."""
    return list(_imports(file, at_import))


def _imports(file: Path, at_import: bool) -> Iterator[str]:
    for node in walk(ast.parse(file.read_text(encoding="utf-8")), at_import=at_import):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in OURS)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}: a relative import"
            if node.module and node.module.split(".")[0] in OURS:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    yield whole if whole in MODULES else node.module


def walk(tree: ast.AST, *, at_import: bool) -> Iterator[ast.AST]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not (at_import and _is_not_run(node)):
            waiting.extend(ast.iter_child_nodes(node))


def _is_not_run(node: ast.AST) -> bool:
    """Whether an import does not run what is within."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
        isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    )


@pytest.mark.parametrize(
    ("package", "never"),
    [
        ("rag", ("ingest", "app", "tests")),
        ("rag.ui", ("app", "tests")),
        ("ingest", ("app", "rag.ui", "tests")),
        ("app", ("tests",)),
    ],
)
def test_imports_run_one_way(package: str, never: tuple[str, ...]) -> None:
    """The page is a client of both: `rag.ui` may import `ingest`, the rest of `rag` never does."""
    for name, file in MODULES.items():
        owner = "rag.ui" if name.startswith("rag.ui") else name.split(".")[0]
        if owner == package:
            for imported in imports(file):
                assert not any(imported == other or imported.startswith(f"{other}.") for other in never), (
                    f"{name} imports {imported}"
                )


def test_tools_stand_apart_from_tests() -> None:
    for file in (ROOT / "tools").rglob("*.py"):
        assert not [imported for imported in imports(file) if imported.split(".")[0] == "tests"], file


def test_only_the_ui_knows_the_ui() -> None:
    for name, file in MODULES.items():
        if name != "app" and not name.startswith("rag.ui"):
            assert not [imported for imported in imports(file) if imported.startswith("rag.ui")], name


@pytest.mark.parametrize(
    ("leaf", "allowed"),
    [
        ("rag.errors", set()),
        ("rag.text.mapped", set()),
        ("rag.language.terms", set()),
        ("rag.language.ends", set()),
        ("rag.language.numbering", set()),
        ("rag.text.blocks", set()),
        ("rag.text.markdown", {"rag.language.ends", "rag.text.blocks"}),
        ("rag.text.sentences", {"rag.language.ends", "rag.text.blocks"}),
        (
            "rag.types",
            {
                "rag.errors",
                "rag.language.courtesy",
                "rag.language.language",
                "rag.text.blocks",
                "rag.text.mapped",
                "rag.text.page",
            },
        ),
        ("rag.paths", set()),
        ("rag.settings", {"rag.errors", "rag.paths"}),
    ],
)
def test_leaves(leaf: str, allowed: set[str]) -> None:
    assert set(imports(MODULES[leaf])) == allowed


def test_there_are_no_cycles() -> None:
    graph = {name: set(imports(file, at_import=True)) & set(MODULES) for name, file in MODULES.items()}
    while free := [name for name, needs in graph.items() if not needs & set(graph)]:
        for name in free:
            del graph[name]
    assert not graph, f"these import each other: {graph}"
