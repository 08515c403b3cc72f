"""The requirements for an answer: points with weights, and the mistakes that the material warns of.

A page may override the derived points: `rubric`, a list in its front matter, holds them word for word.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag.errors import UsageError
from rag.language.claim_marks import BEFORE_WRONG, CORRECTED
from rag.language.sentence_kinds import is_aside, is_claim, is_point, is_question
from rag.language.terms import CHINESE, LATIN_TERM, fold
from rag.practice.bank import Bank, Question, QuestionKind, below, english_sections
from rag.practice.pages import Page, PageUnit, SectionText, items_of
from rag.text.roles import SectionRole
from rag.text.sentences import UnitKind
from rag.types import Citation

ESSENTIAL, FURTHER = 2, 1
MOST_POINTS = 9
MOST_FURTHER = 4
FEWEST_POINTS = 3
# A claim is not new if one other claim, or all of them together, contain these shares of its characters and words.
SAID_BY_ONE = 0.6
SAID_BY_ALL = 0.75
CHARACTER_OR_WORD = re.compile(rf"{CHINESE}|{LATIN_TERM}")
QUOTED_WHOLE = re.compile(r"[“「]([^”」]+)[”」][。.]?")


@dataclass(frozen=True, slots=True)
class Point:
    """A claim that an answer must make, word for word from the source; `english` says the same, if the page does."""

    citation: Citation
    weight: int
    english: Citation | None = None

    @property
    def text(self) -> str:
        return self.citation.quote


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong claim that the material corrects, and the right one."""

    wrong: Citation
    right: Citation


