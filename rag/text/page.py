"""A page as it was read: its sections, what each is for, and what its front matter says of it.

A document is read once, at ingest. Afterwards nobody compares its headings with names: they read these fields.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from rag.language.claim_marks import LISTS_MISTAKES
from rag.language.language import Language, has_chinese
from rag.text.front_matter import DateField
from rag.text.roles import SectionRole, english_name, role_of, translation_of


@dataclass(frozen=True, slots=True)
class PageSection:
    """The text directly under a heading. `path` are the headings above it, outermost first, its own last; it is empty
    for the text above all headings. `roles` are theirs, in parallel. `language` is that of a translation, None for the
    page's own. `lists_mistakes` means that it states what is wrong, beside what is right. It begins at `start` of the
    source. `english` is the heading's English name, empty if there is none."""

    path: tuple[str, ...] = ()
    roles: tuple[SectionRole | None, ...] = ()
    language: Language | None = None
    lists_mistakes: bool = False
    start: int = 0
    english: str = ""

    @classmethod
    def under(cls, path: Sequence[str], start: int = 0) -> "PageSection":
        lists_mistakes = any(map(LISTS_MISTAKES.search, path))
        return cls(tuple(path), tuple(map(role_of, path)), translation_of(path), lists_mistakes, start)

    def labelled(self, label: str) -> "PageSection":
        """The part of the section below a line that is a heading by itself."""
        if not label or label in self.path:
            return self
        return replace(self.under((*self.path, label), self.start), language=self.language)

    @property
    def heading(self) -> str:
        return self.path[-1] if self.path else ""

    @property
    def role(self) -> SectionRole | None:
        return self.roles[-1] if self.roles else None


def english_of(heading: str) -> str:
    """The English name of a heading, empty if there is none."""
    role = role_of(heading)
    return english_name(role) if role is not None else "" if has_chinese(heading) else heading


def names_a_language(heading: str) -> bool:
    """Whether a heading is that of a translation."""
    return translation_of((heading,)) is not None


@dataclass(frozen=True, slots=True)
class FollowUps:
    """The questions of a section of follow-ups whose heading ends at `heading_end` of the source."""

    heading_end: int
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """What was read of a page beside its passages. The blocks of these name their sections by number.

    The text begins at `body_start` of the source, after the front matter; `rubric`, `dated` and `date_field` are that
    of the front matter. `english` is the page's title in English, empty if there is none. `code` are the places of its
    code in the source.
    """

    sections: tuple[PageSection, ...] = (PageSection(),)
    body_start: int = 0
    english: str = ""
    follow_ups: tuple[FollowUps, ...] = ()
    code: tuple[tuple[int, int], ...] = ()
    rubric: tuple[str, ...] = ()
    dated: date | None = None
    date_field: DateField | None = None

    @property
    def english_names(self) -> Mapping[str, str]:
        """English names of the headings, empty for those without one."""
        return {section.heading: section.english for section in self.sections}


class SourcePage(NamedTuple):
    """The source text of a document, and what was read of it."""

    source: str
    outline: Outline


PageOf = Callable[[str], SourcePage | None]
"""The page of a document by its name; None if there is none."""
