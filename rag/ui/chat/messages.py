"""Exchanges -> the page's messages and panel, in the reader's language."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from itertools import groupby
from typing import TypedDict

from rag.answer.assistant import MAX_QUESTION_CHARACTERS
from rag.errors import ChatModelProblem, RagError, UsageError
from rag.language.asking import asked_in
from rag.language.language import has_chinese
from rag.settings import ChatModelName
from rag.types import Answer, Citation, Refusal, RefusalReason, Step
from rag.ui.chat.actions import ALONE, IN_TALK
from rag.ui.chat.sources import render_claims, render_excerpts, render_nearby, render_panel
from rag.ui.elements import hint
from rag.ui.markdown import join_chunks, join_markers, mark_answer, render, without_private
from rag.ui.problems import SENTENCES, sentence_of, tell_fallback
from rag.ui.readable import words_of
from rag.ui.session.session import UNFINISHED, Exchange, Session, State
from rag.ui.templates import macros_of
from rag.ui.texts import TEXTS, Language, Texts

HTML = macros_of("chat/messages.html")
# Words of an English quote: code and formulas have fewer.
PROSE = re.compile(r"(?:\b[A-Za-z]{2,}\b[ ,]+){4}")

# Rendered questions and answers cached over all readers: each is shown again with every later message.
ANSWERS_KEPT = 500
# Characters shown of what a question follows.
SUBJECT_CHARACTERS = 40
# Characters of a quote that its marker's card shows.
QUOTE_CHARACTERS = 280


class ChatbotMessage(TypedDict):
    role: str
    content: str


def messages(
    session: Session, answerers: Sequence[tuple[str, str]] = (), *, is_reading: bool = False
) -> list[ChatbotMessage]:
    """The last exchanges of the shown branch, and the earlier ones that the reader requested, as two messages each.
    Repeated questions stay apart: links carry the number of their exchange. `answerers` are the names and display names
    of other possible writers; `is_reading` is true during the first reading of the documents.

    A message's actions are below its text in one `<div class="after">`, where the scripts find them. A class
    `do-ACTION-NUMBER` names a button's action.
    """
    texts = TEXTS[session.language]
    result: list[ChatbotMessage] = []
    left_out = session.left_out
    exchanges = session.exchanges[left_out:]
    for exchange in exchanges:
        branches = session.branches(exchange)
        after = HTML(
            "asked",
            exchange=exchange,
            branches=branches,
            place=branches.index(exchange.number) if exchange.number in branches else 0,
            conversation=session.conversation or 0,
            texts=texts,
        )
        before = HTML("earlier", count=left_out, texts=texts) if left_out and exchange is exchanges[0] else ""
        result.append(ChatbotMessage(role="user", content=f"{before}{_question(exchange.question)}\n\n{after}"))
        reply = _reply(exchange, texts, answerers, last=exchange is exchanges[-1], is_reading=is_reading)
        result.append(ChatbotMessage(role="assistant", content=reply))
    return result


def panel(session: Session) -> str:
    """The sources of the shown exchange."""
    texts = TEXTS[session.language]
    exchange = session.find(session.shown)
    if exchange is None:
        return render_panel(hint(texts.sources_empty), texts, question="", **_counts(session))
    if exchange.answer is not None and exchange.answer.refusal is None:
        body = render_claims(exchange.answer.claims, texts, turn=exchange.number)
        body += render_excerpts(exchange.excerpts, texts, turn=exchange.number)
    elif exchange.nearby:
        so_far = texts.sources_found if session.is_answering else texts.sources_so_far
        nearest = texts.sources_nearest_early if exchange.is_early else texts.sources_nearest
        body = render_nearby(exchange.nearby, so_far if exchange.answer is None else nearest, texts)
    else:
        body = hint(texts.searching if session.is_answering else texts.sources_none)
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
    """The session's state for the browser's scripts."""
    return {
        "begun": session.question_count,
        "done": session.action_count,
        "missing": session.missing,
        "written": _elsewhere(session),
        "earlier": session.left_out,
    }


def _elsewhere(session: Session) -> int:
    """The end of the shown branch, if it is being written for another tab."""
    last = session.find(session.tip or 0)
    return last.number if last is not None and last.state in UNFINISHED and not session.busy else 0


def problem_text(problem: Exception, texts: Texts) -> str:
    """The error and what to do, in the reader's language. HTML."""
    if isinstance(problem, UsageError):
        return escape(texts.question_empty)
    if not isinstance(problem, RagError) or problem.code not in SENTENCES:
        return escape(texts.failed)
    sentence, command = sentence_of(problem, texts)
    return escape(sentence).format(command=HTML("command", command=command))


