"""The code that makes an index: the imports of `ingest.sync`, direct or indirect, anywhere in a file."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from rag.paths import PROGRAM

# The entry points. Readers of formats are imported by name, and run in their own process.
ENTRANCES = ("ingest.sync", "ingest.reading.child")
READERS = "ingest.formats."
# They only search a finished index.
OBSERVERS = frozenset({"ingest.anchors", "ingest.probe"})


def index_code() -> list[Path]:
    """The source files, in order of their module names."""
    modules = _modules()
    found: set[str] = set()
    waiting = [*ENTRANCES, *(name for name in modules if name.startswith(READERS))]
    while waiting:
        name = waiting.pop()
        if name not in found and name not in OBSERVERS:
            found.add(name)
            waiting += imported(modules[name], modules)
    return [modules[name] for name in sorted(found)]


def imported(file: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a file imports, with their packages; imports for type checkers are left out."""
    for node in _run(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            yield from (whole for end in range(1, len(parts) + 1) if (whole := ".".join(parts[:end])) in modules)


def _run(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
        for child in ast.iter_child_nodes(node):
            yield from _run(child)


def _modules() -> dict[str, Path]:
    files = [file for package in ("rag", "ingest") for file in sorted((PROGRAM / package).rglob("*.py"))]
    return {".".join(file.relative_to(PROGRAM).with_suffix("").parts).removesuffix(".__init__"): file for file in files}
