"""An exchange <-> its stored form."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rag.feedback.store import EvidencePassage
from rag.types import Answer
from rag.ui.conversations.store import StoredExchange
from rag.ui.session.excerpts import Excerpt, Nearby
from rag.ui.session.session import UNFINISHED, Exchange, State

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Record:
    """What the page shows of an exchange besides its text. Fields of later versions need a default."""

    answer: Answer | None = None
    excerpts: tuple[Excerpt, ...] = ()
    nearby: tuple[Nearby, ...] = ()
    follow_ups: tuple[str, ...] = ()
    standalone: str = ""
    evidence: tuple[EvidencePassage, ...] = ()
    used: Mapping[str, Any] = field(default_factory=dict)
    prompt: tuple[tuple[str, str], ...] = ()
    offers: tuple[str, ...] = ()


RECORD = TypeAdapter(Record)


def to_stored(exchange: Exchange) -> StoredExchange:
    record = Record(
        exchange.answer,
        exchange.excerpts,
        exchange.nearby,
        exchange.follow_ups,
        exchange.standalone,
        exchange.evidence,
        exchange.used,
        exchange.prompt,
        exchange.offers,
    )
    return StoredExchange(
        exchange.number,
        exchange.parent,
        exchange.question,
        exchange.state,
        exchange.reply,
        RECORD.dump_json(record).decode(),
    )


def from_stored(stored: StoredExchange, conversation: int) -> Exchange:
    """An unfinished exchange counts as stopped. One with an unreadable record still has its text."""
    try:
        record = RECORD.validate_json(stored.record) if stored.record else Record()
        state = State(stored.state)
    except (ValidationError, ValueError) as error:
        logger.warning("exchange %d of a conversation is shown without its sources: %s", stored.number, error)
        record, state = Record(), State.STOPPED
    if state in UNFINISHED or (state is State.DONE and record.answer is None):
        state = State.STOPPED
    return Exchange(
        number=stored.number,
        question=stored.question,
        parent=stored.parent,
        conversation=conversation,
        state=state,
        chunks=[] if record.answer is not None else [stored.reply],
        nearby=record.nearby,
        standalone=record.standalone,
        evidence=record.evidence,
        used=record.used,
        prompt=record.prompt,
        answer=record.answer,
        excerpts=record.excerpts,
        follow_ups=record.follow_ups,
        offers=record.offers,
    )
