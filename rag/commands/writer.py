"""The writer of a command's answers."""

import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rag.settings import ChatModelName, Settings

if TYPE_CHECKING:
    from rag.answer.assistant import Assistant


def open_assistant(settings: Settings) -> "Assistant":
    """Uses the chat model set up on the page if the settings name no endpoint. Reports on stderr which chat model
    writes, if any."""
    from rag.answer.assistant import Assistant

    assistant = Assistant.open(settings, kept=True)
    if assistant.model_name:
        sys.stderr.write(f"{assistant.model_name} writes the answers ({_where(assistant, settings)})\n")
        sys.stderr.flush()
    return assistant


def _where(assistant: "Assistant", stated: Settings) -> str:
    if assistant.llm is not ChatModelName.ENDPOINT:
        return str(assistant.llm)
    host = urlsplit(assistant.settings.endpoint_url).netloc
    if stated.endpoint_url:
        return f"at {host}"
    return f"at {host}, set up on the page; another: --llm NAME"


def only_chosen(settings: Settings) -> Settings:
    """For a client with its own model: allows a chat model that somebody chose in the settings or on the page, but none
    that merely happens to be on this machine."""
    from rag.chat_models.stored_endpoint import with_kept

    if settings.llm is ChatModelName.AUTO and not with_kept(settings).endpoint_url:
        return settings.model_copy(update={"llm": ChatModelName.EXTRACTIVE})
    return settings
