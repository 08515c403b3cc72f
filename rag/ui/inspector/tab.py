"""The inspector: how any question is searched, ranked, cut and judged, without being answered."""

import json
from base64 import b64encode

import gradio as gr

from rag.answer.assistant import Assistant
from rag.answer.inspection import InspectedJudgement, Inspection, inspection_of
from rag.errors import RagError
from rag.settings import ChatModelName
from rag.types import Role, Turn
from rag.ui.assets import read_asset
from rag.ui.chat.messages import question_problem
from rag.ui.elements import figures, introduction, problem
from rag.ui.problems import tell
from rag.ui.session.part import AT_ONCE, PagePart, Updates, in_turn
from rag.ui.session.session import Exchange, Session
from rag.ui.templates import macros_of
from rag.ui.texts import INSPECTOR_TEXTS, TEXTS, Language, Texts

HTML = macros_of("inspector/tab.html")


def render(inspection: Inspection, texts: Texts) -> str:
    times = [f"{value:,.1f} ms" for value in inspection.milliseconds.values()]
    text = json.dumps(inspection.as_dict(), ensure_ascii=False, indent=1)
    return HTML(
        "inspection",
        inspection=inspection,
        download="data:application/json;base64," + b64encode(text.encode()).decode(),
        judged=_judged(inspection.judgement, texts),
        features=_features(inspection.judgement, texts),
        chosen=texts.quoted if inspection.llm == ChatModelName.EXTRACTIVE else texts.given,
        times=figures(
            [[getattr(texts, f"step_{step}") for step in inspection.milliseconds], times],
            [list(inspection.milliseconds), times],
        ),
        texts=texts,
    )


def _judged(judgement: InspectedJudgement, texts: Texts) -> list[str]:
    reason = getattr(texts, f"reason_{judgement.reason}", judgement.reason)
    answered = texts.nearest if judgement.nearest else texts.answered
    lines = [texts.refused.format(reason=reason) if judgement.refused else answered]
    if judgement.log_odds is None or judgement.probability is None:
        lines.append(texts.no_calibration)
    else:
        lines.append(
            texts.odds.format(
                odds=judgement.log_odds, threshold=judgement.threshold, probability=f"{judgement.probability:.0%}"
            )
        )
    if judgement.names:
        lines.append(texts.names.format(names=", ".join(judgement.names)))
    if judgement.missing:
        lines.append(texts.missing.format(names=", ".join(judgement.missing)))
    if judgement.unheard:
        lines.append(texts.unheard)
    if judgement.reading is not None:
        lines.append(texts.reading.format(odds=judgement.reading))
    return lines


def _features(judgement: InspectedJudgement, texts: Texts) -> str:
    if not judgement.features:
        return ""
    values = [f"{value:.3f}" for value in judgement.features.values()]
    return figures(
        [[getattr(texts, f"feature_{name}") for name in judgement.features], values],
        [list(judgement.features), values],
    )


# Questions inspected at the same time.
INSPECTIONS = 2
# Characters of a question in the conversation's list.
CHARACTERS = 80
TYPED = ""


def build_inspector(assistant: Assistant, session: gr.State, tab: gr.Tab, first: Language) -> PagePart:
    texts = INSPECTOR_TEXTS[first]
    with gr.Column(elem_classes="room"):
        heading = gr.HTML(introduction(texts.heading, texts.intro))
        asked = gr.Dropdown(
            [(texts.typed, TYPED)], value=TYPED, label=texts.asked, info=texts.asked_hint, elem_id="inspector-asked"
        )
        question = gr.Textbox(label=texts.question, elem_id="inspector-question", lines=1, max_lines=6)
        earlier = gr.Textbox(
            label=texts.earlier, placeholder=texts.earlier_hint, elem_id="inspector-earlier", lines=1, max_lines=4
        )
        with gr.Row():
            go = gr.Button(texts.inspect, variant="primary", elem_id="inspector-go", scale=0, min_width=120)
        result = gr.HTML(elem_id="inspector-result")
        views = gr.HTML(_views(texts), elem_id="inspector-views", js_on_load=read_asset("inspector/views.js"))

    def opened(state: Session) -> Updates:
        """The conversation's questions so far, newest first."""
        return {asked: gr.update(choices=_asked(state), value=TYPED), earlier: gr.update(visible=True)}

    def choose(state: Session, number: str) -> Updates:
        exchange = _exchange(state, number)
        if exchange is None:
            return {earlier: gr.update(visible=True)}
        return {
            question: exchange.question,
            earlier: gr.update(visible=False),
            result: look(state, number, exchange.question, ""),
        }

    def look(state: Session, number: str, question: str, earlier: str) -> str:
        texts, page = INSPECTOR_TEXTS[state.language], TEXTS[state.language]
        if (notice := question_problem(question or "", page)) is not None:
            return problem(notice)
        try:
            exchange = _exchange(state, number)
            history = [Turn(Role.USER, earlier.strip())] if earlier and earlier.strip() else []
            if exchange is not None:
                history = state.history(exchange.parent)
            trace = assistant.choosing(state.choices).prepare(question or "", history)
            return render(inspection_of(trace), texts)
        except RagError as error:
            return problem(texts.failed.format(problem=tell(error, page)))

    def speak(state: Session) -> Updates:
        texts = INSPECTOR_TEXTS[state.language]
        return {
            tab: gr.update(label=texts.tab),
            heading: introduction(texts.heading, texts.intro),
            asked: gr.update(label=texts.asked, info=texts.asked_hint, choices=_asked(state)),
            question: gr.update(label=texts.question),
            earlier: gr.update(label=texts.earlier, placeholder=texts.earlier_hint),
            go: gr.update(value=texts.inspect),
            views: _views(texts),
        }

    slowly = in_turn("inspections", INSPECTIONS)
    tab.select(opened, session, [asked, earlier], **AT_ONCE)
    asked.input(choose, [session, asked], [question, earlier, result], **slowly)
    gr.on([go.click, question.submit, earlier.submit], look, [session, asked, question, earlier], result, **slowly)
    return PagePart((tab, heading, asked, question, earlier, go, views), speak)


def _asked(state: Session) -> list[tuple[str, str]]:
    questions = [(exchange.question[:CHARACTERS], str(exchange.number)) for exchange in reversed(state.exchanges)]
    return [(INSPECTOR_TEXTS[state.language].typed, TYPED), *questions]


def _exchange(state: Session, number: str) -> Exchange | None:
    return state.find(int(number)) if number else None


def _views(texts: Texts) -> str:
    """Additional views of an answer's sources; see views.js."""
    return HTML("views", texts=texts)
