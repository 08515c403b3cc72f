"""The page of the first start: the progress of fetching and the first ingest. It gives way to the chat by itself."""

from dataclasses import dataclass
from enum import StrEnum

import gradio as gr

from rag.ui.assets import read_asset
from rag.ui.session.part import AT_ONCE
from rag.ui.templates import macros_of
from rag.ui.texts import GUIDE_TEXTS, TEXTS, Language, Texts, language_of

HTML = macros_of("guide/preparing.html")
LOOK_SECONDS = 1.0
MEGABYTE = 1_000_000


class PreparationStep(StrEnum):
    """The current step; the texts have a sentence for each."""

    START = "start"
    FETCH = "fetch"
    LOAD = "load"
    DOCUMENTS = "documents"
    PASSAGES = "passages"


@dataclass(slots=True)
class Preparation:
    """Its progress; written by the working thread, read by the page."""

    step: PreparationStep = PreparationStep.START
    done: int = 0
    total: int = 0

    def tell(self, step: PreparationStep, done: int = 0, total: int = 0) -> None:
        self.step, self.done, self.total = step, done, total


def build_preparing(preparation: Preparation, language: Language | None) -> gr.Blocks:
    first = language or Language.ZH
    page = gr.Blocks(title=TEXTS[first].title, analytics_enabled=False, fill_width=True)
    with page, gr.Column(elem_id="guide", elem_classes="room"):
        content = gr.HTML(preparing_html(preparation, GUIDE_TEXTS[first]), elem_id="preparing")
        gr.HTML(js_on_load=read_asset("guide/preparing.js"))

        def look(request: gr.Request) -> str:
            texts = GUIDE_TEXTS[language or language_of(request.headers.get("accept-language", ""))]
            return preparing_html(preparation, texts)

        page.load(look, None, content, **AT_ONCE)
        gr.Timer(LOOK_SECONDS).tick(look, None, content, **AT_ONCE)
    return page


def preparing_html(preparation: Preparation, texts: Texts) -> str:
    unit = MEGABYTE if preparation.step is PreparationStep.FETCH else 1
    done, total = preparation.done // unit, preparation.total // unit
    said = str(getattr(texts, f"stage_{preparation.step}")).format(done=f"{done:,}", total=f"{total:,}")
    return HTML("preparing", said=said, done=done, total=total, texts=texts)
