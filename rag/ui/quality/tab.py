"""The quality room: the latest evaluation results, and new evaluations from the page."""

from pathlib import Path

import gradio as gr

from rag.answer.assistant import Assistant
from rag.ui.elements import done, problem
from rag.ui.problems import tell
from rag.ui.quality.results import own, shipped
from rag.ui.quality.runner import EvaluationKind, Progress, Runner
from rag.ui.session.part import AT_ONCE, PagePart, Updates
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import QUALITY_TEXTS, TEXTS, Language, Texts

HTML = macros_of("quality/tab.html")
LOOK_SECONDS = 1.0
COUNTS = (10, 320)


def build_quality(
    assistant: Assistant, results: Path, runner: Runner, session: gr.State, tab: gr.Tab, first: Language
) -> PagePart:
    """Build the quality room. `results` is the folder of the shipped results; `runner` measures on demand."""
    texts = QUALITY_TEXTS[first]
    has_gold = runner.gold is not None
    with gr.Column(elem_classes="room"):
        heading = gr.HTML(_heading(texts, has_gold=has_gold))
        with gr.Row(visible=has_gold):
            kind = gr.Radio(
                _kinds(texts), value=str(EvaluationKind.RETRIEVAL), label=texts.kind, elem_id="quality-kind"
            )
            count = gr.Slider(
                *COUNTS, value=50, step=10, label=texts.count, info=texts.count_hint, elem_id="quality-count"
            )
        with gr.Row(visible=has_gold):
            start = gr.Button(texts.start, variant="primary", scale=0, min_width=110, elem_id="quality-start")
            stop = gr.Button(texts.stop, scale=0, min_width=110, elem_id="quality-stop", interactive=False)
        progress = gr.HTML(elem_id="quality-progress")
        measured = gr.HTML(elem_id="quality-own")
        known = gr.HTML(elem_id="quality-shipped")
    clock = gr.Timer(LOOK_SECONDS, active=False)

    def look(state: Session) -> Updates:
        texts, now = QUALITY_TEXTS[state.language], runner.progress()
        return {
            progress: _progress(now, texts, TEXTS[state.language]),
            measured: own(runner.measured(), texts, state.language),
            start: gr.update(interactive=not now.under_way),
            stop: gr.update(interactive=now.under_way),
            clock: gr.Timer(active=now.under_way),
        }

    def begin(state: Session, kind: str, count: float) -> Updates:
        runner.start(assistant.index, EvaluationKind(kind), int(count))
        return look(state)

    def halt(state: Session) -> Updates:
        runner.stop()
        return look(state)

    def opened(state: Session) -> Updates:
        return look(state) | {known: shipped(results, QUALITY_TEXTS[state.language], state.language)}

    def speak(state: Session) -> Updates:
        texts = QUALITY_TEXTS[state.language]
        now = runner.progress().under_way
        return opened(state) | {
            tab: gr.update(label=texts.tab),
            heading: _heading(texts, has_gold=has_gold),
            kind: gr.update(label=texts.kind, choices=_kinds(texts)),
            count: gr.update(label=texts.count, info=texts.count_hint),
            start: gr.update(value=texts.start, interactive=not now),
            stop: gr.update(value=texts.stop, interactive=now),
        }

    seen = [progress, measured, start, stop, clock]
    start.click(begin, [session, kind, count], seen, **AT_ONCE)
    stop.click(halt, session, seen, **AT_ONCE)
    clock.tick(look, session, seen, **AT_ONCE)
    tab.select(opened, session, [known, *seen], **AT_ONCE)
    return PagePart((tab, heading, kind, count, known, *seen), speak)


def _heading(texts: Texts, *, has_gold: bool) -> str:
    return HTML("heading", has_gold=has_gold, texts=texts)


def _kinds(texts: Texts) -> list[tuple[str, str]]:
    return [(getattr(texts, f"kind_{kind}"), str(kind)) for kind in EvaluationKind]


def _progress(now: Progress, texts: Texts, page: Texts) -> str:
    if now.under_way:
        notice = (texts.running if now.done else texts.loading).format(done=now.done, total=now.total)
        return HTML("progress", now=now, notice=notice)
    if now.problem is not None:
        return problem(texts.failed.format(problem=tell(now.problem, page)))
    if now.stopped:
        return done(texts.stopped)
    return done(texts.done) if now.has_result else ""
