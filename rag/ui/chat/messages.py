"""Exchanges -> the messages and the panel that the page shows, in the reader's language."""

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import TypedDict

from rag.answer.assistant import MAX_QUESTION_CHARACTERS
from rag.errors import RagError, UsageError
from rag.language.language import has_chinese
from rag.settings import ChatModelName
from rag.types import Answer, Refusal, RefusalReason, Step
from rag.ui.chat.actions import ALONE, IN_TALK
from rag.ui.chat.sources import render_claims, render_excerpts, render_nearby, render_panel
from rag.ui.markdown import join_chunks, join_markers, mark_answer, plain, render, without_private
from rag.ui.problems import SENTENCES, sentence_of, tell_fallback
from rag.ui.readable import words_of
from rag.ui.session.session import Exchange, Session, State
from rag.ui.texts import TEXTS, Language, Texts

# Words of a quote that is English: code and formulas have fewer.
PROSE = re.compile(r"(?:\b[A-Za-z]{2,}\b[ ,]+){4}")

# Answers of all readers whose text is kept: each is shown again with whatever is said after it.
ANSWERS_KEPT = 500
# Of what a question follows the beginning is told.
SUBJECT_CHARACTERS = 40
# Of a longer quote the card of its marker tells the beginning.
QUOTE_CHARACTERS = 280


class Message(TypedDict):
    role: str
    content: str


def messages(session: Session, answerers: Sequence[tuple[str, str]] = ()) -> list[Message]:
    """Every exchange of the branch that is shown as two messages. Repeated questions stay apart: links carry the number
    of their exchange. `answerers` are the names, and what they are called, of who else could answer.

    What can be done with a message stands below its text in one `<div class="after">`, where the scripts find it. A
    class `do-ACTION-NUMBER` says what a button does.
    """
    texts = TEXTS[session.language]
    result: list[Message] = []
    exchanges = session.exchanges
    style = f" of-{session.conversation or 0}"  # tells the scripts which conversation has come into the page
    for exchange in exchanges:
        asked = render(without_private(exchange.question), turn=0, label="")
        tools = _button("edit", exchange.number, texts.edit) + _branches(session, exchange, texts)
        result.append(Message(role="user", content=f"{asked}\n\n{_after(tools, style=style)}"))
        last = exchange is exchanges[-1]
        result.append(Message(role="assistant", content=_reply(exchange, texts, answerers, last=last)))
    return result


def panel(session: Session) -> str:
    """The sources of the exchange that is shown."""
    texts = TEXTS[session.language]
    exchange = session.find(session.shown)
    if exchange is None:
        hint = f'<p class="hint">{escape(texts.sources_empty)}</p>'
        return render_panel(hint, texts, turn=0, question="", **_counts(session))
    if exchange.answer is not None and exchange.answer.refusal is None:
        body = render_claims(exchange.answer.claims, texts, turn=exchange.number)
        body += render_excerpts(exchange.excerpts, texts, turn=exchange.number)
    elif exchange.answer is not None:
        body = render_nearby(exchange.nearby, texts.sources_nearest)
    elif exchange.nearby:
        body = render_nearby(exchange.nearby, texts.sources_found if session.busy else texts.sources_so_far)
    else:
        body = f'<p class="hint">{escape(texts.searching if session.busy else texts.sources_none)}</p>'
    return render_panel(
        body,
        texts,
        turn=exchange.number,
        question=exchange.question,
        place=session.place_of(exchange.number),
        selected=session.selected,
        conversation=session.conversation or 0,
        **_counts(session),
    )


def _counts(session: Session) -> dict[str, int]:
    """What tells the browser's scripts where the session stands."""
    return {"begun": session.begun, "done": session.done, "missing": session.missing}


def problem_text(problem: Exception, texts: Texts) -> str:
    """What went wrong and what to do, in the reader's language. HTML."""
    if isinstance(problem, UsageError):
        return escape(texts.question_empty)
    if not isinstance(problem, RagError) or problem.code not in SENTENCES:
        return escape(texts.failed)
    sentence, command = sentence_of(problem, texts)
    return escape(sentence).format(command=f"<code>{escape(command)}</code>")


def question_problem(question: str, texts: Texts) -> str | None:
    """Why a question cannot be asked; None where it can."""
    if not any(character.isprintable() and not character.isspace() for character in question):
        return texts.question_empty
    if len(question.strip()) > MAX_QUESTION_CHARACTERS:
        return texts.question_too_long.format(count=f"{len(question.strip()):,}", limit=f"{MAX_QUESTION_CHARACTERS:,}")
    return None


