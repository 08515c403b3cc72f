"""What the program says, in Chinese and English: TOML files with a line for each text."""

import string
import tomllib
from collections.abc import Mapping
from pathlib import Path

from rag.language.language import Language


class Texts:
    """A file's texts in one language, each an attribute by its name; `str.format` fills `{…}`."""

    def __init__(self, file: str, texts: Mapping[str, str]) -> None:
        vars(self).update(texts, _file=file)

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"{vars(self).get('_file')} has no text {name!r}")


def read_texts(file: Path) -> dict[Language, Texts]:
    """The texts of a file in each language. Raises what `read_by_name` raises."""
    name = f"{file.parent.name}/{file.name}"
    return {language: Texts(name, said) for language, said in read_by_name(file).items()}


def read_by_name(file: Path) -> dict[Language, dict[str, str]]:
    """The texts of a file by their names, in each language. Raises ValueError if one is missing in a language, or takes
    other values there."""
    rows = tomllib.loads(file.read_text(encoding="utf-8"))
    for name, said in rows.items():
        if set(said) != set(Language) or not all(said.values()):
            raise ValueError(f"{file.name}: {name} is not said in every language")
        if len({frozenset(_values(text)) for text in said.values()}) > 1:
            raise ValueError(f"{file.name}: {name} takes other values in each language")
    return {language: {name: said[language] for name, said in rows.items()} for language in Language}


def _values(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}
