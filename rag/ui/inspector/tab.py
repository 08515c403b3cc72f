"""The inspector: how any question is searched, ranked, cut and judged, without being answered."""

from html import escape

import gradio as gr

from rag.assistant import Assistant
from rag.errors import RagError
from rag.inspection import inspect
from rag.types import Turn
from rag.ui.inspector.render import render
from rag.ui.inspector.texts import TEXTS, InspectorTexts
from rag.ui.messages import question_problem
from rag.ui.part import Part, Updates
from rag.ui.problems import tell
from rag.ui.session import Session
from rag.ui.texts import TEXTS as PAGE_TEXTS
from rag.ui.texts import Language

# Questions inspected at the same time.
AT_ONCE = 2


def build_inspector(assistant: Assistant, session: gr.State, tab: gr.Tab, first: Language) -> Part:
    texts = TEXTS[first]
    with gr.Column(elem_classes="room"):
        heading = gr.HTML(_heading(texts))
        question = gr.Textbox(label=texts.question, elem_id="inspector-question", lines=1, max_lines=6)
        earlier = gr.Textbox(
            label=texts.earlier, placeholder=texts.earlier_hint, elem_id="inspector-earlier", lines=1, max_lines=4
        )
        with gr.Row():
            go = gr.Button(texts.inspect, variant="primary", elem_id="inspector-go", scale=0, min_width=120)
        result = gr.HTML(elem_id="inspector-result")

    def look(state: Session, question: str, earlier: str) -> str:
        texts, page = TEXTS[state.language], PAGE_TEXTS[state.language]
        if (problem := question_problem(question or "", page)) is not None:
            return _problem(problem)
        try:
            history = [Turn("user", earlier.strip())] if earlier and earlier.strip() else []
            return render(inspect(assistant.choosing(state.preferences), question or "", history), texts)
        except RagError as error:
            return _problem(texts.failed.format(problem=tell(error, page)))

    def speak(state: Session) -> Updates:
        texts = TEXTS[state.language]
        return (
            gr.update(label=texts.tab),
            _heading(texts),
            gr.update(label=texts.question),
            gr.update(label=texts.earlier, placeholder=texts.earlier_hint),
            gr.update(value=texts.inspect),
        )

    gr.on(
        [go.click, question.submit, earlier.submit], look, [session, question, earlier], result,
        concurrency_limit=AT_ONCE, concurrency_id="inspections", show_progress="minimal", api_visibility="private",
    )  # fmt: skip
    return Part((tab, heading, question, earlier, go), speak)


def _problem(told: str) -> str:
    return f'<p class="problem" role="alert">{escape(told)}</p>'


def _heading(texts: InspectorTexts) -> str:
    return f'<h2>{escape(texts.heading)}</h2><p class="hint">{escape(texts.intro)}</p>'
