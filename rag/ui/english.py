"""English names of documents that have an English part."""

from collections.abc import Mapping, Sequence

from rag.text.page import Outline, english_of, names_a_language
from rag.types import Citation


def english_path(section: Sequence[str], outline: Outline) -> tuple[str, ...]:
    """The headings above a place by the page's English names; omits those without one."""
    names = outline.english_names
    called = (names.get(heading) or english_of(heading) for heading in section)
    return tuple(filter(None, called))


def path_within(section: Sequence[str], *titles: str) -> list[str]:
    """The headings above a place, without those that repeat the title or only name the language."""
    return [name for name in section if name not in titles and not names_a_language(name)]


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
