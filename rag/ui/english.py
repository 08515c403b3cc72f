"""What a document calls itself in English, where it says itself again in that language."""

import re
from collections.abc import Mapping, Sequence

from rag.types import Citation, translation_of

TITLE = re.compile(r"^##[ \t]+English[ \t]*\n\s*###[ \t]+([^\n]+)", re.MULTILINE)


def english_title(source: str) -> str:
    """The first heading of the English part; empty where there is none.

    >>> english_title("# 什么是 LoRA？\\n\\n## English\\n\\n### What is LoRA?\\nA method.")
    'What is LoRA?'
    """
    found = TITLE.search(source)
    return found[1].strip() if found else ""


def path_within(section: Sequence[str], *titles: str) -> list[str]:
    """The headings above a place, without those that are the title already or only say the language."""
    return [name for name in section if name not in titles and translation_of((name,)) is None]


def place_of(citation: Citation, names: Mapping[str, str]) -> str:
    """Where a quote stands: its page, and the headings below that. `names` are what those are called in the reader's
    language, where that is not the page's own; what has no name there is left out.

    >>> quote = Citation(1, "lora.md", "什么是 LoRA？", 0, 1, "A", section=("什么是 LoRA？", "要点"))
    >>> place_of(quote, {}), place_of(quote, {"什么是 LoRA？": "What is LoRA?"})
    ('什么是 LoRA？ › 要点', 'What is LoRA?')
    """
    path = [citation.title or citation.document, *citation.section]
    called = [names[name] for name in path if name in names]
    return " › ".join(dict.fromkeys(called or path))
