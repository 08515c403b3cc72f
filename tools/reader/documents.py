"""Markdown documents -> what questions about them are labelled by: the sections of each, in order, and their units."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.sync import sync
from rag.answer.quoted.paragraphs import quotable
from rag.answer.quoted.sections import in_sections
from rag.index import Index, open_index
from rag.settings import load_settings
from tools.hash_embedder import HashEmbedder


def write_documents(folders: list[Path], file: Path) -> int:
    """Cut all documents of the folders as an ingest does, and write a row for each, as JSON lines: `doc` (its name),
    `title`, and `sections`, each with its `path` of headings and its `units`. Gives their number.

    Raises IngestError where a folder cannot be read.
    """
    rows = [row for folder in folders for row in _rows(folder)]
    with file.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return len(rows)


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    embedder = HashEmbedder()  # what is cut does not depend on it
    with tempfile.TemporaryDirectory() as index:
        settings = load_settings(options={"index": index})
        sync(settings, lambda: embedder, [folder], identity=embedder.identity)
        yield from _documents(open_index(Path(index)))


def _documents(index: Index) -> Iterator[dict[str, Any]]:
    for document in index.storage.documents():
        numbers = dict.fromkeys(index.storage.document_numbers(document.name))
        passages = [p for p in index.storage.passages(list(numbers)) if p.translated_into is None]
        passages.sort(key=lambda passage: passage.start)
        sections = in_sections(document.title, [paragraph for p in passages for paragraph in quotable(p)])
        yield {
            "doc": document.name,
            "title": document.title,
            "sections": [{"path": s.path, "units": [{"text": text} for text in s.texts]} for s in sections],
        }
