"""The review of the documents, folded away under their list: a button, its progress, and its findings as HTML."""

import gradio as gr

from rag.answer.assistant import Assistant
from rag.ui.elements import hint, problem
from rag.ui.library.review_run import ReviewRun, ReviewState
from rag.ui.library.review_texts import TEXTS
from rag.ui.part import AT_ONCE, PagePart, Updates
from rag.ui.problems import tell
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import TEXTS as PAGE_TEXTS
from rag.ui.texts import Language, Texts

HTML = macros_of("library/review.html")
# Seconds between checks of a review under way.
LOOK_SECONDS = 0.5
# Items shown of each list; the command prints all.
SHOWN = 100


def build_review(assistant: Assistant, session: gr.State, tab: gr.Tab, first: Language) -> PagePart:
    run, texts = ReviewRun(assistant), TEXTS[first]
    with gr.Column(elem_classes="room"), gr.Accordion(texts.label, open=False, elem_id="library-review") as fold:
        about = gr.HTML(hint(texts.hint))
        start = gr.Button(texts.start, size="sm", elem_id="review-start")
        report = gr.HTML(elem_id="review-report")
        clock = gr.Timer(LOOK_SECONDS, active=False)

    def look(state: Session) -> Updates:
        now = run.state()
        html = review_report(now, TEXTS[state.language], PAGE_TEXTS[state.language], outdated=run.is_outdated())
        return {report: html, clock: gr.Timer(active=now.under_way)}

    def begin(state: Session) -> Updates:
        run.start()
        return look(state)

    def speak(state: Session) -> Updates:
        words = TEXTS[state.language]
        return look(state) | {
            fold: gr.update(label=words.label),
            about: hint(words.hint),
            start: gr.update(value=words.start),
        }

    start.click(begin, session, [report, clock], **AT_ONCE)
    clock.tick(look, session, [report, clock], **AT_ONCE)
    tab.select(look, session, [report, clock], **AT_ONCE)
    return PagePart((fold, about, start, report, clock), speak)


def review_report(state: ReviewState, texts: Texts, page: Texts, *, outdated: bool = False) -> str:
    """The progress of a review under way; else the findings of the last one, if there was one."""
    if state.under_way:
        line = texts.documents if state.total else texts.waiting
        return HTML("progress", told=line.format(done=f"{state.done:,}", total=f"{state.total:,}"), state=state)
    if state.problem is not None:
        return problem(texts.failed.format(problem=tell(state.problem, page)))
    return HTML("found", found=state.found, outdated=outdated, shown=SHOWN, texts=texts) if state.found else ""
