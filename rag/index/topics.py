"""What the folders of a root are called for readers: `topics` in the front matter of the README of the root.

---
topics:
  alignment: {zh: 对齐, en: Alignment}
---
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from rag.language.language import Language

README = "README.md"
FENCE = "---\n"
# A README whose front matter is longer has other things to say in it.
MAX_CHARACTERS = 20_000

Titles = Mapping[str, Mapping[Language, str]]


def topic_titles(roots: Iterable[Path]) -> Titles:
    """The titles of each folder by its path below the root; the first root that names one counts."""
    found: dict[str, Mapping[Language, str]] = {}
    for root in roots:
        for folder, titles in _topics(root / README).items():
            if isinstance(titles, dict):
                found.setdefault(str(folder), {name: str(titles[name]) for name in Language if name in titles})
    return found


def topic_title(topic: str, titles: Titles, language: Language) -> str:
    return titles.get(topic, {}).get(language, topic)


def _topics(readme: Path) -> Mapping[object, object]:
    """What cannot be read names nothing."""
    try:
        with readme.open(encoding="utf-8") as file:
            text = file.read(MAX_CHARACTERS)
    except (OSError, UnicodeDecodeError):
        return {}
    if not text.startswith(FENCE) or (end := text.find(f"\n{FENCE}", len(FENCE))) < 0:
        return {}
    try:
        front_matter = yaml.safe_load(text[len(FENCE) : end + 1])
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    topics = front_matter.get("topics") if isinstance(front_matter, dict) else None
    return topics if isinstance(topics, dict) else {}
