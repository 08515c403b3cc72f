"""A mock interview: what it asks, what comes next, what it reports; and statements to be judged."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from rag.errors import UsageError
from rag.language.language import Language
from rag.practice.bank import Bank, Question
from rag.practice.grading import Grade, Method, MistakeMade, PointGrade, Verdict
from rag.practice.rounds import Level, Round, answer, begin_round, next_follow_up, skip_vanished, statements
from rag.practice.rubric import rubric_of
from rag.practice.schedule import Card
from rag.ui.practice.report_view import report_as_markdown
from rag.ui.texts import PRACTICE_TEXTS
from tests.rag.practice.pages import CACHE, CACHE_ID, GQA_ID, LORA_ID, NOTES, QUERY_ID, bank_of

ZH, EN = PRACTICE_TEXTS[Language.ZH], PRACTICE_TEXTS[Language.EN]
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def begun(bank: Bank, level: Level = Level.STANDARD, cards: Mapping[str, Card] | None = None) -> Round:
    return begin_round(bank, topic=None, level=level, count=5, now=NOW, cards=cards or {}, seed=1)


def graded(bank: Bank, question: Question, missed: str = "") -> Grade:
    """Everything found but the points that hold `missed`."""
    rubric = rubric_of(bank, question)
    points = tuple(
        PointGrade(p, Verdict.MISSING) if missed and missed in p.text else PointGrade(p, Verdict.FOUND, (0, 2))
        for p in rubric.points
    )
    mistakes = tuple(MistakeMade(one, (0, 2)) for one in rubric.mistakes[:1])
    return Grade(question.id, "我的回答", points, mistakes, (), Method.OVERLAP)


def card(name: str, due: datetime) -> Card:
    return Card(name, due, NOW - timedelta(days=9), 2, None, 5.0, 5.0, 3)


def test_due_questions_come_first_then_new_ones(bank: Bank) -> None:
    late = {CACHE_ID: card(CACHE_ID, NOW + timedelta(days=3))}
    assert begun(bank, cards=late).planned == (LORA_ID, CACHE_ID)
    due = {LORA_ID: card(LORA_ID, NOW - timedelta(days=3))}
    assert begun(bank, cards=due).planned == (LORA_ID, CACHE_ID)
    assert begun(bank) == begun(bank)


def test_the_follow_up_asks_about_what_was_missed(bank: Bank) -> None:
    round = replace(begun(bank), planned=(CACHE_ID, LORA_ID))
    asked = answer(bank, round, graded(bank, bank.find(CACHE_ID), "缩小 KV cache"))
    assert asked.planned == (GQA_ID, LORA_ID)
    assert answer(bank, asked, graded(bank, bank.find(GQA_ID))).planned == (LORA_ID,)
    basic = answer(bank, replace(round, level=Level.BASIC), graded(bank, bank.find(CACHE_ID), "缩小"))
    assert basic.planned == (LORA_ID,)
    deep = answer(bank, replace(asked, level=Level.DEEP), graded(bank, bank.find(GQA_ID), "GQA"))
    assert deep.planned == (QUERY_ID, LORA_ID)
    assert next_follow_up(bank, bank.find(CACHE_ID), graded(bank, bank.find(CACHE_ID)), [QUERY_ID, GQA_ID]) is None


def test_a_round_ends_and_takes_no_grade_of_another_question(bank: Bank) -> None:
    round = replace(begun(bank), planned=(CACHE_ID,), count=5)
    with pytest.raises(UsageError, match="the round asks"):
        answer(bank, round, graded(bank, bank.find(LORA_ID)))
    while not round.is_finished:
        assert round.current is not None
        round = answer(bank, round, graded(bank, bank.find(round.current)))
    assert round.answered[0].question_id == CACHE_ID
    assert round.current is None


def test_a_round_goes_on_from_what_was_saved(bank: Bank) -> None:
    kept = TypeAdapter(Round)
    round = answer(bank, replace(begun(bank), planned=(CACHE_ID, LORA_ID)), graded(bank, bank.find(CACHE_ID), "缩小"))
    again = kept.validate_json(kept.dump_json(round))
    assert again == round
    assert again.answered[0].points[0].verdict is Verdict.FOUND


def test_questions_that_vanished_are_skipped(bank: Bank, tmp_path: Path) -> None:
    round = replace(begun(bank), planned=(CACHE_ID, LORA_ID))
    assert skip_vanished(bank_of(tmp_path, {"notes.md": NOTES}), round).planned == (LORA_ID,)


@pytest.mark.parametrize("count", [0, 4, 9])
def test_a_round_has_five_to_eight_questions(bank: Bank, count: int) -> None:
    with pytest.raises(UsageError, match=f"5 to 8 questions, not {count}"):
        begin_round(bank, topic=None, level=Level.BASIC, count=count, now=NOW, cards={}, seed=1)


def test_the_report_says_what_was_missed_and_where_it_stands(bank: Bank, tmp_path: Path) -> None:
    round = replace(begun(bank), planned=(CACHE_ID, LORA_ID))
    round = answer(bank, round, graded(bank, bank.find(CACHE_ID), "缩小 KV cache"))
    cards = {CACHE_ID: card(CACHE_ID, NOW + timedelta(days=2))}
    text = report_as_markdown(bank, round, cards, ZH, topic="推理与量化")
    assert f"{NOW.date()}，推理与量化，1 题" in text
    missed = rubric_of(bank, bank.find(CACHE_ID)).points[2].citation
    assert f"- **没说到** {missed.quote} ({missed.title} › {missed.section[-1]})" in text
    assert "答得最好" not in text  # of one answer
    assert "prefill 要算完整的前向" in text
    assert "> 我的回答" in text
    assert "- 2026-11-24 KV cache 是什么，为什么能加速解码？" in text
    assert "## 再读一遍\n\n- KV cache 是什么，为什么能加速解码？ (cache.md)" in text
    assert round.current is not None
    both = answer(bank, round, graded(bank, bank.find(round.current)))
    ends = report_as_markdown(bank, both, {}, ZH, topic="").split("\n## ")[0]
    assert f"**答得最好** {round.current.partition('#')[2]} · 67%" in ends  # right, but for a mistake
    assert f"**最该补的** {CACHE_ID.partition('#')[2]}" in ends
    # Days are the reader's own.
    east = timezone(timedelta(hours=14))
    assert "- 2026-11-25 KV cache" in report_as_markdown(bank, round, cards, ZH, topic="", zone=east)
    # The page may be gone by then.
    gone = report_as_markdown(bank_of(tmp_path, {"notes.md": NOTES}), round, {}, EN, topic="")
    assert "(this question has left the material)" in gone


def test_statements_are_wrong_claims_and_what_is_right(bank: Bank) -> None:
    found = statements(bank, topic=None, count=10, seed=3)
    assert len(found) == 2
    assert {one.is_right for one in found} == {True, False}
    for one in found:
        assert (one.text == one.correction.quote) is one.is_right
        assert one.text in CACHE
    assert statements(bank, topic=None, count=10, seed=3) == found
    assert statements(bank, topic=None, count=0, seed=3) == ()
