"""The page's texts, in Chinese and English: one TOML file per room, one line per text."""

import string
import tomllib
from collections.abc import Mapping
from pathlib import Path

from rag.language.language import Language

__all__ = [
    "GUIDE_TEXTS",
    "INSPECTOR_TEXTS",
    "LIBRARY_TEXTS",
    "MODEL_SETUP_TEXTS",
    "PRACTICE_TEXTS",
    "PREFERENCES_TEXTS",
    "QUALITY_TEXTS",
    "REVIEW_TEXTS",
    "TEXTS",
    "Language",
    "Texts",
    "language_of",
    "read_texts",
]
HERE = Path(__file__).parent


class Texts:
    """A room's texts in one language, each an attribute by its name; `str.format` fills `{…}`."""

    def __init__(self, room: str, texts: Mapping[str, str]) -> None:
        vars(self).update(texts, _room=room)

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"{vars(self).get('_room')} has no text {name!r}")


def read_texts(file: Path) -> dict[Language, Texts]:
    """The texts of a file in each language. Raises ValueError if one is missing in a language, or takes other values
    there."""
    rows = tomllib.loads(file.read_text(encoding="utf-8"))
    for name, said in rows.items():
        if set(said) != set(Language) or not all(said.values()):
            raise ValueError(f"{file.name}: {name} is not said in every language")
        if len({frozenset(_values(text)) for text in said.values()}) > 1:
            raise ValueError(f"{file.name}: {name} takes other values in each language")
    room = f"{file.parent.name}/{file.name}"
    return {language: Texts(room, {name: said[language] for name, said in rows.items()}) for language in Language}


def _values(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


TEXTS = read_texts(HERE / "texts.toml")
GUIDE_TEXTS = read_texts(HERE / "guide" / "texts.toml")
INSPECTOR_TEXTS = read_texts(HERE / "inspector" / "texts.toml")
LIBRARY_TEXTS = read_texts(HERE / "library" / "texts.toml")
REVIEW_TEXTS = read_texts(HERE / "library" / "review_texts.toml")
MODEL_SETUP_TEXTS = read_texts(HERE / "model_setup" / "texts.toml")
PRACTICE_TEXTS = read_texts(HERE / "practice" / "texts.toml")
PREFERENCES_TEXTS = read_texts(HERE / "preferences" / "texts.toml")
QUALITY_TEXTS = read_texts(HERE / "quality" / "texts.toml")


def language_of(accept_language: str) -> Language:
    """The interface language for an Accept-Language header: Chinese for Chinese readers and for an empty header.

    >>> language_of("en-GB,en;q=0.9,zh;q=0.8"), language_of("zh-TW"), language_of("")
    (<Language.EN: 'en'>, <Language.ZH: 'zh'>, <Language.ZH: 'zh'>)
    """
    first = accept_language.split(",")[0].strip().lower()
    return Language.ZH if not first or first.startswith(("zh", "*")) else Language.EN
