"""Readers' names for the folders of a root, and the folders that each role covers: `topics` and `roles` in the front
matter of the root's README.

---
topics:
  alignment: {zh: 对齐, en: Alignment}
roles:
  training: {zh: 训练, en: Training, topics: [alignment, data]}
---
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rag.language.language import Language
from rag.text.front_matter import fields_of

README = "README.md"
# A README with longer front matter uses it for something else.
MAX_CHARACTERS = 20_000

Titles = Mapping[str, Mapping[Language, str]]


@dataclass(frozen=True, slots=True)
class JobRole:
    """A job to interview for, and the folders that it covers."""

    titles: Mapping[Language, str]
    topics: frozenset[str]


def topic_titles(roots: Iterable[Path]) -> Titles:
    """Each folder's titles by its path below the root; the first root to name one wins."""
    found: dict[str, Mapping[Language, str]] = {}
    for root in roots:
        for folder, titles in _section(root / README, "topics").items():
            found.setdefault(folder, _titles(titles))
    return found


def roles_of(roots: Iterable[Path]) -> Mapping[str, JobRole]:
    """The roles by name; the first root to name one wins."""
    found: dict[str, JobRole] = {}
    for root in roots:
        for name, role in _section(root / README, "roles").items():
            if isinstance(topics := role.get("topics"), list):
                found.setdefault(name, JobRole(_titles(role), frozenset(map(str, topics))))
    return found


def topic_title(topic: str, titles: Titles, language: Language) -> str:
    return titles.get(topic, {}).get(language, topic)


def _titles(said: Mapping[str, object]) -> Mapping[Language, str]:
    return {name: str(said[name]) for name in Language if name in said}


def _section(readme: Path, name: str) -> Mapping[str, Mapping[str, object]]:
    """Empty if the README is unreadable."""
    try:
        with readme.open(encoding="utf-8") as file:
            text = file.read(MAX_CHARACTERS)
    except (OSError, UnicodeDecodeError):
        return {}
    section = fields_of(text)[0].get(name)
    entries = section.items() if isinstance(section, dict) else ()
    return {str(key): value for key, value in entries if isinstance(value, dict)}
