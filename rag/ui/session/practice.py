"""A reader's position in the practice room. Holds facts, not HTML; what must outlive the page is in the store."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rag.practice.bank import Question
from rag.practice.grading import Grade
from rag.practice.rounds import TrueFalseStatement

# Questions that are listed at first, and added each time the reader asks for more.
MORE = 40


class View(StrEnum):
    """What the room shows, in the order of its navigation; a question is reached from the others."""

    TODAY = "today"
    BANK = "bank"
    RECALL = "recall"
    STATEMENTS = "statements"
    INTERVIEW = "interview"
    PROGRESS = "progress"
    EXPORTS = "exports"
    QUESTION = "question"


class Standing(StrEnum):
    """Which questions are listed or dealt."""

    ALL = "all"
    NEW = "new"
    SHAKY = "shaky"
    KNOWN = "known"
    DUE = "due"


class Reveal(StrEnum):
    """How much of a card's answer is shown."""

    NOTHING = "nothing"
    SHORT = "short"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Filter:
    """`topic` None means every topic; `seed` shuffles unless it is 0; at most `most` rows are shown."""

    words: str = ""
    topic: str | None = None
    standing: Standing = Standing.ALL
    bookmarked: bool = False
    seed: int = 0
    most: int = MORE


@dataclass(slots=True)
class Practice:
    """`is_open` is set once the room was entered: nothing is shown before that. `has_acted` is set once the reader has
    done something in it. `renders` counts what was rendered, so that every view has a name of its own.

    `queue` are the questions that "next" leads through, `back` is where they were chosen. `grade` is the grader's
    result, without the reader's own verdicts; `grades` counts the grades. `deck` are the cards still to be rated, the
    first one being shown. `statements` are judged one after the other, `judged` are the verdicts so far; `is_told`
    means that the last one is still shown; `sitting` identifies this set of cards or statements. `round_id` is the open
    interview or report. `editions` are the last stored ones of each box, by its field and question.
    """

    view: View = View.TODAY
    is_open: bool = False
    has_acted: bool = False
    zone: str = ""
    renders: int = 0
    filter: Filter = field(default_factory=Filter)
    queue: tuple[str, ...] = ()
    back: View = View.BANK
    question: str = ""
    grade: Grade | None = None
    grades: int = 0
    deck: tuple[str, ...] = ()
    dealt: int = 0
    reveal: Reveal = Reveal.NOTHING
    statements: tuple[TrueFalseStatement, ...] = ()
    judged: tuple[bool, ...] = ()
    is_told: bool = False
    sitting: str = ""
    round_id: str = ""
    editions: dict[tuple[str, str], int] = field(default_factory=dict)

    def place(self, question: Question) -> int:
        """The position of a question, or of its page's question, in the queue, from 1; 0 if it is not there."""
        return next((self.queue.index(name) + 1 for name in (question.id, question.parent) if name in self.queue), 0)

    @property
    def time_zone(self) -> tzinfo:
        return zone_of(self.zone)

    def today(self, moment: datetime) -> datetime:
        """A moment on the reader's clock."""
        return moment.astimezone(self.time_zone)


def zone_of(name: str) -> tzinfo:
    """The time zone that the browser names; this machine's if that is unknown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return datetime.now().astimezone().tzinfo or UTC
