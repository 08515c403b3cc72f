"""What a day asks for: due, weak, then the most asked of what is new, spread over the days that are left."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from rag.practice.bank import Bank, QuestionKind
from rag.practice.plan import DAILY, MOST_DAILY, Plan, Today, today
from rag.practice.schedule import CardReview, Rating, rebuilt
from tests.rag.practice.pages import CACHE_ID, GQA_ID

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def day(
    bank: Bank, reviews: Sequence[CardReview] = (), plan: Plan | None = None, topics: frozenset[str] | None = None
) -> Today:
    return today(bank, plan or Plan(), topics, rebuilt(reviews), reviews, NOW, UTC)


def many(bank: Bank, count: int) -> Bank:
    """A bank of so many questions, of which the later ones are asked in more ways."""
    page, question = bank.pages[bank.questions[CACHE_ID].document], bank.questions[CACHE_ID]
    pages = {str(n): replace(page, asked_as=("?",) * n) for n in range(count)}
    return Bank({str(n): replace(question, id=str(n), document=str(n), follow_ups=()) for n in range(count)}, pages)


def test_due_comes_before_weak_before_new(bank: Bank) -> None:
    long_ago, lately = NOW - timedelta(days=400), NOW - timedelta(days=1)
    new = day(bank).questions
    assert not any(bank.questions[name].kind is QuestionKind.FOLLOW_UP for name in new)
    known = [CardReview(CACHE_ID, long_ago + timedelta(days=days), Rating.EASY) for days in (0, 1)]
    found = day(bank, [*known, CardReview(GQA_ID, lately, Rating.AGAIN)])
    assert (found.due, found.weak) == ((CACHE_ID,), (GQA_ID,))
    assert set(found.new) == {*new} - {CACHE_ID, GQA_ID}
    assert found.questions[:2] == (CACHE_ID, GQA_ID)
    done = day(bank, [*known, CardReview(GQA_ID, NOW, Rating.AGAIN)])  # practised today: not once more
    assert (done.done, done.weak) == (1, ())
    assert done.count == found.count


def test_follow_ups_and_roles_are_as_the_plan_says(bank: Bank) -> None:
    topic = bank.questions[CACHE_ID].topic
    deep = day(bank, plan=Plan(deep=True), topics=frozenset({topic})).questions
    assert {*deep} == {q.id for q in bank.questions.values() if q.topic == topic}
    assert day(bank, topics=frozenset()).questions == ()


def test_the_days_to_the_interview_share_what_is_new(bank: Bank) -> None:
    large = many(bank, 90)
    assert day(large).questions[0] == "89"  # the most asked
    assert (day(large).count, day(large).days) == (DAILY, None)
    ten_days = Plan(date(2026, 12, 2))
    begun = [CardReview("89", NOW, Rating.GOOD), CardReview("88", NOW, Rating.GOOD)]
    assert [day(large, some, ten_days).count for some in ([], begun)] == [9, 9]
    tomorrow = day(large, plan=Plan(date(2026, 11, 23)))
    assert (tomorrow.days, tomorrow.new_a_day, tomorrow.count) == (1, 90, MOST_DAILY)
    assert (tomorrow.reached, tomorrow.new_left) == (MOST_DAILY, 90)
    assert day(large, plan=Plan(date(2026, 11, 22))).days is None
