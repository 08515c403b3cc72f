"""The possible writers of answers, and why some cannot be used: a list below the choice, whose attribute also greys out
the choices."""

from collections.abc import Sequence
from urllib.parse import urlparse

from rag.chat_models.local import LOCAL_MODEL
from rag.chat_models.local_server import is_installed
from rag.paths import PROGRAM
from rag.settings import ChatModelName, Settings
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("preferences/states.html")


def states_html(settings: Settings, usable: Sequence[ChatModelName], texts: Texts, *, may_change: bool) -> str:
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
