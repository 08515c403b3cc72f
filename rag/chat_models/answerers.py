"""The answerers usable right now."""

import threading
import time
from collections.abc import Callable

from rag.chat_models.select import usable_answerers
from rag.settings import ChatModelName, Settings

# Seconds for which a check of what is running holds.
LOOK_SECONDS = 15.0


class Answerers:
    """Answerers that the current settings allow. Safe to use from several threads."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings
        self._seen: Settings | None = None
        self._usable: tuple[ChatModelName, ...] = ()
        self._looked = float("-inf")
        self._lock = threading.Lock()

    def usable(self) -> tuple[ChatModelName, ...]:
        """Those that are usable, as far as is known without asking them."""
        with self._lock:
            settings = self._settings()
            if settings is not self._seen or time.monotonic() - self._looked > LOOK_SECONDS:
                self._usable = usable_answerers(settings)
                self._seen, self._looked = settings, time.monotonic()
            return self._usable

    def named(self, name: str) -> ChatModelName | None:
        """The one with that name; None if it is unknown or not usable now."""
        return ChatModelName(name) if name in self.usable() else None
