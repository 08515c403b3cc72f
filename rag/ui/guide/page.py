"""The page that opens if the chat cannot: what is missing, and the command that makes it."""

import threading
from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.errors import (
    ChatModelError,
    IndexCorruptError,
    IndexLockedError,
    IndexMismatchError,
    IndexMissingError,
    IngestError,
    ModelError,
    RagError,
    as_called,
)
from rag.settings import Settings
from rag.ui.assets import read_asset
from rag.ui.elements import done
from rag.ui.session.part import AT_ONCE
from rag.ui.templates import macros_of
from rag.ui.texts import GUIDE_TEXTS, TEXTS, Language, Texts, language_of

HTML = macros_of("guide/page.html")

REBUILD = "python -m ingest --rebuild"


@dataclass(frozen=True, slots=True)
class Advice:
    """`what` names the field of Texts that says what is missing; `command` makes it, if a single one does."""

    what: str
    command: str


def advise(problem: RagError, settings: Settings) -> Advice:
    match problem:
        case ModelError():
            return Advice("embedder_missing", f"python -m rag models fetch {settings.embedder}")
        case IndexMissingError():
            return Advice("index_missing", "python -m ingest")
        case IndexCorruptError():
            return Advice("index_damaged", REBUILD)
        case IndexMismatchError():
            return Advice("index_mismatch", REBUILD)
        case IndexLockedError():
            return Advice("index_locked", "")
        case IngestError():
            return Advice("ingest_failed", "python -m ingest")
        case ChatModelError():
            return Advice("model_missing", "make llm")
        case _:
            return Advice("other", "")


def guide_html(problem: RagError, settings: Settings, texts: Texts) -> str:
    advice = advise(problem, settings)
    place = "" if settings.index == Settings.model_fields["index"].default else f" --index {settings.index}"
    command = advice.command + (place if advice.command.startswith("python -m ingest") else "")
    notice = getattr(texts, advice.what)
    return HTML("advice", notice=notice, command=as_called(command) if command else "", problem=problem, texts=texts)


def build_guide(problem: RagError, settings: Settings, again: threading.Event, language: Language | None) -> gr.Blocks:
    """`again` is set when the reader wants to retry the start."""
    first = language or Language.ZH
    page = gr.Blocks(title=TEXTS[first].title, analytics_enabled=False, fill_width=True)
    with page, gr.Column(elem_id="guide", elem_classes="room"):
        content = gr.HTML(guide_html(problem, settings, GUIDE_TEXTS[first]), elem_id="guide-told")
        button = gr.Button(GUIDE_TEXTS[first].again, variant="primary", elem_id="guide-again")
        waiting = gr.HTML(elem_id="guide-waiting", js_on_load=read_asset("guide/guide.js"))

        def greet(request: gr.Request) -> tuple[Any, ...]:
            texts = GUIDE_TEXTS[language or language_of(request.headers.get("accept-language", ""))]
            return guide_html(problem, settings, texts), gr.update(value=texts.again)

        def retry(request: gr.Request) -> str:
            again.set()
            texts = GUIDE_TEXTS[language or language_of(request.headers.get("accept-language", ""))]
            return done(texts.trying)

        page.load(greet, None, [content, button], **AT_ONCE)
        button.click(retry, None, waiting, **AT_ONCE)
    return page
