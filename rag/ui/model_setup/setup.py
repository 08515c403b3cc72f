"""The chat model for everyone who asks this server: set up on the page, and in use at once."""

import logging
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rag.chat_models.listing import check_address, origin
from rag.chat_models.local import LOCAL_MODEL
from rag.chat_models.ollama import OLLAMA_URL
from rag.chat_models.stored_endpoint import forget, keep, kept_key, open_kept, read_kept, with_kept
from rag.errors import ChatModelError, SettingsError
from rag.settings import ChatModelName, Settings, stated_in
from rag.ui.model_setup.download import Download

if TYPE_CHECKING:
    from rag.answer.assistant import Assistant
    from rag.chat_models.stored_endpoint import KeptEndpoint

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Preset:
    """`url` is the initial address, which the reader can change; empty if there is none."""

    name: str
    url: str


OTHER = "other"
PRESETS = {
    "deepseek": Preset("DeepSeek", "https://api.deepseek.com/v1"),
    "qwen": Preset("Qwen", "https://dashscope.aliyuncs.com/compatible-mode/v1"),
    "openai": Preset("OpenAI", "https://api.openai.com/v1"),
    "ollama": Preset("Ollama", f"{OLLAMA_URL}/v1"),
    "lm_studio": Preset("LM Studio", "http://127.0.0.1:1234/v1"),
    "vllm": Preset("vLLM", "http://127.0.0.1:8000/v1"),
    OTHER: Preset("", ""),
}


def preset_of(url: str) -> str:
    """The name of the preset with this address; OTHER if there is none."""
    return next((name for name, preset in PRESETS.items() if preset.url == url), OTHER)


class ModelSetup:
    """`stated` are the settings from the file, the environment and options, which override the setup on the page. Safe
    to use from several threads. On leaving a `with` block, it cancels a download under way."""

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
        """The source that fixes the endpoint, so that the page cannot set it; empty if there is none."""
        keys = ("endpoint_url", "endpoint_model")
        return next((stated_in(key) for key in keys if getattr(self.stated, key)), "")

    @property
    def writer_fixed_by(self) -> str:
        """The setting that fixes who writes by default; empty if that is chosen automatically."""
        return "" if self.stated.llm is ChatModelName.AUTO else f"{stated_in('llm')} = {self.stated.llm}"

    def stored_endpoint(self) -> "KeptEndpoint | None":
        return read_kept(self.stated.data)

    def key_for(self, url: str, typed: str) -> str:
        """The typed key, else the stored key if it is for the same origin; no other may ever get it. Raises
        SettingsError for an invalid address."""
        if typed.strip():
            return typed.strip()
        kept = self.stored_endpoint()
        if kept is None or origin(kept.url) != origin(check_address(url)):
            return ""
        return kept_key(self.stated)

    def use(self, url: str, model: str, key: str) -> None:
        """Store an endpoint, and let it write from the next question on. Raises SettingsError or UserDataError."""
        self._require_free()
        keep(self.stated.data, url, model, key)
        self.refresh()

    def forget_key(self) -> None:
        self._require_free()
        if (kept := self.stored_endpoint()) is not None:
            keep(self.stated.data, kept.url, kept.model, "")
            self.refresh()

    def forget(self) -> None:
        self._require_free()
        forget(self.stated.data)
        self.refresh()

    def refresh(self) -> None:
        """Choose the writer again. If the settings name one that does not answer now, the current one stays."""
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
