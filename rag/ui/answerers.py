"""Who can write an answer right now, and the assistant that has it written so."""

import threading
import time
from typing import TYPE_CHECKING

from rag.assistant import Assistant
from rag.errors import ChatModelError, SettingsError
from rag.llm import open_chat_model, usable_answerers
from rag.settings import ChatModelName

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# Seconds for which a look at what is running counts.
LOOK_SECONDS = 15.0


class Answerers:
    """Other answerers over the index and embedder of an assistant. Safe to use from several threads."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._models: dict[ChatModelName, BaseChatModel | None] = {}
        self._usable: tuple[ChatModelName, ...] = ()
        self._looked = float("-inf")
        self._lock = threading.Lock()

    def usable(self) -> tuple[ChatModelName, ...]:
        """Those that can be asked, as far as can be told without asking them."""
        with self._lock:
            if time.monotonic() - self._looked > LOOK_SECONDS:
                self._usable = usable_answerers(self._assistant.settings)
                self._looked = time.monotonic()
            return self._usable

    def assistant(self, name: str) -> Assistant:
        """The assistant whose answers that one writes; the first one where it is unknown or cannot be used now."""
        ours = self._assistant
        if name not in self.usable() or name == ours.llm:
            return ours
        settings = ours.settings.model_copy(update={"llm": ChatModelName(name)})
        try:
            with self._lock:
                if settings.llm not in self._models:
                    self._models[settings.llm] = open_chat_model(settings)
        except (ChatModelError, SettingsError):
            return ours
        return Assistant(settings, ours.embedder, chat_model=self._models[settings.llm], index=ours.index)
