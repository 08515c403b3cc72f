"""Which chat models can write here and why others cannot, where they run, and whether one answers."""

import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlparse

from rag.answer.assistant import Assistant
from rag.answer.choices import Choices
from rag.chat_models.local import LOCAL_MODEL
from rag.chat_models.local_server import is_installed
from rag.chat_models.model import ChatModel
from rag.chat_models.select import leaves_the_machine
from rag.chat_models.stopping import within
from rag.errors import ChatModelError, RagError
from rag.paths import PROGRAM
from rag.settings import ChatModelName, Settings
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("preferences/models.html")


class Trouble(StrEnum):
    """The causes of a failed test, as shown to readers."""

    KEY = "key"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    BUSY = "busy"
    BROKEN = "broken"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    TLS = "tls"
    HOST = "host"
    REDIRECT = "redirect"
    NOT_OPENAI = "not_openai"
    OTHER = "other"


STATUSES = {
    401: Trouble.KEY, 402: Trouble.FORBIDDEN, 403: Trouble.FORBIDDEN, 404: Trouble.NOT_FOUND, 408: Trouble.TIMEOUT,
    429: Trouble.BUSY, 504: Trouble.TIMEOUT,
}  # fmt: skip
# By the first digit of the status.
SERIES = {3: Trouble.REDIRECT, 5: Trouble.BROKEN}
# Seconds allowed for the answer of a tested model, which may have to load first.
TRY_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Answerer:
    """The writer of answers. `model` is its name, empty for quotes; `host` is set if questions leave the machine."""

    model: str
    host: str = ""


def problem_of(assistant: Assistant, llm: ChatModelName | None) -> RagError | None:
    """The error that keeps a chat model from being used, with a hint what to do; None if it can be used."""
    try:
        assistant.choosing(Choices(llm=llm))
    except RagError as error:
        return error
    return None


def answerer(assistant: Assistant) -> Answerer:
    if assistant.llm == ChatModelName.EXTRACTIVE:
        return Answerer("")
    settings = assistant.settings
    host = urlparse(settings.endpoint_url).hostname if leaves_the_machine(settings) else ""
    return Answerer(assistant.model_name or "", host or "")


def places(assistant: Assistant, texts: Texts) -> list[tuple[str, str]]:
    """Where each part of the program runs, as pairs of part and place."""
    who = answerer(assistant)
    if not who.model:
        writes = texts.answers_quotes
    elif who.host:
        writes = texts.answers_remote.format(host=who.host, model=who.model)
    else:
        writes = texts.answers_here.format(model=who.model)
    embedder = assistant.index.manifest.embedder.split("@")[0]
    return [
        (texts.part_documents, texts.here),
        (texts.part_search.format(embedder=embedder), texts.here),
        (texts.part_answers, writes),
        (texts.part_conversation, texts.here),
        (texts.part_choices, texts.browser),
    ]


def states_html(settings: Settings, usable: Sequence[ChatModelName], texts: Texts, *, may_change: bool) -> str:
    """The possible writers of answers, and why some cannot be used: a list below the choice, whose attribute also
    greys out the choices."""
    names = [name for name in ChatModelName if name is not ChatModelName.AUTO]
    rows = []
    for name in names:
        about = _model(name, settings) if name in usable else way_out(name, texts, may_change=may_change)
        rows.append((name in usable, getattr(texts, f"llm_{name}"), about))
    unusable = " ".join(name for name in names if name not in usable)
    return HTML("states", rows=rows, unusable=unusable, texts=texts)


def way_out(name: ChatModelName, texts: Texts, *, may_change: bool) -> str:
    """Why a writer cannot be used, as far as can be told without trying it, and what to do."""
    if name is ChatModelName.LOCAL and not is_installed():
        return texts.way_package.format(command=install_command())
    if name in (ChatModelName.LOCAL, ChatModelName.ENDPOINT) and not may_change:
        return texts.way_owner
    return str(getattr(texts, f"way_{name}", ""))


def install_command() -> str:
    """The command that installs the package for the local model, in a checkout or elsewhere."""
    return "make llm" if (PROGRAM / "Makefile").is_file() else "pip install 'interview-rag[local]'"


def _model(name: ChatModelName, settings: Settings) -> str:
    match name:
        case ChatModelName.LOCAL:
            return LOCAL_MODEL
        case ChatModelName.ENDPOINT:
            return f"{settings.endpoint_model} · {urlparse(settings.endpoint_url).hostname}"
        case _:
            return ""


def failure(error: RagError, texts: Texts) -> str:
    """Why a test failed, in the reader's language: by the status of the response, else by the kind of error."""
    import httpx
    import openai

    trouble, status = Trouble.OTHER, None
    cause = error.__cause__
    # The causes of a connection error tell more about it.
    while cause is not None and trouble in (Trouble.OTHER, Trouble.CONNECTION):
        match cause:
            case openai.APIStatusError() | httpx.HTTPStatusError():
                status = cause.response.status_code
                trouble = STATUSES.get(status) or SERIES.get(status // 100, Trouble.OTHER)
            case socket.gaierror():
                trouble = Trouble.HOST
            case ssl.SSLError():
                trouble = Trouble.TLS
            case openai.APITimeoutError() | httpx.TimeoutException() | TimeoutError():
                trouble = Trouble.TIMEOUT
            case openai.APIConnectionError() | httpx.ConnectError() | ConnectionError():
                trouble = Trouble.CONNECTION
            case ValueError():
                trouble = Trouble.NOT_OPENAI
        cause = cause.__cause__ or cause.__context__
    return str(getattr(texts, f"test_{trouble}")).format(code=status)


def try_model(model: ChatModel, *, within_seconds: float = TRY_SECONDS) -> float:
    """The seconds that a chat model takes to answer a tiny question. Raises RagError."""
    started = time.perf_counter()
    try:
        with within(within_seconds) as stop:
            said = str(model.model.invoke("Reply with the word: ready").text)
    except RagError:
        raise
    except Exception as error:  # broken responses fail in three libraries, with errors that they do not document
        if stop.asked:
            raise ChatModelError(f"no answer within {within_seconds:.0f} seconds") from TimeoutError()
        raise ChatModelError(
            f"{type(error).__name__}: {error}", hint="check the address, the model's name and the key"
        ) from error
    if not said.strip():
        raise ChatModelError("the model answered with nothing", hint="check that it is a chat model")
    return time.perf_counter() - started
