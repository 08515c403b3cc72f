"""The files beside the code that the browser runs."""

import json
from importlib.resources import files
from pathlib import Path

from rag.answer.assistant import MAX_QUESTION_CHARACTERS
from rag.ui.texts import TEXTS, Texts

# The chat's scripts; each may use what earlier ones define.
SCRIPTS = (
    "basics", "sources", "overlays", "quote_tip", "clicks", "search", "choosing", "tagging", "keys", "shortcuts",
    "offering", "asking", "attaching", "toasts", "copying", "sharing", "packing", "importing", "speech", "address",
    "refresh",
)  # fmt: skip

STYLES = tuple(
    Path(__file__).parent / name
    for name in (
        "style.css", "screens.css", "page.css",
        "library/style.css", "inspector/style.css", "quality/style.css", "preferences/style.css",
        "practice/style.css", "practice/grade.css", "model_setup/style.css",
    )
)  # fmt: skip


def read_asset(name: str) -> str:
    return files("rag.ui").joinpath(name).read_text(encoding="utf-8")


def behaviour() -> str:
    """The chat's script, and the path of Gradio's own KaTeX; without it formulas stay unrendered."""
    names = sorted(file.name for file in files("gradio").joinpath("templates/frontend/assets").iterdir())
    values = {
        "KATEX": {end: f"assets/{name}" for name in names for end in ("js", "css") if _is_katex(name, end)},
        "WORDS": {texts.tag: _gradio_words(texts) for texts in TEXTS.values()},
        "MAX_QUESTION": MAX_QUESTION_CHARACTERS,
    }
    constants = [f"const {name} = {json.dumps(value, ensure_ascii=False)};" for name, value in values.items()]
    return "\n".join([*constants, *(read_asset(f"browser/{name}.js") for name in SCRIPTS)])


def _gradio_words(texts: Texts) -> dict[str, str]:
    """Gradio's English-only messages with their translations, and the question asked before a permanent deletion."""
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
