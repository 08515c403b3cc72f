"""Selects the chat model: a configured OpenAI-compatible endpoint, a running Ollama, or the local model.

Never uses an unconfigured remote service.
"""

import threading
import time
from collections.abc import Callable

from rag.chat_models.endpoint import is_loopback, open_endpoint
from rag.chat_models.local import is_fetched, open_local
from rag.chat_models.model import ChatModel
from rag.chat_models.ollama import is_running, open_ollama
from rag.settings import ChatModelName, Settings


def resolve(settings: Settings) -> ChatModelName:
    """What `auto` means here and now: the configured endpoint, a running Ollama with a model, the local model if
    fetched and runnable, else no chat model.

    The answer changes with what is running, so ask once: the model from `open_chat_model` knows its kind.
    """
    if settings.llm is not ChatModelName.AUTO:
        return settings.llm
    if settings.endpoint_url:
        return ChatModelName.ENDPOINT
    if is_running(settings):
        return ChatModelName.OLLAMA
    return ChatModelName.LOCAL if is_fetched(settings) else ChatModelName.EXTRACTIVE


def open_chat_model(settings: Settings) -> ChatModel | None:
    """The chat model that the settings name; None for the extractive answerer. Loads nothing yet.

    Raises SettingsError or ChatModelError.
    """
    match resolve(settings):
        case ChatModelName.ENDPOINT:
            return open_endpoint(settings)
        case ChatModelName.OLLAMA:
            return open_ollama(settings)
        case ChatModelName.LOCAL:
            return open_local(settings)
        case _:
            return None


def usable_answerers(settings: Settings) -> tuple[ChatModelName, ...]:
    """Every answerer usable here and now: quotes always, the others if they are configured, running or fetched."""
    others = {
        ChatModelName.ENDPOINT: bool(settings.endpoint_url and settings.endpoint_model),
        ChatModelName.OLLAMA: is_running(settings),
        ChatModelName.LOCAL: is_fetched(settings),
    }
    return (ChatModelName.EXTRACTIVE, *(name for name, usable in others.items() if usable))


def leaves_the_machine(settings: Settings) -> bool:
    """Whether questions and quoted material are sent to another machine."""
    return resolve(settings) is ChatModelName.ENDPOINT and not is_loopback(settings.endpoint_url)


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
