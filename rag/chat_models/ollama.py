"""A running Ollama on this machine, and its models."""

from collections.abc import Mapping, Sequence
from typing import Any

from rag.chat_models.endpoint import openai_client
from rag.chat_models.model import ChatModel
from rag.errors import ChatModelError
from rag.settings import ChatModelName, Settings

OLLAMA_URL = "http://127.0.0.1:11434"
# Seconds: for `auto`, which must not keep anybody waiting, and for a configured Ollama.
PROBE_SECONDS = 0.3
ANSWER_SECONDS = 5.0


def open_ollama(settings: Settings) -> ChatModel:
    """Raises ChatModelError if Ollama does not run or lacks the model."""
    model = _choose_model(settings, ANSWER_SECONDS)
    client = openai_client(f"{OLLAMA_URL}/v1", model, "ollama", settings.endpoint_timeout)
    return ChatModel(ChatModelName.OLLAMA, model, client)


def is_running(settings: Settings) -> bool:
    """Whether Ollama answers at once and has a chat model."""
    try:
        return bool(_choose_model(settings, PROBE_SECONDS))
    except ChatModelError:
        return False


def _choose_model(settings: Settings, seconds: float) -> str:
    """The model that the settings name, else the first. Raises ChatModelError.

    With an `endpoint_url` the settings name a model of that endpoint, which Ollama need not have.
    """
    models = [model for model in _list_models(seconds) if _can_chat(model)]
    wanted = settings.endpoint_model
    if not models:
        raise ChatModelError(
            "Ollama is running but has no chat model on this machine", hint="fetch one with `ollama pull`"
        )
    for model in models:
        if wanted in ("", model["name"], model["name"].removesuffix(":latest")):
            return str(model["name"])
    if settings.endpoint_url:
        return str(models[0]["name"])
    raise ChatModelError(
        f"Ollama has no chat model {wanted!r} on this machine",
        hint="`endpoint_model` can be " + ", ".join(str(model["name"]) for model in models),
    )


def _can_chat(model: Mapping[str, Any]) -> bool:
    """Excludes models that Ollama runs on its makers' machines, and those that only embed."""
    details = model.get("details")
    family = str(details.get("family", "")) if isinstance(details, dict) else ""
    return not (model.get("remote_host") or "bert" in family or "embed" in str(model["name"]))


def _list_models(seconds: float) -> Sequence[Mapping[str, Any]]:
    import httpx

    try:
        with httpx.Client(timeout=seconds, trust_env=False) as client:
            models = client.get(f"{OLLAMA_URL}/api/tags").raise_for_status().json()["models"]
        return [model for model in models if isinstance(model["name"], str)]
    except (httpx.HTTPError, KeyError, TypeError, ValueError) as error:
        raise ChatModelError(
            f"no Ollama answers at {OLLAMA_URL}: {error}", hint="start it with `ollama serve`, or choose another `llm`"
        ) from error
