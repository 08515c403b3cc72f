"""Who can write an answer right now."""

import threading
import time
from typing import Self

from rag.chat_models.select import usable_answerers
from rag.settings import ChatModelName, Settings

# Seconds for which a look at what is running counts.
LOOK_SECONDS = 15.0


class Answerers:
    """Those that the settings allow for. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._usable: tuple[ChatModelName, ...] = ()
        self._looked = float("-inf")
        self._lock = threading.Lock()

    def over(self, settings: Settings) -> Self:
        """Those that other settings allow for; itself where they are the same."""
        return self if settings is self._settings else type(self)(settings)

    def usable(self) -> tuple[ChatModelName, ...]:
        """Those that can be asked, as far as can be told without asking them."""
        with self._lock:
            if time.monotonic() - self._looked > LOOK_SECONDS:
                self._usable = usable_answerers(self._settings)
                self._looked = time.monotonic()
            return self._usable

    def named(self, name: str) -> ChatModelName | None:
        """The one of that name; None where it is unknown or cannot be used now."""
        return ChatModelName(name) if name in self.usable() else None
