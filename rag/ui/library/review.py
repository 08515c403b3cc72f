"""The review of the documents, folded away under their list: a button, how far it is, and what it found as HTML."""

from collections.abc import Iterable
from html import escape

import gradio as gr

from rag.answer.assistant import Assistant
from rag.review.ages import Age, DateField
from rag.review.report import Review
from rag.review.statements import Statement
from rag.review.time_bound import TimeBound
from rag.ui.library.review_run import ReviewRun, ReviewState
from rag.ui.library.review_texts import TEXTS
from rag.ui.part import AT_ONCE, Part, Updates
from rag.ui.problems import tell
from rag.ui.session.session import Session
from rag.ui.texts import TEXTS as PAGE_TEXTS
from rag.ui.texts import Language, Texts

# Seconds between two looks at a review under way.
LOOK_SECONDS = 0.5
# Of each list; the command prints all.
SHOWN = 100


def build_review(assistant: Assistant, session: gr.State, tab: gr.Tab, first: Language) -> Part:
    run, texts = ReviewRun(assistant), TEXTS[first]
    with gr.Column(elem_classes="room"), gr.Accordion(texts.label, open=False, elem_id="library-review") as fold:
        hint = gr.HTML(_hint(texts))
        start = gr.Button(texts.start, size="sm", elem_id="review-start")
        report = gr.HTML(elem_id="review-report")
        clock = gr.Timer(LOOK_SECONDS, active=False)

    def look(state: Session) -> Updates:
        now = run.state()
        html = review_report(now, TEXTS[state.language], PAGE_TEXTS[state.language], outdated=run.is_outdated())
        return html, gr.Timer(active=now.under_way)

    def begin(state: Session) -> Updates:
        run.start()
        return look(state)

    def speak(state: Session) -> Updates:
        words = TEXTS[state.language]
        return gr.update(label=words.label), _hint(words), gr.update(value=words.start), *look(state)

    start.click(begin, session, [report, clock], **AT_ONCE)
    clock.tick(look, session, [report, clock], **AT_ONCE)
    tab.select(look, session, [report, clock], **AT_ONCE)
    return Part((fold, hint, start, report, clock), speak)


def review_report(state: ReviewState, texts: Texts, page: Texts, *, outdated: bool = False) -> str:
    """Of a review under way its progress; else what the last one found, if there was one."""
    if state.under_way:
        line = texts.documents if state.total else texts.waiting
        told = escape(line.format(done=f"{state.done:,}", total=f"{state.total:,}"))
        values = f' value="{state.done}" max="{state.total}"' if state.total else ""
        return f'<p role="status">{told}</p><progress{values}>{told}</progress>'
    if state.problem is not None:
        told = tell(state.problem, page)
        return f'<p class="problem" role="alert">{escape(texts.failed.format(problem=told))}</p>'
    return _found(state.found, texts, outdated=outdated) if state.found else ""


def _hint(texts: Texts) -> str:
    return f'<p class="hint">{escape(texts.hint)}</p>'


def _found(found: Review, texts: Texts, *, outdated: bool) -> str:
    summary = texts.summary.format(documents=f"{len(found.ages):,}", statements=f"{found.statements:,}")
    return (
        (f'<p class="problem" role="alert">{escape(texts.outdated)}</p>' if outdated else "")
        + f'<p role="status">{escape(summary)}</p>'
        + _list(
            texts.time_bound, (_time_bound(each) for each in found.time_bound[:SHOWN]), len(found.time_bound), texts
        )
        + _list(texts.ages, (_age(each, texts) for each in found.ages[:SHOWN]), len(found.ages), texts)
    )


def _quote(place: Statement) -> str:
    path = " › ".join((place.document, *place.section))
    return f'<blockquote>{escape(place.quote)}</blockquote><p class="hint">{escape(path)}</p>'


def _time_bound(found: TimeBound) -> str:
    return f"<strong>{escape(' · '.join(found.words))}</strong>{_quote(found.statement)}"


def _age(age: Age, texts: Texts) -> str:
    if age.dated is None:
        dated = texts.undated
    else:
        dated = f"{texts.checked if age.field is DateField.CHECKED else texts.updated} {age.dated.isoformat()}"
    return f'{escape(age.title)} <span class="hint">{escape(age.document)} · {escape(dated)}</span>'


def _list(heading: str, items: Iterable[str], count: int, texts: Texts) -> str:
    """`items` are HTML."""
    rest = f'<p class="hint">{escape(texts.more.format(count=f"{count - SHOWN:,}"))}</p>' if count > SHOWN else ""
    return (
        f"<details><summary>{escape(heading)} ({count:,})</summary>"
        f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>{rest}</details>"
    )
