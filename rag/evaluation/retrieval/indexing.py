"""Indexes the documents of a BEIR dataset with the command that users run, anew where the code that does it changed."""

import ast
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.embedding import embedder_identity
from rag.errors import IngestError
from rag.evaluation.datasets import SourceDocument
from rag.paths import PROGRAM
from rag.settings import ENVIRONMENT_PREFIX, IndexEffect, Settings, StoreName, index_settings

# The entry points. Readers of formats are imported by name, and run in their own process.
ENTRANCES = ("ingest.sync", "ingest.reading.child")
READERS = "ingest.formats."
# They only search a finished index.
OBSERVERS = frozenset({"ingest.anchors", "ingest.probe"})


def index_code() -> list[Path]:
    """The source files that make an index, in order of their module names: the entry points and what they import."""
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


@dataclass(frozen=True, slots=True)
class Indexed:
    """An index of the documents. `names` maps their names in the index to their ids in the dataset."""

    settings: Settings
    names: Mapping[str, str]


def index_documents(documents: tuple[SourceDocument, ...], settings: Settings, work: Path) -> Indexed:
    """Write the documents below `work` as Markdown files and ingest them.

    The names of the folders are hashes of their inputs (texts, settings, the program's code), so a later run can use
    what it finds there. Raises IngestError if ingesting fails.
    """
    files = {f"{number:06d}.md": document_text(document) for number, document in enumerate(documents)}
    place = work / _digest(json.dumps(files, ensure_ascii=False))
    folder = place / "documents"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        data = text.encode()
        if not (folder / name).is_file() or (folder / name).read_bytes() != data:
            (folder / name).write_bytes(data)
    made_by = json.dumps([embedder_identity(settings), shaping(settings), program_text()])
    own = settings.model_copy(update={"index": place / f"index-{_digest(made_by)}", "store": StoreName.EMBEDDED})
    ingest_folder(folder, own)
    return Indexed(own, {name: document.id for name, document in zip(files, documents, strict=True)})


def document_text(document: SourceDocument) -> str:
    """A document as Markdown. It never begins with a thematic break, which would be read as front matter."""
    title = " ".join(document.title.split())
    return f"# {title}\n\n{document.text}\n" if title else f"\n{document.text}\n"


def ingest_folder(folder: Path, settings: Settings) -> None:
    """Run `python -m ingest FOLDER` in its own process. Documents that cannot be read are skipped. Raises
    IngestError."""
    environment = {f"{ENVIRONMENT_PREFIX}{key.upper()}": str(value) for key, value in shaping(settings).items()}
    environment[f"{ENVIRONMENT_PREFIX}STORE"] = str(settings.store)
    environment[f"{ENVIRONMENT_PREFIX}MODELS"] = str(settings.models)
    done = subprocess.run(
        [sys.executable, "-m", "ingest", str(folder), "--index", str(settings.index), "--json"],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = {}
    if "generation" not in report:
        error = report.get("error", {})
        raise IngestError(
            f"the documents cannot be ingested: {error.get('message', f'exit code {done.returncode}')}",
            hint=error.get("hint", "what python -m ingest says stands above"),
        )


def shaping(settings: Settings) -> dict[str, Any]:
    """The settings that affect an index, also those that do not force a rebuild."""
    return index_settings(settings, *IndexEffect)


def program_text() -> str:
    """The SHA-256 of the code that makes an index, so that an index of another version is not reused."""
    digest = hashlib.sha256()
    for file in index_code():
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
