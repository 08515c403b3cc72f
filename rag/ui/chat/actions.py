"""A reader's actions besides asking: on conversations, branches, opinions, sources. Knows nothing of Gradio.

Input from the browser is untrusted: unknown numbers do nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from rag.answer.assistant import Assistant
from rag.feedback.rows import FileType, Format, rows, write_rows
from rag.feedback.store import Opinion
from rag.types import Citation
from rag.ui.browser_input import names_of
from rag.ui.chat.strip import NOTE_CHARACTERS, REASONS
from rag.ui.chat.whole_source import open_whole
from rag.ui.conversations.export import File, as_json, as_markdown, file_name
from rag.ui.conversations.keeper import Keeper
from rag.ui.conversations.records import from_stored
from rag.ui.elements import parcel
from rag.ui.session.session import MAX_EXCHANGES, STEP, Exchange, Session
from rag.ui.texts import TEXTS

# RETRY's argument besides the name of a writer: read the question alone, or as a follow-up.
ALONE, IN_TALK = "alone", "in_talk"
# Conversations deleted or tagged at once, and digits of a conversation's number.
MOST_AT_ONCE, DIGITS = 1_000, 16
# Or: continue what broke off.
GO_ON = "goon"


class ChatActionName(StrEnum):
    """The actions of the page's buttons, as their class `do-ACTION-NUMBER` and the browser's scripts name them."""

    SEND = "send"
    ASK = "ask"
    RETRY = "retry"
    LOOK_ON = "lookon"
    EARLIER = "earlier"
    NEW = "new"
    OPEN = "open"
    RENAME = "rename"
    PIN = "pin"
    TAG = "tag"
    FILTER = "filter"
    DELETE = "delete"
    RESTORE = "restore"
    EDIT = "edit"
    UNEDIT = "unedit"
    BRANCH = "branch"
    LIKE = "like"
    DISLIKE = "dislike"
    OPINE = "opine"
    UNJUDGE = "unjudge"
    ABOUT = "about"
    SCOPE = "scope"
    UNSCOPE = "unscope"
    PICK = "pick"
    SHOW = "show"
    WHOLE = "whole"
    MARKDOWN = "markdown"
    JSON = "json"
    FEEDBACK = "feedback"


@dataclass(frozen=True, slots=True)
class ChatAction:
    """A click: `number` names a conversation or an exchange, `rest` is the button's further argument, `note` what was
    typed."""

    name: ChatActionName | None
    number: int = 0
    rest: str = ""
    reasons: tuple[str, ...] = ()
    note: str = ""

    @classmethod
    def read(cls, data: object) -> "ChatAction":
        """Parse whatever the page sent; an action without a name does nothing."""
        values: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        name, number = values.get("action"), values.get("number")
        reasons = values.get("reasons")
        return cls(
            ChatActionName(name) if name in list(ChatActionName) else None,
            number if isinstance(number, int) and 0 <= number < 1 << 53 else 0,
            str(values.get("rest") or ""),
            tuple(map(str, reasons)) if isinstance(reasons, list) else (),
            str(values.get("note") or "")[:NOTE_CHARACTERS],
        )


def act(session: Session, action: ChatAction, keeper: Keeper) -> None:
    """Do what changes the session or the stores."""
    match action.name:
        case ChatActionName.NEW:
            session.clear()
            session.tag_filter = ""  # what begins has no tag yet
        case ChatActionName.OPEN:
            keeper.open(session, action.number, int(action.rest) if action.rest.isdecimal() else 0)
        case ChatActionName.RENAME:
            keeper.rename(session, action.number, action.rest)
        case ChatActionName.PIN:
            keeper.pin(session, action.number)
        case ChatActionName.TAG:
            keeper.tag(session, action.note, *_chosen(action))
        case ChatActionName.FILTER:  # a second click takes it back
            session.tag_filter = "" if action.rest == session.tag_filter else action.rest
            return
        case ChatActionName.DELETE:
            keeper.delete(session, *_chosen(action))
            return
        case ChatActionName.RESTORE:
            keeper.restore(session)
        case ChatActionName.UNEDIT | ChatActionName.UNJUDGE:
            session.editing = session.judging = 0
            return
        case ChatActionName.ABOUT:  # talk about other documents is no context
            session.clear()
            session.only = names_of([action.rest])
        case ChatActionName.EARLIER:
            session.earlier_count += MAX_EXCHANGES if action.rest else STEP
            return
        case ChatActionName.SCOPE | ChatActionName.UNSCOPE:
            others = [name for name in session.only if name != action.rest]
            session.only = names_of([*others, action.rest] if action.name is ChatActionName.SCOPE else others)
            return
        case _:
            _act_on_exchange(session, action, keeper)
            return
    session.deleted = ()


def _chosen(action: ChatAction) -> list[int]:
    """The numbers of its conversation, or of several, as "4,7"."""
    numbers = [str(action.number)] if action.number else action.rest.split(",")
    return [int(number) for number in numbers if number.isdecimal() and len(number) < DIGITS][:MOST_AT_ONCE]


def _act_on_exchange(session: Session, action: ChatAction, keeper: Keeper) -> None:
    exchange = session.find(action.number)
    if exchange is None:
        return
    match action.name:
        case ChatActionName.EDIT if not session.is_answering:
            session.editing, session.judging = exchange.number, 0
        case ChatActionName.BRANCH if not session.is_answering:
            keeper.turn_to(session, exchange.number)
        case ChatActionName.LIKE | ChatActionName.DISLIKE:
            _rate(session, exchange, action.name is ChatActionName.LIKE, keeper)
        case ChatActionName.OPINE if exchange.liked is not None:
            reasons = tuple(reason for reason in action.reasons if reason in REASONS[exchange.liked])
            keeper.judge(session, exchange, _opinion(exchange, exchange.liked, reasons, action.note.strip()))
            session.judging = 0


def whole_source(session: Session, action: ChatAction, assistant: Assistant, moment: str = "") -> str:
    """The document of an exchange's citation, as a dialog; empty if there is no such citation. `moment` makes each
    opening unique."""
    exchange = session.find(action.number)
    citations: Sequence[Citation] = exchange.answer.citations if exchange is not None and exchange.answer else ()
    chosen = next((citation for citation in citations if str(citation.marker) == action.rest), None)
    if exchange is None or chosen is None:
        return ""
    texts = TEXTS[session.language]
    same = [citation for citation in citations if citation.document == chosen.document]
    chosen = replace(chosen, title=exchange.title_of(chosen, texts.tag))  # also of a document that is gone
    return open_whole(assistant, same, chosen, texts, moment)


def download(session: Session, action: ChatAction, keeper: Keeper, now: datetime) -> File | None:
    """The requested file; None if there is nothing to download."""
    if action.name is ChatActionName.FEEDBACK:
        return _feedback_file(session, action.rest, keeper)
    stored = keeper.load(session, action.number)
    if stored is None:
        return None
    exchanges = [from_stored(exchange, stored.id) for exchange in stored.exchanges]
    if action.name is ChatActionName.JSON:
        text = as_json(stored.id, stored.title, exchanges, now, stored.tag)
        return File(file_name(stored.title, ".json"), "application/json", text)
    shown = Session(all_exchanges={exchange.number: exchange for exchange in exchanges}, tip=stored.tip)
    text = as_markdown(stored.title, shown.exchanges, TEXTS[session.language], now)
    return File(file_name(stored.title, ".md"), "text/markdown", text)


def as_parcel(file: File | None, moment: str) -> str:
    """A file in the form that the browser saves; `moment` makes each parcel unique. HTML."""
    if file is None:
        return ""
    return parcel(moment, {"name": file.name, "type": file.type, "text": file.text})


def _feedback_file(session: Session, rest: str, keeper: Keeper) -> File | None:
    name, _, kind = rest.partition("-")
    if session.user is None or name not in list(Format) or kind not in list(FileType):
        return None
    found = rows(keeper.feedback.all(session.user), Format(name))
    if not found:
        return None
    types = {FileType.JSONL: "application/x-ndjson", FileType.CSV: "text/csv"}
    return File(f"feedback-{name}.{kind}", types[FileType(kind)], write_rows(found, Format(name), FileType(kind)))


def _rate(session: Session, exchange: Exchange, liked: bool, keeper: Keeper) -> None:
    """A second click takes the opinion back."""
    if exchange.answer is None:
        return
    if exchange.liked is liked:
        keeper.judge(session, exchange, None)
        session.judging = 0
    else:
        keeper.judge(session, exchange, _opinion(exchange, liked))
        session.editing, session.judging = 0, exchange.number


def _opinion(exchange: Exchange, liked: bool, reasons: tuple[str, ...] = (), note: str = "") -> Opinion:
    assert exchange.answer is not None
    used = {**exchange.used, "llm": exchange.answer.llm}  # quotes may have replaced a model's answer
    question = exchange.standalone or exchange.question
    return Opinion(liked, question, exchange.answer, exchange.evidence, used, exchange.prompt, reasons, note)
