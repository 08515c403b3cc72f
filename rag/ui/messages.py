"""Exchanges -> the messages and the panel that the page shows, in the reader's language."""

from html import escape
from typing import TypedDict

from rag.assistant import MAX_QUESTION_CHARACTERS
from rag.errors import ChatModelError, IndexCorruptError, IndexMismatchError, IndexMissingError, UsageError
from rag.types import Refusal
from rag.ui.markdown import join_chunks, mark_answer, plain, render, without_private
from rag.ui.session import Exchange, Session, State
from rag.ui.sources import render_excerpts, render_nearby, render_panel
from rag.ui.texts import TEXTS, Texts

INGEST_COMMAND = "<code>python -m ingest</code>"
REBUILD_COMMAND = "<code>python -m ingest --rebuild</code>"


class Message(TypedDict):
    role: str
    content: str


def messages(session: Session) -> list[Message]:
    """Every exchange as two messages. Repeated questions stay apart: links carry the number of their exchange."""
    texts = TEXTS[session.language]
    result: list[Message] = []
    for exchange in session.exchanges:
        result.append(Message(role="user", content=render(without_private(exchange.question), turn=0, label="")))
        result.append(Message(role="assistant", content=_reply(exchange, texts)))
    return result


def panel(session: Session) -> str:
    """The sources of the exchange that is shown."""
    texts = TEXTS[session.language]
    exchange = session.find(session.shown)
    if exchange is None:
        return render_panel(f'<p class="hint">{escape(texts.sources_empty)}</p>', texts, turn=0, question="")
    if exchange.answer is not None and exchange.answer.refusal is None:
        body = render_excerpts(exchange.excerpts, texts, turn=exchange.number)
    elif exchange.answer is not None:
        body = render_nearby(exchange.nearby, texts.sources_nearest)
    elif exchange.nearby:
        body = render_nearby(exchange.nearby, texts.sources_found if session.busy else texts.sources)
    else:
        body = f'<p class="hint">{escape(texts.searching if session.busy else texts.sources_none)}</p>'
    return render_panel(body, texts, turn=exchange.number, question=exchange.question, selected=session.selected)


def problem_text(problem: Exception, texts: Texts) -> str:
    """What went wrong and what to do, in the reader's language. HTML."""
    match problem:
        case UsageError():
            return escape(texts.question_empty)
        case IndexMissingError():
            return texts.index_missing.format(command=INGEST_COMMAND)
        case IndexCorruptError() | IndexMismatchError():
            return texts.index_damaged.format(command=REBUILD_COMMAND)
        case ChatModelError():
            return escape(texts.model_failed)
        case _:
            return escape(texts.failed)


def question_problem(question: str, texts: Texts) -> str | None:
    """Why a question cannot be asked; None where it can."""
    if not any(character.isprintable() and not character.isspace() for character in question):
        return texts.question_empty
    if len(question.strip()) > MAX_QUESTION_CHARACTERS:
        return texts.question_too_long.format(count=f"{len(question.strip()):,}", limit=f"{MAX_QUESTION_CHARACTERS:,}")
    return None


def _reply(exchange: Exchange, texts: Texts) -> str:
    answer = exchange.answer
    if answer is not None and answer.refusal is not None:
        return _refusal(exchange.number, answer.refusal, texts)
    if answer is not None:
        text = render(mark_answer(answer), turn=exchange.number, label=texts.source_number)
        notes = [] if all(claim.supported for claim in answer.claims) else [_note(texts.unsupported)]
        if answer.citations:
            link = texts.sources_link.format(count=len(answer.citations))
            notes.append(f"[{link}](#cite-{exchange.number}-0)")
        return "\n\n".join([text, *notes])
    text = render(join_chunks(exchange.chunks), turn=exchange.number, label=texts.source_number)
    match exchange.state:
        case State.STOPPED:
            return f"{text}\n\n{_note(texts.stopped)}".strip()
        case State.FAILED:
            problem = problem_text(exchange.problem or RuntimeError(), texts)
            notice = f'<div class="notice problem"><p>{problem}</p><p>{escape(texts.try_again)}</p></div>'
            return f"{text}\n\n{notice}".strip()
        case _:
            waits = {State.SEARCHING: texts.searching, State.LOADING: texts.loading}
            waiting = waits.get(exchange.state, texts.writing)
            return text or f'<p class="waiting">{escape(waiting)}</p>'


def _refusal(turn: int, refusal: Refusal, texts: Texts) -> str:
    match refusal.reason:
        case "missing_terms":
            sentence = texts.refused_missing.format(missing=texts.list_separator.join(refusal.missing))
        case "no_supported_claim":
            sentence = texts.refused_unsupported
        case _:
            sentence = texts.refused
    suggestions = "".join(
        f'<li><a class="suggestion" href="#ask-{turn}-{number}">{plain(question)}</a></li>'
        for number, question in enumerate(refusal.suggestions)
    )
    more = f"<p>{escape(texts.suggestions)}</p><ul>{suggestions}</ul>" if suggestions else ""
    return f'<div class="notice refusal"><p>{plain(sentence)}</p>{more}</div>'


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'
