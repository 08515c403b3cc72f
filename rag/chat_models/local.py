"""The local chat model: the pinned file, and the client of the server that runs it."""

from typing import TYPE_CHECKING

from rag.chat_models.model import ChatModel
from rag.errors import ChatModelError, ModelError
from rag.models import ModelState, list_models, locate
from rag.settings import ChatModelName, Settings

if TYPE_CHECKING:
    from rag.chat_models.local_server import LocalServer

LOCAL_MODEL = "qwen2.5-coder-1.5b-instruct"
# Seconds without output: it may be reading several readers' prompts.
TIMEOUT = 300.0
ANSWER_TOKENS = 640
# It reads some 50 tokens a second on two cores.
EVIDENCE_TOKENS = 600


def open_local(settings: Settings) -> ChatModel:
    """Starts nothing: the first question starts the server. Raises ChatModelError."""
    import httpx
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    from rag.chat_models.local_server import LocalTransport

    server = find_server(settings)
    client = ChatOpenAI(
        # The transport fills in the server's address and the key of this run.
        base_url="http://local-model/v1",
        api_key=SecretStr("none"),
        http_client=httpx.Client(transport=LocalTransport(server)),
        openai_proxy=None,
        model=LOCAL_MODEL,
        temperature=0,
        max_completion_tokens=ANSWER_TOKENS,
        timeout=TIMEOUT,
        max_retries=0,
        stream_usage=False,
    )
    return ChatModel(
        ChatModelName.LOCAL,
        LOCAL_MODEL,
        client,
        evidence_tokens=EVIDENCE_TOKENS,
        is_small=True,
        is_ready=lambda: server.ready,
    )


def is_fetched(settings: Settings) -> bool:
    """Whether the model is fetched and the package that runs it installed."""
    from rag.chat_models.local_server import is_installed

    present = {status.model.name for status in list_models(settings.models) if status.state is ModelState.PRESENT}
    return LOCAL_MODEL in present and is_installed()


def find_server(settings: Settings) -> "LocalServer":
    """The local model's server, running or not. Raises ChatModelError if the model or its package is missing."""
    from rag.chat_models.local_server import is_installed, server_of

    try:
        model = locate(LOCAL_MODEL, settings.models)
    except ModelError as error:
        raise ChatModelError(
            f"the local chat model cannot be run: {error.message}", hint=f"run `make llm`, or {error.hint}"
        ) from error
    if not is_installed():
        raise ChatModelError(
            "the local chat model needs the extra `local`, which is not installed",
            hint="run `make llm`, or pip install 'interview-rag[local]'",
        )
    return server_of(model)
