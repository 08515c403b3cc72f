"""When a card comes back: by FSRS, in UTC, with days that are the reader's own."""

from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import fsrs
import pytest

from rag.practice.bank import Bank
from rag.practice.schedule import (
    Card,
    CardReview,
    Knowledge,
    Rating,
    due_cards,
    forecast,
    is_reworded,
    knowledge_of,
    progress,
    rating_of,
    rebuilt,
    reviewed,
    streak,
)
from tests.rag.practice.pages import CACHE_ID, GQA_ID

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def review(rating: Rating = Rating.GOOD, at: datetime = NOW, name: str = CACHE_ID) -> CardReview:
    return CardReview(name, at, rating, answer_sha256="a")


def test_a_card_is_scheduled_as_fsrs_schedules_it() -> None:
    theirs, ours = fsrs.Card(), None
    scheduler = fsrs.Scheduler(enable_fuzzing=False)
    at = NOW
    for rating in (Rating.GOOD, Rating.GOOD, Rating.HARD, Rating.AGAIN, Rating.EASY):
        theirs, _ = scheduler.review_card(theirs, fsrs.Rating[rating.name.title()], at)
        ours = reviewed(ours, review(rating, at))
        assert (ours.due, ours.stability, ours.difficulty) == (theirs.due, theirs.stability, theirs.difficulty)
        at = ours.due
    assert ours is not None
    assert ours.reviews == 5


def test_a_grade_that_the_reader_changed_counts_once() -> None:
    def graded(rating: Rating, at: datetime, attempt: str = "低秩增量") -> CardReview:
        return CardReview(CACHE_ID, at, rating, 0.5, attempt, "a")

    minute, days = timedelta(minutes=1), timedelta(days=3)
    changed = [graded(Rating.AGAIN, NOW), graded(Rating.GOOD, NOW + minute), graded(Rating.EASY, NOW + 2 * minute)]
    alone = rebuilt([graded(Rating.EASY, NOW + 2 * minute)])
    assert rebuilt(changed) == alone
    assert alone[CACHE_ID].reviews == 1
    # The same words another day, other words at once, and cards that were only rated are reviews of their own.
    assert rebuilt([graded(Rating.GOOD, NOW), graded(Rating.GOOD, NOW + days)])[CACHE_ID].reviews == 2
    assert rebuilt([graded(Rating.AGAIN, NOW), graded(Rating.GOOD, NOW + minute, "另一个")])[CACHE_ID].reviews == 2
    assert rebuilt([review(Rating.AGAIN), review(Rating.GOOD, NOW + minute)])[CACHE_ID].reviews == 2


def test_the_same_log_gives_the_same_card() -> None:
    log = [review(rating, NOW + timedelta(days=day)) for day, rating in enumerate(Rating)]
    assert rebuilt(log) == rebuilt(log)


def test_a_clock_that_went_back_counts_as_no_time() -> None:
    first = reviewed(None, review())
    back = reviewed(first, review(at=NOW - timedelta(days=400)))
    assert back.last_review == NOW
    assert back == reviewed(first, review(at=NOW))
    assert back.due > NOW


def test_times_of_any_zone_are_kept_in_utc() -> None:
    local = NOW.astimezone(timezone(timedelta(hours=8)))
    assert reviewed(None, review(at=local)) == reviewed(None, review())
    assert reviewed(None, review(at=NOW.replace(tzinfo=None))).due.tzinfo is UTC


@pytest.mark.parametrize(
    ("score", "rating"), [(0, "again"), (0.39, "again"), (0.4, "hard"), (0.65, "good"), (1, "easy")]
)
def test_the_rating_that_a_score_stands_for(score: float, rating: str) -> None:
    assert rating_of(score) is Rating(rating)


def test_better_answers_come_back_later() -> None:
    dues = [reviewed(None, review(rating)).due for rating in Rating]
    assert all(sooner < later for sooner, later in pairwise(dues))


def card(name: str = CACHE_ID, due: datetime = NOW) -> Card:
    return Card(name, due, NOW - timedelta(days=3), 2, None, 3.0, 5.0, 2, "a")


def test_due_cards_leave_out_what_left_the_material(bank: Bank) -> None:
    cards = {
        CACHE_ID: card(due=NOW - timedelta(hours=1)),
        GQA_ID: card(GQA_ID, NOW - timedelta(days=2)),
        "gone.md#问？": card("gone.md#问？"),
    }
    assert [one.question_id for one in due_cards(bank, cards, NOW)] == [GQA_ID, CACHE_ID]
    assert due_cards(bank, cards, NOW - timedelta(days=9)) == []


def test_the_forecast_counts_local_days_and_the_overdue_for_today() -> None:
    shanghai = ZoneInfo("Asia/Shanghai")
    cards = [card(due=NOW - timedelta(days=5)), card(due=NOW + timedelta(hours=5)), card(due=NOW + timedelta(days=30))]
    # 17:00 UTC is the next day in Shanghai.
    coming = forecast(cards, NOW, shanghai)
    assert coming[:2] == [(date(2026, 11, 22), 1), (date(2026, 11, 23), 1)]
    assert [count for _, count in coming[2:]] == [0] * 12
    assert forecast(cards, NOW, UTC)[0] == (date(2026, 11, 22), 2)


def test_progress_by_topic(bank: Bank) -> None:
    learning = reviewed(None, review(Rating.AGAIN))
    (topic,) = progress(bank, {CACHE_ID: learning, GQA_ID: card(GQA_ID)}, NOW)
    assert (topic.topic, topic.new, topic.shaky, topic.known, topic.due) == ("", 2, 1, 1, 1)
    assert knowledge_of(None) is Knowledge.NEW


def test_a_streak_is_of_local_days() -> None:
    shanghai = ZoneInfo("Asia/Shanghai")
    # 23:00 and 01:00 in Shanghai are one day in UTC, and two there.
    late, early = datetime(2026, 11, 21, 15, tzinfo=UTC), datetime(2026, 11, 21, 17, tzinfo=UTC)
    log = [review(at=late), review(at=early)]
    assert streak(log, NOW, shanghai) == 2
    assert streak(log, NOW, UTC) == 1
    assert streak(log, NOW + timedelta(days=3), UTC) == 0
    assert streak([], NOW, UTC) == 0


def test_a_reworded_answer_shows(bank: Bank) -> None:
    question = bank.find(CACHE_ID)
    assert is_reworded(card(), question)
    assert not is_reworded(
        reviewed(None, CardReview(CACHE_ID, NOW, Rating.GOOD, None, "", question.answer_sha256)), question
    )
