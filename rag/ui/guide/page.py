"""The page that opens if the chat cannot: what is missing, and the command that makes it."""

import threading
from typing import Any

import gradio as gr

from rag.errors import RagError
from rag.settings import Settings
from rag.ui.assets import read_asset
from rag.ui.elements import done
from rag.ui.guide.advice import guide_html
from rag.ui.guide.texts import TEXTS
from rag.ui.part import AT_ONCE
from rag.ui.texts import TEXTS as PAGE_TEXTS
from rag.ui.texts import Language, language_of


def build_guide(problem: RagError, settings: Settings, again: threading.Event, language: Language | None) -> gr.Blocks:
    """`again` is set when the reader wants to retry the start."""
    first = language or Language.ZH
    page = gr.Blocks(title=PAGE_TEXTS[first].title, analytics_enabled=False, fill_width=True)
    with page, gr.Column(elem_id="guide", elem_classes="room"):
        told = gr.HTML(guide_html(problem, settings, TEXTS[first]), elem_id="guide-told")
        button = gr.Button(TEXTS[first].again, variant="primary", elem_id="guide-again")
        waiting = gr.HTML(elem_id="guide-waiting", js_on_load=read_asset("guide/guide.js"))

        def greet(request: gr.Request) -> tuple[Any, ...]:
            texts = TEXTS[language or language_of(request.headers.get("accept-language", ""))]
            return guide_html(problem, settings, texts), gr.update(value=texts.again)

        def retry(request: gr.Request) -> str:
            again.set()
            texts = TEXTS[language or language_of(request.headers.get("accept-language", ""))]
            return done(texts.trying)

        page.load(greet, None, [told, button], **AT_ONCE)
        button.click(retry, None, waiting, **AT_ONCE)
    return page