def question_problem(question: str, texts: Texts) -> str | None:
    """Why a question cannot be asked; None if it can."""
    if not any(character.isprintable() and not character.isspace() for character in question):
        return texts.question_empty
    if len(question.strip()) > MAX_QUESTION_CHARACTERS:
        return texts.question_too_long.format(count=f"{len(question.strip()):,}", limit=f"{MAX_QUESTION_CHARACTERS:,}")
    return None


@lru_cache(ANSWERS_KEPT)
def _question(question: str) -> str:
    return render(without_private(question), turn=0, label="")


def _reply(
    exchange: Exchange, texts: Texts, answerers: Sequence[tuple[str, str]], *, last: bool, is_reading: bool
) -> str:
    if exchange.answer is not None:
        return _answered(exchange, exchange.answer, texts, answerers, last=last, is_reading=is_reading)
    text = render(join_chunks(exchange.chunks), turn=exchange.number, label=texts.source_number)
    match exchange.state:
        case State.STOPPED:
            notice = texts.stopped if exchange.reply else texts.stopped_early
            reading = _reading(exchange, texts)
            after = HTML(
                "stopped", exchange=exchange, reading=reading, is_reading=is_reading, notice=notice,
                answerers=answerers, texts=texts,
            )  # fmt: skip
        case State.FAILED:
            problem = problem_text(exchange.problem or RuntimeError(), texts)
            after = HTML("failed", exchange=exchange, problem=problem, answerers=answerers, texts=texts)
        case _:
            after = _under_way(exchange, texts)
    return f"{text}\n\n{after}".strip()


def _answered(
    exchange: Exchange,
    answer: Answer,
    texts: Texts,
    answerers: Sequence[tuple[str, str]],
    *,
    last: bool,
    is_reading: bool,
) -> str:
    notes = []
    if answer.refusal is not None:
        text = _refusal(exchange, answer.refusal, texts, is_reading=is_reading)
    else:
        text = _lead(answer, texts) + _text(answer, exchange.number, texts.source_number, texts.claim_unsupported)
        if not all(claim.supported for claim in answer.claims):
            notes.append(texts.unsupported)
        if answer.left_out:
            notes.append(texts.left_out.format(count=answer.left_out))
    after = HTML(
        "answered",
        exchange=exchange,
        reading=_reading(exchange, texts),
        is_reading=is_reading,
        notes=notes,
        cut=texts.cut.format(name=_writer(exchange, answer.llm)) if _is_cut(answer) else "",
        by=_by(exchange, answer, texts),
        citations=() if answer.refusal else answer.citations,
        cited=_cited(exchange, answer.citations, texts),
        steps=[_agent_step(step, texts) for step in answer.steps],
        suggestions=exchange.suggestions if last and not answer.refusal else (),
        answerers=answerers,
        texts=texts,
    )
    return f"{text}\n\n{after}"


@lru_cache(ANSWERS_KEPT)
def _text(answer: Answer, turn: int, label: str, unsupported: str) -> str:
    quotes = {citation.marker: words_of(citation.quote, QUOTE_CHARACTERS) for citation in answer.citations}
    documents = {citation.marker: citation.document for citation in answer.citations}
    marked = join_markers(mark_answer(answer), documents)
    return render(marked, turn=turn, label=label, quotes=quotes, unsupported=unsupported)


def _lead(answer: Answer, texts: Texts) -> str:
    """Notes before the quotes: that they replace a model's answer, or are in another language."""
    notes = [tell_fallback(answer.fallback, texts)] if answer.fallback and not _is_cut(answer) else []
    if answer.llm == ChatModelName.EXTRACTIVE:
        asked = asked_in(answer.question, Language.EN if texts.tag == Language.EN else Language.ZH)
        quoted = {_language_of(citation.quote) for citation in answer.citations} - {None}
        if quoted and asked not in quoted:
            notes.append(TEXTS[asked].foreign)
    return HTML("lead", notes=notes) + "\n\n" if notes else ""


