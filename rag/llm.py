"""Chat models: any OpenAI-compatible endpoint, or a running Ollama. Nothing remote is used that was not configured."""

from typing import TYPE_CHECKING
from urllib.parse import urlparse

from rag.errors import ChatModelError, SettingsError
from rag.settings import ChatModelName, Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

OLLAMA_URL = "http://127.0.0.1:11434"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def resolve(settings: Settings) -> ChatModelName:
    """What `auto` means here: the configured endpoint if there is one, else no chat model."""
    if settings.llm is ChatModelName.AUTO:
        return ChatModelName.ENDPOINT if settings.endpoint_url else ChatModelName.EXTRACTIVE
    return settings.llm


def leaves_the_machine(settings: Settings) -> bool:
    """Whether questions and quoted material are sent to another machine."""
    return resolve(settings) is ChatModelName.ENDPOINT and urlparse(settings.endpoint_url).hostname not in LOOPBACK


def open_chat_model(settings: Settings) -> "BaseChatModel | None":
    """The chat model that the settings name; None for the extractive answerer.

    Raises SettingsError or ChatModelError.
    """
    match resolve(settings):
        case ChatModelName.EXTRACTIVE:
            return None
        case ChatModelName.ENDPOINT:
            if not settings.endpoint_url or not settings.endpoint_model:
                raise SettingsError(
                    "an endpoint needs `endpoint_url` and `endpoint_model`",
                    hint='set both, or choose `llm = "extractive"`',
                )
            return _openai_compatible(
                settings.endpoint_url, settings.endpoint_model, settings.endpoint_key.get_secret_value(), settings
            )
        case ChatModelName.OLLAMA:
            return _openai_compatible(
                f"{OLLAMA_URL}/v1", settings.endpoint_model or _first_ollama_model(), "ollama", settings
            )
        case _:
            raise ChatModelError(
                "a local chat model file cannot be run by this version",
                hint='choose `llm = "extractive"`, "ollama" or "endpoint"',
            )


def _openai_compatible(url: str, model: str, key: str, settings: Settings) -> "BaseChatModel":
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    return ChatOpenAI(
        base_url=url,
        model=model,
        api_key=SecretStr(key or "none"),
        temperature=0,
        timeout=settings.endpoint_timeout,
        max_retries=1,
        stream_usage=False,
    )


def _first_ollama_model() -> str:
    import httpx

    try:
        models = httpx.get(f"{OLLAMA_URL}/api/tags", timeout=2).raise_for_status().json()["models"]
    except (httpx.HTTPError, KeyError, ValueError) as error:
        raise ChatModelError(
            f"no Ollama answers at {OLLAMA_URL}: {error}", hint="start it with `ollama serve`, or choose another `llm`"
        ) from error
    if not models:
        raise ChatModelError("Ollama is running but has no model", hint="fetch one with `ollama pull`")
    return str(models[0]["name"])
