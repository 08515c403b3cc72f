"""The files beside the code that the browser runs."""

import json
from importlib.resources import files


def read_asset(name: str) -> str:
    return files("rag.ui").joinpath(name).read_text(encoding="utf-8")


def behaviour() -> str:
    """The script of the chat, and where it finds Gradio's own KaTeX; without that formulas stay as they are written."""
    names = sorted(file.name for file in files("gradio").joinpath("templates/frontend/assets").iterdir())
    found = {end: f"assets/{name}" for name in names for end in ("js", "css") if _is_katex(name, end)}
    return f"const KATEX = {json.dumps(found)};\n{read_asset('behaviour.js')}"


def _is_katex(name: str, end: str) -> bool:
    return name.startswith("katex-") and name.endswith(f".{end}")
