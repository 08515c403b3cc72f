"""What a document calls itself in English, where it says itself again in that language."""

import re
from collections.abc import Sequence

from rag.types import translation_of

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