def _reply(exchange: Exchange, texts: Texts, answerers: Sequence[tuple[str, str]], *, last: bool) -> str:
    answer = exchange.answer
    note = _note(texts.imported) if exchange.is_imported else ""
    note += _read_as(exchange, texts)
    note += _note(texts.early) if exchange.is_early else ""
    if answer is not None:
        tools = _tools(exchange, texts, answerers)
        if answer.refusal is not None:
            below = _agent_steps(answer, texts)
            return f"{_refusal(exchange.number, answer.refusal, texts)}\n\n{_after(tools, before=note, below=below)}"
        text = _text(answer, exchange.number, texts.source_number, texts.claim_unsupported)
        note += "" if all(claim.supported for claim in answer.claims) else _note(texts.unsupported)
        if answer.left_out:
            note += _note(texts.left_out.format(count=answer.left_out))
        if answer.citations:
            link = escape(texts.sources_link.format(count=len(answer.citations)))
            tools += _by(exchange, answer, texts)
            tools += f'<a class="all" href="#cite-{exchange.number}-0">{link}</a>'
        below = _agent_steps(answer, texts) + (_follow_ups(exchange, texts) if last else "") + _cited(answer, texts)
        return f"{_lead(answer, texts)}{text}\n\n{_after(tools, before=note, below=below)}"
    text = render(join_chunks(exchange.chunks), turn=exchange.number, label=texts.source_number)
    match exchange.state:
        case State.STOPPED:
            note += _note(texts.stopped if exchange.said else texts.stopped_early)
            after = _after(_retry(exchange.number, texts, answerers), before=note)
        case State.FAILED:
            problem = problem_text(exchange.problem or RuntimeError(), texts)
            notice = f'<div class="notice problem"><p>{problem}</p><p>{escape(texts.try_again)}</p></div>'
            after = _after(_retry(exchange.number, texts, answerers), before=notice)
        case _:
            after = f'<div class="after">{_steps(exchange, texts)}</div>'
    return f"{text}\n\n{after}".strip()


@lru_cache(ANSWERS_KEPT)
def _text(answer: Answer, turn: int, label: str, unsupported: str) -> str:
    quotes = {citation.marker: words_of(citation.quote, QUOTE_CHARACTERS) for citation in answer.citations}
    documents = {citation.marker: citation.document for citation in answer.citations}
    marked = join_markers(mark_answer(answer), documents)
    return render(marked, turn=turn, label=label, quotes=quotes, unsupported=unsupported)


def _lead(answer: Answer, texts: Texts) -> str:
    """What a reader must know before the quotes: that they stand in for a model, or are in another language."""
    notes = [tell_fallback(answer.fallback, texts)] if answer.fallback else []
    if answer.llm == ChatModelName.EXTRACTIVE:
        asked = Language.ZH if has_chinese(answer.question) else Language.EN
        quoted = {_language_of(citation.quote) for citation in answer.citations} - {None}
        if quoted and asked not in quoted:
            notes.append(TEXTS[asked].foreign)
    return f'<div class="lead">{"".join(map(_note, notes))}</div>\n\n' if notes else ""


def _language_of(quote: str) -> Language | None:
    if has_chinese(quote):
        return Language.ZH
    # A sentence stands on one line; code and tables speak no language.
    return Language.EN if "\n" not in quote.strip() and PROSE.search(quote) else None


def _read_as(exchange: Exchange, texts: Texts) -> str:
    """How a question after others was understood, and a button for the other way."""
    read = exchange.answer.read_as if exchange.answer is not None else None
    if read is None or exchange.parent is None:
        return ""
    told = texts.read_after.format(subject=read.follows[:SUBJECT_CHARACTERS]) if read.follows else texts.read_alone
    way, name = (ALONE, texts.ask_alone) if read.follows else (IN_TALK, texts.ask_in_talk)
    button = f'<button type="button" class="other-reading do-retry-{exchange.number}-{way}">{escape(name)}</button>'
    return f'<p class="note read-as">{plain(told)} · {button}</p>'


def _by(exchange: Exchange, answer: Answer, texts: Texts) -> str:
    """Who wrote an answer."""
    name = exchange.used.get("model") or answer.llm
    by = texts.answerer_extractive if answer.llm == ChatModelName.EXTRACTIVE else texts.written_by.format(name=name)
    return f'<span class="by">{plain(by)}</span>'


def _cited(answer: Answer, texts: Texts) -> str:
    """What the numbers of an answer stand for, for whoever copies or prints it."""
    lines = [f"<p>{plain(texts.sources)}</p>"] if answer.citations else []
    for citation in answer.citations:
        page = f" · {texts.page.format(number=citation.page)}" if citation.page is not None else ""
        lines.append(f"<p>{plain(f'[{citation.marker}] {citation.title} · {citation.document}{page}')}</p>")
    return f'<div class="cited">{"".join(lines)}</div>' if lines else ""


