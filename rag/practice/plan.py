"""Today's practice: due and weak questions, and the most asked new ones, spread over the days until an interview."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from hashlib import sha256
from math import ceil

from rag.practice.bank import Bank, Question, QuestionKind
from rag.practice.schedule import Card, CardReview, Knowledge, due_cards, knowledge_of

# Questions of a day without an interview date, and the most for any day. However many are due, a fourth of them is new,
# and half before an interview.
DAILY, MOST_DAILY = 20, 40


@dataclass(frozen=True, slots=True)
class Plan:
    """A reader's plan: the day of the interview, a role by its name ("": all topics), and whether to ask follow-ups
    too."""

    interview: date | None = None
    role: str = ""
    deep: bool = False


@dataclass(frozen=True, slots=True)
class Today:
    """The rest of today, most urgent first: known and `due`, `weak`, and `new`. `done` counts what was practised today;
    `days` are those until the interview, today included, None without a future one. `new_a_day` is the number of new
    questions that this requires, `new_left` the number left."""

    due: tuple[str, ...]
    weak: tuple[str, ...]
    new: tuple[str, ...]
    done: int
    days: int | None
    new_a_day: int
    new_left: int

    @property
    def questions(self) -> tuple[str, ...]:
        return (*self.due, *self.weak, *self.new)

    @property
    def count(self) -> int:
        """The total for the day."""
        return self.done + len(self.questions)

    @property
    def reached(self) -> int:
        """How many of the new questions fit in before the interview."""
        return min(self.new_left, MOST_DAILY * (self.days or 1))


def today(
    bank: Bank,
    plan: Plan,
    topics: frozenset[str] | None,
    cards: Mapping[str, Card],
    reviews: Sequence[CardReview],
    now: datetime,
    zone: tzinfo,
) -> Today:
    """The day of a plan in the reader's time zone; `topics` are those of its role, None for all. `reviews` produce
    `cards`."""
    day = now.astimezone(zone).date()
    first_days: dict[str, date] = {}
    done = set()
    for review in reviews:
        reviewed_on = review.at.astimezone(zone).date()
        first_days.setdefault(review.question_id, reviewed_on)
        if reviewed_on == day:
            done.add(review.question_id)
    asked = {q.id: q for q in bank.questions.values() if topics is None or q.topic in topics}
    seen = [card for card in cards.values() if card.question_id in asked and card.question_id not in done]
    weak = [card for card in seen if knowledge_of(card) is Knowledge.SHAKY]
    due = [c.question_id for c in due_cards(bank, cards, now) if c in seen and knowledge_of(c) is Knowledge.KNOWN]
    new = [q for q in asked.values() if q.id not in cards and (plan.deep or q.kind is not QuestionKind.FOLLOW_UP)]
    begun_today = sum(first_days.get(name) == day for name in done & asked.keys())
    days = (plan.interview - day).days if plan.interview is not None and plan.interview > day else None
    new_a_day = DAILY if days is None else ceil((len(new) + begun_today) / days)
    left = (DAILY if days is None else MOST_DAILY) - len(done)
    urgent = [*due, *(card.question_id for card in sorted(weak, key=lambda card: (card.stability, card.question_id)))]
    for_new = max(left - len(urgent), left // (2 if days else 4))
    wanted = max(0, min(for_new, new_a_day - begun_today, len(new)))
    urgent = urgent[: max(0, left - wanted)]
    chosen = sorted(new, key=lambda question: _place(bank, question))[:wanted]
    return Today(
        tuple(urgent[: len(due)]), tuple(urgent[len(due) :]), tuple(q.id for q in chosen), len(done), days, new_a_day,
        len(new),
    )  # fmt: skip


def _place(bank: Bank, question: Question) -> tuple[bool, int, str]:
    """The most asked first: those for which their page lists the most wordings. Equals are shuffled, so that an evening
    has several topics."""
    mixed = sha256(question.id.encode()).hexdigest()
    return question.kind is QuestionKind.FOLLOW_UP, -len(bank.pages[question.document].asked_as), mixed
