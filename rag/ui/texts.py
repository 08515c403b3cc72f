"""The page's texts, in Chinese and English: one TOML file per room, one line per text."""

from pathlib import Path

from rag.language.language import Language
from rag.language.texts import Texts, read_texts

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