@dataclass(frozen=True, slots=True)
class Rubric:
    """The points of a question, in order of weight, and the mistakes of its page. `question` is its text, `passages`
    are the numbers of its page in the index."""

    question_id: str
    question: str
    points: tuple[Point, ...]
    mistakes: tuple[Mistake, ...]
    passages: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The question and its points."""
        english = (point.english.quote for point in self.points if point.english)
        return "\n".join([self.question, *(point.text for point in self.points), *english])


def rubric_of(bank: Bank, question: Question) -> Rubric:
    """The rubric of a question: from the page's front matter if present, else derived from its sections. Raises
    UsageError if the front matter names a point that the page does not state."""
    page = bank.pages[question.document]
    is_page = question.kind is QuestionKind.PAGE
    points = (_written(page) or _of_page(page)) if is_page else _of_section(page, question)
    return Rubric(question.id, question.text, tuple(points), tuple(mistakes_of(page)), page.passages)


def mistakes_of(page: Page) -> Iterator[Mistake]:
    """The mistakes that a page corrects."""
    for section in below(page, SectionRole.MISTAKES):
        for item in items_of(page, section.units):
            if (found := CORRECTED.fullmatch(item.quote)) is None:
                continue
            start = item.start + (BEFORE_WRONG.match(item.quote) or found).end() * bool(BEFORE_WRONG.match(item.quote))
            wrong = page.slice(start, item.start + found.end("wrong"), item.section)
            if quoted := QUOTED_WHOLE.fullmatch(wrong.quote):
                wrong = page.slice(wrong.start + quoted.start(1), wrong.start + quoted.end(1), item.section)
            if wrong.quote:
                yield Mistake(wrong, page.slice(item.start + found.start("right"), item.end, item.section))


def _written(page: Page) -> list[Point]:
    """The points in the front matter, each at its place on the page."""
    points = []
    for text in page.outline.rubric:
        start = page.source.find(text, page.outline.body_start)
        if not text.strip() or start < 0:
            raise UsageError(
                f"{page.document}: the rubric in its front matter names what the page does not say: {text[:80]!r}",
                hint="copy each point word for word from the text of the page",
            )
        path = next((s.path for s in reversed(page.sections) if s.start <= start), ())
        points.append(Point(page.slice(start, start + len(text), path), ESSENTIAL))
    return points


def _of_page(page: Page) -> list[Point]:
    """The key points, the short answer if none of them states it, then claims of the sections."""
    items = [item for section in below(page, SectionRole.POINTS) for item in items_of(page, section.units)]
    points = _with_english(page, [item for item in items if not is_question(item.quote)])
    short = below(page, SectionRole.SHORT_ANSWER)[:1]
    if short and points:
        whole = page.slice(short[0].start, short[0].end, short[0].path)
        if is_claim(whole.quote) and not _is_said(whole, [point.citation for point in points]):
            points.insert(0, Point(whole, ESSENTIAL))
    elif short:
        points = [Point(claim, ESSENTIAL) for claim in _claims(short[0].units)]
    detailed = below(page, SectionRole.DETAIL)
    further = _claims_in_turn([text for text in detailed if text.section.role is None] or detailed)
    most = MOST_FURTHER if len(points) >= FEWEST_POINTS else MOST_POINTS
    for claim in further:
        if most <= 0 or len(points) >= MOST_POINTS:
            break
        if not _is_said(claim, [point.citation for point in points]):
            points.append(Point(claim, FURTHER))
            most -= 1
    return points


def _of_section(page: Page, question: Question) -> list[Point]:
    """The claims under a heading."""
    sections = [s for s in page.sections if question.answer.start <= s.start < question.answer.end]
    units = [unit for section in sections for unit in section.units]
    claims = list(_claims(units, leaning=True))
    if not claims:  # an answer of a few words, or of a table or formula alone
        claims = [unit.citation for unit in units][:1]
    english = (
        next((s for s in english_sections(page) if s.heading == question.english), None) if question.english else None
    )
    same = list(_claims(english.units, leaning=True)) if english is not None else []
    pairs = dict(enumerate(same)) if len(same) == len(claims) else {}
    whole = page.slice(english.start, english.end, english.path) if english is not None else None
    points = [
        Point(claim, ESSENTIAL, pairs.get(number, whole if len(claims) == 1 else None))
        for number, claim in enumerate(claims)
    ]
    return ([point for point in points if not is_aside(point.text)] or points)[:MOST_POINTS]


def _with_english(page: Page, items: Sequence[Citation]) -> list[Point]:
    """The points, each beside the same item of the English part, if that has as many."""
    english = english_sections(page)[:1]
    same = [item for section in english for item in items_of(page, section.units)]
    if len(same) != len(items) or not _go_together(items, same):
        return [Point(item, ESSENTIAL) for item in items]
    return [Point(item, ESSENTIAL, other) for item, other in zip(items, same, strict=True)]


def _go_together(items: Sequence[Citation], others: Sequence[Citation]) -> bool:
    """Whether no item shares more names and numbers with the other text of another item than with its own."""
    left, right = ([set(re.findall(LATIN_TERM, fold(one.quote))) for one in texts] for texts in (items, others))
    counts = Counter(term for one in left for term in one)
    left = [{term for term in one if counts[term] == 1} for one in left]  # terms of several items distinguish none
    return all(len(one & right[place]) >= max(len(one & other) for other in right) for place, one in enumerate(left))


def _claims(units: Iterable[PageUnit], *, leaning: bool = False) -> Iterator[Citation]:
    """The sentences that make a claim; with `leaning` also those that lean on the one before them."""
    for unit in units:
        claims = is_claim if leaning else is_point
        if unit.kind is UnitKind.SENTENCE and claims(unit.citation.quote):
            yield unit.citation


def _claims_in_turn(sections: Sequence[SectionText]) -> list[Citation]:
    """The first claim of each section, then the second of each, and so on: the first sums its section up."""
    claims = [list(_claims(section.units)) for section in sections]
    return [column[row] for row in range(max(map(len, claims), default=0)) for column in claims if row < len(column)]


def _is_said(claim: Citation, others: Sequence[Citation]) -> bool:
    """Whether one of the others, or all of them together, hold most of a claim."""
    wanted = set(CHARACTER_OR_WORD.findall(fold(claim.quote)))
    held = [set(CHARACTER_OR_WORD.findall(fold(other.quote))) & wanted for other in others]
    if not wanted or not held:
        return not wanted
    most, together = max(map(len, held)), len(set().union(*held))
    return most >= SAID_BY_ONE * len(wanted) or together >= SAID_BY_ALL * len(wanted)
