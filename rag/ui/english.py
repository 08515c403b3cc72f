"""English names of documents that have an English part."""

import re
from collections.abc import Mapping, Sequence

from rag.language.language import Language, has_chinese
from rag.text.roles import SectionRole, english_name, role_of
from rag.types import Citation, translation_of

HEADING = re.compile(r"^(##|###)[ \t]+([^\n]*\S)", re.MULTILINE)
TITLE = re.compile(r"^##[ \t]+English[ \t]*\n\s*###[ \t]+([^\n]+)", re.MULTILINE)


def english_title(source: str) -> str:
    """The first heading of the English part; empty if there is none.

    >>> english_title("# 什么是 LoRA？\\n\\n## English\\n\\n### What is LoRA?\\nA method.")
    'What is LoRA?'
    """
    found = TITLE.search(source)
    return found[1].strip() if found else ""


def english_path(source: str, section: Sequence[str]) -> tuple[str, ...]:
    """The headings above a place by the page's English names; omits those without one.

    >>> page = "# 什么是 LoRA？\\n## 追问\\n### 秩多大？\\n8。\\n## English\\n### What is LoRA?\\n### Which rank?\\n8."
    >>> english_path(page, ("什么是 LoRA？", "追问", "秩多大？")), english_path(page, ("什么是 LoRA？", "细节"))
    (('Follow-ups', 'Which rank?'), ())
    """
    names = _english_names(source)

    def called(heading: str) -> str:
        if (role := role_of(heading)) is not None:
            return english_name(role)
        return names.get(heading, "" if has_chinese(heading) else heading)

    return tuple(filter(None, map(called, section)))


def _english_names(source: str) -> dict[str, str]:
    """English names of the follow-ups, if a page repeats all of them in English."""
    asked: list[str] = []
    english: list[str] = []
    part = ""
    for depth, heading in HEADING.findall(source):
        if depth == "##":
            part = heading
        elif role_of(part) is SectionRole.FOLLOW_UPS:
            asked.append(heading)
        elif translation_of((part,)) is Language.EN and role_of(heading) is not SectionRole.SPOKEN:
            english.append(heading)
    return dict(zip(asked, english[1:], strict=False)) if len(english) > len(asked) else {}


def path_within(section: Sequence[str], *titles: str) -> list[str]:
    """The headings above a place, without those that repeat the title or only name the language."""
    return [name for name in section if name not in titles and translation_of((name,)) is None]


def place_of(citation: Citation, names: Mapping[str, str]) -> str:
    """The place of a quote: its page, and the headings below that. `names` are their names in the reader's language, if
    that is not the page's own; omits what has no name there.

    >>> quote = Citation(1, "lora.md", "什么是 LoRA？", 0, 1, "A", section=("什么是 LoRA？", "要点"))
    >>> place_of(quote, {}), place_of(quote, {"什么是 LoRA？": "What is LoRA?"})
    ('什么是 LoRA？ › 要点', 'What is LoRA?')
    """
    path = [citation.title or citation.document, *citation.section]
    called = [names[name] for name in path if name in names]
    return " › ".join(dict.fromkeys(called or path))
