"""The purpose and the language of a section, from its heading: the one place that compares headings with names."""

from collections.abc import Sequence
from enum import StrEnum

from rag.language.language import Language


class SectionRole(StrEnum):
    """The parts of a page that answers one question."""

    SHORT_ANSWER = "short_answer"
    SPOKEN = "spoken"
    """The answer as one would say it aloud, in a minute or two."""
    POINTS = "points"
    TERMS = "terms"
    """What names mean, each defined under a heading of its own."""
    DETAIL = "detail"
    CODE = "code"
    FOLLOW_UPS = "follow_ups"
    MISTAKES = "mistakes"


HEADINGS = {
    SectionRole.SHORT_ANSWER: ("一句话回答", "in one sentence", "tl;dr"),
    SectionRole.SPOKEN: ("口述", "say it"),
    SectionRole.POINTS: ("要点", "key points"),
    SectionRole.TERMS: ("名词", "名词解释", "术语", "术语表", "terms", "glossary", "terminology", "definitions"),
    SectionRole.DETAIL: ("展开", "in detail", "details"),
    SectionRole.CODE: ("代码", "code"),
    SectionRole.FOLLOW_UPS: ("追问", "常见追问", "follow-ups", "follow-up questions"),
    SectionRole.MISTAKES: ("常见错误", "常见误解", "common mistakes"),
}
ROLES = {heading: role for role, headings in HEADINGS.items() for heading in headings}
# A section with this name translates its page.
TRANSLATIONS = {"english": Language.EN, "in english": Language.EN, "中文": Language.ZH, "中文版": Language.ZH}
# Answers the question of a page as a whole.
WHOLE_ANSWERS = frozenset({SectionRole.SHORT_ANSWER, SectionRole.SPOKEN})


def role_of(heading: str) -> SectionRole | None:
    """None for a heading that only describes its content."""
    return ROLES.get(heading.strip().lower())


def english_name(role: SectionRole) -> str:
    """The English heading for a role.

    >>> english_name(SectionRole.MISTAKES)
    'Common mistakes'
    """
    return next(name for name in HEADINGS[role] if name.isascii()).capitalize()


def translation_of(path: Sequence[str]) -> Language | None:
    """The language of a section that translates its page, by the path of headings above it; None for the page's own
    language."""
    return next((TRANSLATIONS[name.lower()] for name in path if name.lower() in TRANSLATIONS), None)
