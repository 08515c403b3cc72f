"""Questions that passages are known to answer, and how far they lead."""

from pathlib import Path

import numpy as np
import pytest

from rag.index.questions import NEAREST, QuestionVectors, load_questions, save_questions


def unit(degrees: float) -> np.ndarray:
    return np.asarray([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], np.float32)


QUESTIONS = QuestionVectors.of_passages({7: np.stack([unit(80), unit(10)]), 2: np.stack([unit(40)])})


def test_the_nearest_question_of_a_passage_counts() -> None:
    leads = QUESTIONS.leads(unit(0))
    assert list(leads) == [7, 2]
    assert leads[7] == pytest.approx(np.cos(np.radians(10)) - np.cos(np.radians(40)), abs=1e-6)
    assert leads[2] == 0.0
    assert list(QUESTIONS.leads(unit(45))) == [2, 7]


def test_only_what_is_within_is_compared() -> None:
    assert QUESTIONS.leads(unit(0), np.asarray([2, 3])) == {2: 0.0}
    assert QUESTIONS.leads(unit(0), np.asarray([3])) == {}


def test_of_many_passages_some_lead_and_the_last_of_them_does_not() -> None:
    many = QuestionVectors.of_passages({number: np.stack([unit(number)]) for number in range(60)})
    leads = many.leads(unit(0))
    assert list(leads) == list(range(NEAREST))
    assert min(leads.values()) == leads[NEAREST - 1] == 0.0


def test_they_are_read_as_they_were_saved(tmp_path: Path) -> None:
    assert load_questions(tmp_path / "questions") is None
    save_questions(QUESTIONS, tmp_path / "questions")
    found = load_questions(tmp_path / "questions")
    assert found is not None
    np.testing.assert_array_equal(found.numbers, [2, 7, 7])
    np.testing.assert_array_equal(found.of(7), QUESTIONS.of(7))
