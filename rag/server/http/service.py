"""What the routes of the API use; among it which answers of a conversation were refusals: clients send texts back, and
nothing may build on a refusal."""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fastapi import Request

from rag.answer.assistant import Assistant
from rag.answer.choices import Choices
from rag.answer.trace import Finished
from rag.chat_models.select import Answerers
from rag.index.part import check_names
from rag.server.http.work import Work
from rag.server.metrics import Metrics
from rag.types import Role, Turn

# Refusals remembered.
KEPT = 10_000


class Refusals:
    """Remembers the newest refusals by the hash of their text; safe to use from several threads. Observes the server's
    work."""

    def __init__(self) -> None:
        self._given: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()

    def answered(self, finished: Finished) -> None:
        if finished.answer.refused:
            with self._lock:
                self._given[_hash(finished.answer.text)] = None
                if len(self._given) > KEPT:
                    self._given.popitem(last=False)

    def failed(self, error: Exception) -> None:
        """A failure has no text."""

    def marked(self, turns: Sequence[Turn]) -> list[Turn]:
        """The turns, with this server's refusals marked."""
        return [replace(turn, refused=turn.role is Role.ASSISTANT and self._gave(turn.text)) for turn in turns]

    def _gave(self, text: str) -> bool:
        with self._lock:
            return _hash(text) in self._given


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.strip().encode()).digest()


@dataclass(frozen=True, slots=True)
class Service:
    """`public_url` is how clients reach the server if their requests do not say so (behind a proxy)."""

    assistant: Assistant
    answerers: Answerers
    work: Work
    metrics: Metrics
    refusals: Refusals
    public_url: str = ""
    started: int = field(default_factory=lambda: int(time.time()))

    def choosing(self, choices: Choices) -> Assistant:
        """Raises UsageError if the choices name unknown documents."""
        check_names(self.assistant.index, choices.only)
        return self.assistant.choosing(choices)

    def base(self, request: Request) -> str:
        """The base of this server's addresses."""
        return (self.public_url or str(request.base_url)).rstrip("/")