def _language_of(quote: str) -> Language | None:
    if has_chinese(quote):
        return Language.ZH
    # A sentence is on one line; code and tables have no language.
    return Language.EN if "\n" not in quote.strip() and PROSE.search(quote) else None


def _reading(exchange: Exchange, texts: Texts) -> tuple[str, str, str] | None:
    """How a later question was understood, and the alternative's name in a button's class and label."""
    read = exchange.answer.read_as if exchange.answer is not None else None
    if read is None or exchange.parent is None:
        return None
    if read.follows:
        return texts.read_after.format(subject=read.follows[:SUBJECT_CHARACTERS]), ALONE, texts.ask_alone
    return texts.read_alone, IN_TALK, texts.ask_in_talk


def _by(exchange: Exchange, answer: Answer, texts: Texts) -> str:
    """An answer's writer."""
    if answer.llm == ChatModelName.EXTRACTIVE:
        return texts.answerer_extractive
    return texts.written_by.format(name=_writer(exchange, answer.llm))


def _cited(exchange: Exchange, citations: Sequence[Citation], texts: Texts) -> list[tuple[str, Citation]]:
    """An answer's sources with their numbers; consecutive numbers of one page are joined."""
    result = []
    for _, same in groupby(citations, lambda citation: (citation.document, citation.title, citation.page)):
        first, *others = same
        markers = f"{first.marker}–{others[-1].marker}" if others else str(first.marker)
        result.append((markers, replace(first, title=exchange.title_of(first, texts.tag))))
    return result


def _writer(exchange: Exchange, llm: str) -> str:
    return str(exchange.used.get("model") or llm)


def _is_cut(answer: Answer) -> bool:
    return answer.fallback is ChatModelProblem.CUT


def _under_way(exchange: Exchange, texts: Texts) -> str:
    """The progress of an unfinished answer. Each sentence is checked before it is shown."""
    names = (texts.step_searching, texts.step_reading, texts.step_writing, texts.step_checking)
    at = {State.AWAITING: 0, State.SEARCHING: 0, State.READING: 1, State.LOADING: 1, State.WRITING: 2}[exchange.state]
    steps = [
        ("done" if place < at else "now" if place == at or (at, place) == (2, 3) else "later", name)
        for place, name in enumerate(names)
    ]
    waits = {
        State.AWAITING: texts.awaiting,
        State.SEARCHING: texts.searching,
        State.READING: texts.reading,
        State.LOADING: texts.loading,
    }
    if exchange.steps and exchange.state in (State.READING, State.LOADING):
        waits[exchange.state] = _agent_step(exchange.steps[-1], texts)
    parts = sum(1 for chunk in exchange.chunks if chunk.strip())
    notice = waits.get(exchange.state) or (texts.checked.format(count=parts) if parts else texts.reading)
    waited = {State.READING: texts.waiting_model, State.LOADING: texts.loading_model}.get(exchange.state)
    model, since = exchange.used.get("model"), 0
    if waited and model and not exchange.steps:
        notice, since = waited.format(name=model), round(exchange.since * 1_000)
    return HTML("under_way", steps=steps, notice=notice, since=since)


def _agent_step(step: Step, texts: Texts) -> str:
    name = getattr(texts, f"agent_{step.kind}")
    came = " → ".join(filter(None, (step.request, step.result or texts.list_separator.join(step.documents))))
    return f"{name}: {came}" if came else name


def _refusal(exchange: Exchange, refusal: Refusal, texts: Texts, *, is_reading: bool) -> str:
    """An early one speaks of the documents read until then only."""
    early = exchange.is_early
    match refusal.reason:
        case _ if early and not is_reading:
            sentence = texts.refused_then
        case RefusalReason.MISSING_TERMS:
            notice = texts.refused_missing_early if early else texts.refused_missing
            sentence = notice.format(missing=texts.list_separator.join(refusal.missing))
        case RefusalReason.NO_SUPPORTED_CLAIM:
            sentence = texts.refused_unsupported_early if early else texts.refused_unsupported
        case _:
            sentence = texts.refused_early if early else texts.refused
    if refusal.only:
        sentence += texts.refused_only
    return HTML("refusal", sentence=sentence, suggestions=refusal.suggestions, turn=exchange.number, texts=texts)
