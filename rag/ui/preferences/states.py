"""Who could write answers, and why some cannot: a list under the choice, whose attribute greys the choice too."""

from collections.abc import Sequence
from html import escape
from urllib.parse import urlparse

from rag.chat_models.local import LOCAL_MODEL
from rag.chat_models.local_server import is_installed
from rag.paths import PROGRAM
from rag.settings import ChatModelName, Settings
from rag.ui.texts import Texts


def states_html(settings: Settings, usable: Sequence[ChatModelName], texts: Texts, *, may_change: bool) -> str:
    names = [name for name in ChatModelName if name is not ChatModelName.AUTO]
    rows = []
    for name in names:
        can = name in usable
        state = texts.can_write if can else texts.cannot_write
        mark = "" if can else ' class="unusable"'
        about = _model(name, settings) if can else way_out(name, texts, may_change=may_change)
        rows.append(
            f"<li{mark}><b>{escape(getattr(texts, f'llm_{name}'))}</b> "
            f'<span class="mark">{escape(state)}</span> {escape(about)}</li>'
        )
    unusable = " ".join(name for name in names if name not in usable)
    return f'<ul class="answerers" data-unusable="{unusable}">{"".join(rows)}</ul>'


def way_out(name: ChatModelName, texts: Texts, *, may_change: bool) -> str:
    """Why one cannot write, as far as a glance can tell, and what to do."""
    if name is ChatModelName.LOCAL and not is_installed():
        return texts.way_package.format(command=install_command())
    if name in (ChatModelName.LOCAL, ChatModelName.ENDPOINT) and not may_change:
        return texts.way_owner
    return str(getattr(texts, f"way_{name}", ""))


def install_command() -> str:
    """What installs the package that runs the local model, in a checkout and elsewhere."""
    return "make llm" if (PROGRAM / "Makefile").is_file() else "pip install 'interview-rag[local]'"


def _model(name: ChatModelName, settings: Settings) -> str:
    match name:
        case ChatModelName.LOCAL:
            return LOCAL_MODEL
        case ChatModelName.ENDPOINT:
            return f"{settings.endpoint_model} · {urlparse(settings.endpoint_url).hostname}"
        case _:
            return ""
