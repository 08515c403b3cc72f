"""The review of the documents, folded away under their list: a button, its progress, and its findings as HTML."""

import logging
import threading
from dataclasses import dataclass, replace

import gradio as gr

from rag.answer.assistant import Assistant
from rag.errors import RagError
from rag.review.report import Review, review
from rag.ui.elements import hint, problem
from rag.ui.problems import tell
from rag.ui.session.part import AT_ONCE, PagePart, Updates
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import REVIEW_TEXTS, TEXTS, Language, Texts

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReviewState:
    """`manifest_sha256` identifies the generation of `found`."""

    under_way: bool = False
    done: int = 0
    total: int = 0
    review: Review | None = None
    manifest_sha256: str = ""
    problem: RagError | None = None


class ReviewRun:
    """Safe to use from several threads."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._lock = threading.Lock()
        self._state = ReviewState()

    def state(self) -> ReviewState:
        with self._lock:
            return self._state

    def is_outdated(self) -> bool:
        state = self.state()
        return state.review is not None and state.manifest_sha256 != self._assistant.index.manifest_sha256

    def start(self) -> None:
        """Begin, unless a review is under way."""
        with self._lock:
            if self._state.under_way:
                return
            self._state = replace(self._state, under_way=True, done=0, total=0, problem=None)
        threading.Thread(target=self._run, name="review", daemon=True).start()

    def _run(self) -> None:
        problem: RagError | None = None
        try:
            index = self._assistant.index
            found = review(index, self._tell)
            self._set(review=found, manifest_sha256=index.manifest_sha256)
        except RagError as error:
            problem = error
        except Exception as error:  # whatever it is, another review can be started after it
            logger.exception("the review broke")
            problem = RagError(f"{type(error).__name__}: {error}")
        finally:
            self._set(under_way=False, problem=problem)

    def _tell(self, done: int, total: int) -> None:
        self._set(done=done, total=total)

    def _set(self, **changes: object) -> None:
        with self._lock:
            self._state = replace(self._state, **changes)  # type: ignore[arg-type]


HTML = macros_of("library/review.html")
# Seconds between checks of a review under way.
LOOK_SECONDS = 0.5
# Items shown of each list; the command prints all.
SHOWN = 100


def build_review(assistant: Assistant, session: gr.State, tab: gr.Tab, first: Language) -> PagePart:
    run, texts = ReviewRun(assistant), REVIEW_TEXTS[first]
    with gr.Column(elem_classes="room"), gr.Accordion(texts.label, open=False, elem_id="library-review") as fold:
        about = gr.HTML(hint(texts.hint))
        start = gr.Button(texts.start, size="sm", elem_id="review-start")
        report = gr.HTML(elem_id="review-report")
        clock = gr.Timer(LOOK_SECONDS, active=False)

    def look(state: Session) -> Updates:
        now = run.state()
        html = review_report(now, REVIEW_TEXTS[state.language], TEXTS[state.language], outdated=run.is_outdated())
        return {report: html, clock: gr.Timer(active=now.under_way)}

    def begin(state: Session) -> Updates:
        run.start()
        return look(state)

    def speak(state: Session) -> Updates:
        words = REVIEW_TEXTS[state.language]
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
        return HTML("progress", notice=line.format(done=f"{state.done:,}", total=f"{state.total:,}"), state=state)
    if state.problem is not None:
        return problem(texts.failed.format(problem=tell(state.problem, page)))
    return HTML("found", found=state.review, outdated=outdated, shown=SHOWN, texts=texts) if state.review else ""
