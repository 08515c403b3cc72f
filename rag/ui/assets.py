"""The files beside the code that the browser runs."""

from importlib.resources import files


def read_asset(name: str) -> str:
    return files("rag.ui").joinpath(name).read_text(encoding="utf-8")
