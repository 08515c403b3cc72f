"""The texts of the chat model setup."""

from pathlib import Path

from rag.ui.texts import read_texts

TEXTS = read_texts(Path(__file__).with_suffix(".toml"))