def _steps(exchange: Exchange, texts: Texts) -> str:
    """Where an answer that is being made stands. Each sentence is checked before it is shown."""
    names = (texts.step_searching, texts.step_reading, texts.step_writing, texts.step_checking)
    at = {State.AWAITING: 0, State.SEARCHING: 0, State.READING: 1, State.LOADING: 1, State.WRITING: 2}[exchange.state]
    steps = "".join(
        f'<span class="{"done" if place < at else "now" if place == at or (at, place) == (2, 3) else "later"}">'
        f"{escape(name)}</span>"
        for place, name in enumerate(names)
    )
    waits = {
        State.AWAITING: texts.awaiting,
        State.SEARCHING: texts.searching,
        State.READING: texts.reading,
        State.LOADING: texts.loading,
    }
    if exchange.steps and exchange.state in (State.READING, State.LOADING):
        waits[exchange.state] = _agent_step(exchange.steps[-1], texts)
    parts = sum(1 for chunk in exchange.chunks if chunk.strip())
    told = waits.get(exchange.state) or (texts.checked.format(count=parts) if parts else texts.reading)
    return f'<p class="steps">{steps}</p><p class="waiting">{escape(told)}</p>'


def _agent_steps(answer: Answer, texts: Texts) -> str:
    """How an agent came to an answer, for whoever opens it."""
    if not answer.steps:
        return ""
    steps = "".join(f"<li>{plain(_agent_step(step, texts))}</li>" for step in answer.steps)
    told = escape(texts.agent_steps.format(count=len(answer.steps)))
    return f'<details class="agent"><summary>{told}</summary><ol>{steps}</ol></details>'


def _agent_step(step: Step, texts: Texts) -> str:
    name = getattr(texts, f"agent_{step.kind}")
    came = " → ".join(filter(None, (step.request, step.result or texts.list_separator.join(step.documents))))
    return f"{name}: {came}" if came else name


def _tools(exchange: Exchange, texts: Texts, answerers: Sequence[tuple[str, str]]) -> str:
    liked = {True: ("like on", "dislike"), False: ("like", "dislike on"), None: ("like", "dislike")}[exchange.liked]
    return (
        _button("copy", exchange.number, texts.copy)
        + _button("aloud", exchange.number, texts.read_aloud)
        + _button("like", exchange.number, texts.like, style=liked[0])
        + _button("dislike", exchange.number, texts.dislike, style=liked[1])
        + _retry(exchange.number, texts, answerers)
    )


def _retry(number: int, texts: Texts, answerers: Sequence[tuple[str, str]]) -> str:
    again = _button("retry", number, texts.ask_again)
    if len(answerers) < 2:
        return again
    choices = "".join(
        f'<button type="button" class="do-retry-{number}-{name}">{plain(label)}</button>' for name, label in answerers
    )
    return again + (
        f'<details class="menu others"><summary title="{escape(texts.answer_with)}"></summary>'
        f"<div>{choices}</div></details>"
    )


def _branches(session: Session, exchange: Exchange, texts: Texts) -> str:
    """The switch between a question and those that it was edited into or asked again as: ‹ 2/2 ›"""
    numbers = session.branches(exchange)
    if len(numbers) < 2:
        return ""
    place = numbers.index(exchange.number)
    before = _button("branch", numbers[place - 1], texts.earlier_version, style="back") if place else ""
    after = (
        _button("branch", numbers[place + 1], texts.later_version, style="on-ward") if place + 1 < len(numbers) else ""
    )
    return f'<span class="branches">{before}<span>{place + 1}/{len(numbers)}</span>{after}</span>'


def _follow_ups(exchange: Exchange, texts: Texts) -> str:
    """What can be asked next: for other parts of the page, then what the page says is asked."""
    if not exchange.suggestions:
        return ""
    chips = "".join(
        f'<a class="suggestion chip{" offer" if question in exchange.offers else ""}"'
        f' href="#ask-{exchange.number}-{place}">{plain(question)}</a>'
        for place, question in enumerate(exchange.suggestions)
    )
    return f'<div class="follow-ups"><span>{escape(texts.follow_ups)}</span>{chips}</div>'


def _button(action: str, number: int, name: str, *, style: str = "") -> str:
    """Its picture comes from the style sheet, so that it adds nothing to the text of its message."""
    return f'<button type="button" class="tool {style or action} do-{action}-{number}" title="{escape(name)}"></button>'


def _after(tools: str, *, before: str = "", below: str = "", style: str = "") -> str:
    return f'<div class="after{style}">{before}<div class="tools">{tools}</div>{below}</div>'


def _refusal(turn: int, refusal: Refusal, texts: Texts) -> str:
    match refusal.reason:
        case RefusalReason.MISSING_TERMS:
            sentence = texts.refused_missing.format(missing=texts.list_separator.join(refusal.missing))
        case RefusalReason.NO_SUPPORTED_CLAIM:
            sentence = texts.refused_unsupported
        case _:
            sentence = texts.refused
    if refusal.only:
        sentence += texts.refused_only
    suggestions = "".join(
        f'<li><a class="suggestion" href="#ask-{turn}-{number}">{plain(question)}</a></li>'
        for number, question in enumerate(refusal.suggestions)
    )
    more = f"<p>{escape(texts.suggestions)}</p><ul>{suggestions}</ul>" if suggestions else ""
    return f'<div class="notice refusal"><p>{plain(sentence)}</p>{more}</div>'


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'
