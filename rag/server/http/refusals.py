"""Which answers of a conversation were refusals: clients send texts back, and nothing may build on a refusal."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from rag.answer.events import Finished
from rag.types import Role, Turn

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
