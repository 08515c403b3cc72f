"""The files beside the code that the browser runs."""

import json
from importlib.resources import files

from rag.answer.assistant import MAX_QUESTION_CHARACTERS
from rag.ui.texts import TEXTS, Texts

# The script of the chat; each may use what those before it define.
SCRIPTS = (
    "basics", "sources", "overlays", "quote_tip", "clicks", "search", "choosing", "keys", "shortcuts", "offering",
    "asking", "attaching", "toasts", "copying", "sharing", "packing", "importing", "speech", "address", "refresh",
)  # fmt: skip


def read_asset(name: str) -> str:
    return files("rag.ui").joinpath(name).read_text(encoding="utf-8")


def behaviour() -> str:
    """The script of the chat, and where it finds Gradio's own KaTeX; without that formulas stay as they are written."""
    names = sorted(file.name for file in files("gradio").joinpath("templates/frontend/assets").iterdir())
    values = {
        "KATEX": {end: f"assets/{name}" for name in names for end in ("js", "css") if _is_katex(name, end)},
        "WORDS": {texts.tag: _gradio_words(texts) for texts in TEXTS.values()},
        "MAX_QUESTION": MAX_QUESTION_CHARACTERS,
    }
    constants = [f"const {name} = {json.dumps(value, ensure_ascii=False)};" for name, value in values.items()]
    return "\n".join([*constants, *(read_asset(f"browser/{name}.js") for name in SCRIPTS)])


def _gradio_words(texts: Texts) -> dict[str, str]:
    """What Gradio says in English whatever the reader speaks, and what is said instead; and what is asked before
    something is gone for good."""
    return {
        "sure": texts.really,
        "Error": texts.toast_error,
        "Warning": texts.toast_warning,
        "Info": texts.toast_info,
        "Success": texts.toast_success,
        "Connection to the server was lost. Attempting reconnection...": texts.connection_lost,
    }


def _is_katex(name: str, end: str) -> bool:
    return name.startswith("katex-") and name.endswith(f".{end}")
