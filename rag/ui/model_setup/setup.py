"""The chat model of everybody who asks this server, as it is set up on the page and used at once."""

import logging
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rag.chat_models.kept import forget, keep, kept_key, open_kept, read_kept, with_kept
from rag.chat_models.listing import check_address, origin
from rag.chat_models.local import LOCAL_MODEL
from rag.errors import ChatModelError, SettingsError
from rag.settings import ChatModelName, Settings, stated_in
from rag.ui.model_setup.download import Download

if TYPE_CHECKING:
    from rag.answer.assistant import Assistant
    from rag.chat_models.kept import KeptEndpoint

logger = logging.getLogger(__name__)


class ModelSetup:
    """`stated` are the settings of file, environment and options, which win over what is set up here. Safe to use from
    several threads; within `with`, a download under way ends with the block."""

    def __init__(self, assistant: "Assistant", stated: Settings) -> None:
        self.assistant = assistant
        self.stated = stated
        self.download = Download(LOCAL_MODEL, stated.models, then=self.refresh)
        self._changing = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.download.__exit__(kind, error, trace)

    @property
    def fixed_by(self) -> str:
        """What states another endpoint than the page could set; empty where nothing does."""
        keys = ("endpoint_url", "endpoint_model")
        return next((stated_in(key) for key in keys if getattr(self.stated, key)), "")

    @property
    def writer_fixed_by(self) -> str:
        """What states who writes by default; empty where that follows from what there is."""
        return "" if self.stated.llm is ChatModelName.AUTO else f"{stated_in('llm')} = {self.stated.llm}"

    def kept(self) -> "KeptEndpoint | None":
        return read_kept(self.stated.data)

    def key_for(self, url: str, typed: str) -> str:
        """What was typed, else the kept key where it is for the same host; another host must never be sent that."""
        if typed.strip():
            return typed.strip()
        kept = self.kept()
        if kept is None or origin(kept.url) != origin(check_address(url)):
            return ""
        return kept_key(self.stated)

    def use(self, url: str, model: str, key: str) -> None:
        """Keep an endpoint and let it write from the next question on. Raises SettingsError or UserDataError."""
        self._require_free()
        keep(self.stated.data, url, model, key)
        self.refresh()

    def forget_key(self) -> None:
        self._require_free()
        if (kept := self.kept()) is not None:
            keep(self.stated.data, kept.url, kept.model, "")
            self.refresh()

    def forget(self) -> None:
        self._require_free()
        forget(self.stated.data)
        self.refresh()

    def refresh(self) -> None:
        """Look again at who can write. Where the settings name one that does not answer now, it stays who it was."""
        with self._changing:
            try:
                settings, chat_model = open_kept(self.stated)
            except ChatModelError as error:
                logger.warning("%s", error.message)
                settings, chat_model = with_kept(self.stated), self.assistant.resources.chat_model
            self.assistant.write_with(settings, chat_model)

    def _require_free(self) -> None:
        if self.fixed_by:
            raise SettingsError(f"the endpoint is set by {self.fixed_by}", hint="take it out there first")
