"""The words that the program recognises, as data: `zh.toml` and `en.toml`, in sections of entries.

An entry is either words or phrases separated by commas, of which English ones match only whole, or a list of patterns,
where words do not suffice. `{name}` stands for another entry of its section in the same language.

>>> either("pointing", "latter")
'(?:后者|\\\\b(?:the latter)\\\\b)'
"""

import re
import tomllib
from functools import cache
from pathlib import Path

from rag.language.language import Language

NAMED = re.compile(r"\{([a-z_]+)\}")
BETWEEN_WORDS = re.compile(r",\s+")


@cache
def either(section: str, entry: str, *, only: Language | None = None) -> str:
    """A pattern for an entry in both languages, or in one. Raises KeyError if neither has it."""
    languages = (only,) if only else tuple(Language)
    said = [_joined(language, section, entry) for language in languages if entry in _lexicon(language)[section]]
    if not said:
        raise KeyError(f"the lexicon has no {entry!r} in [{section}]")
    return f"(?:{'|'.join(said)})"


def told_by(section: str, entry: str, flags: int = 0, *, only: Language | None = None) -> re.Pattern[str]:
    return re.compile(either(section, entry, only=only), flags)


def each(section: str, entry: str) -> tuple[str, ...]:
    """The patterns that an entry lists in both languages, one by one."""
    return tuple(
        _expanded(language, section, pattern)
        for language in Language
        for pattern in _lexicon(language)[section].get(entry, ())
    )


def _joined(language: Language, section: str, entry: str) -> str:
    written = _lexicon(language)[section][entry]
    if isinstance(written, list):
        return _expanded(language, section, "|".join(written))
    words = "|".join(BETWEEN_WORDS.split(written.strip()))
    return rf"\b(?:{words})\b" if language is Language.EN else words


def _expanded(language: Language, section: str, pattern: str) -> str:
    return NAMED.sub(lambda name: f"(?:{_joined(language, section, name[1])})", pattern)


@cache
def _lexicon(language: Language) -> dict[str, dict[str, str | list[str]]]:
    return tomllib.loads(Path(__file__).with_name(f"{language}.toml").read_text(encoding="utf-8"))
