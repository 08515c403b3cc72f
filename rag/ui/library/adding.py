"""Turns files that a reader adds, in the library or the chat, into documents."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import gradio as gr

from ingest.documents import digest
from ingest.library import Library
from rag.answer.assistant import Assistant
from rag.errors import RagError
from rag.language.language import Language
from rag.ui.library.report import why_not
from rag.ui.texts import LIBRARY_TEXTS, TEXTS


def add_files(
    paths: Sequence[str], assistant: Assistant, library: Library, language: Language, *, replace: bool = False
) -> tuple[str, ...]:
    """Put files into the library, start syncing the index with it, and tell the reader the outcome of each. Returns
    their names there; deletes the files themselves."""
    texts = LIBRARY_TEXTS[language]
    accepted: list[str] = []
    saved = 0
    known = {entry.sha256: entry.name for entry in assistant.index.storage.entries()}
    for path in map(Path, paths):
        try:
            already, content = library.holds(path.name, path), digest(path)
            name = library.add(path.name, path, replace=replace)
            accepted.append(name)
            if already:
                gr.Info(escape(texts.already.format(name=name)), title=texts.heading)
                continue
            saved += 1
            if (other := known.setdefault(content, name)) != name:
                gr.Info(escape(texts.duplicate.format(name=name, other=other)), title=texts.heading)
        except (RagError, OSError) as error:
            why = why_not(path, error, library, texts, TEXTS[language])
            gr.Warning(escape(why), title=texts.heading)
        finally:
            path.unlink(missing_ok=True)  # the server would give it to anyone who knows its address
    if accepted:
        library.sync()
    if saved:
        gr.Info(escape(texts.added.format(count=saved)), title=texts.heading)
    return tuple(accepted)
