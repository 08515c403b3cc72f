"""Sections by the questions that they are written down to answer."""

import weakref
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rag.index.written_questions import AskedQuestions, read_asked
from rag.language.terms import stems, terms

QUESTIONS = {
    ("a.md", "甲"): ["where is the key", "钥匙在哪"],
    ("a.md", "乙"): ["how do I open the door"],
    ("b.md", "丙"): ["where is the door key kept"],
}


@dataclass(frozen=True)
class Written:
    questions: dict[tuple[str, str], list[str]]

    def all_questions(self) -> list[tuple[str, str, tuple[str, ...]]]:
        return [(*section, terms(text)) for section, texts in self.questions.items() for text in texts]


def test_the_section_whose_question_names_most_comes_first() -> None:
    asked = read_asked(Written(QUESTIONS))
    assert asked.sections == tuple(QUESTIONS)
    assert list(asked.best({"key": 1.0, "door": 1.0})) == [("b.md", "丙"), ("a.md", "乙"), ("a.md", "甲")]
    # Of equal ones that whose questions name more on the average, its heading among them.
    assert list(asked.best({"key": 1.0})) == [("b.md", "丙"), ("a.md", "甲")]
    assert list(asked.best({"door": 2.0, "钥匙": 1.0}))[-1] == ("a.md", "甲")
    assert list(asked.best({"甲": 1.0})) == [("a.md", "甲")]
    assert list(asked.best({"window": 1.0})) == []


def test_the_questions_of_a_document_are_there_by_heading() -> None:
    asked = read_asked(Written(QUESTIONS))
    assert asked.of("a.md") == {
        heading: tuple(map(stems, texts)) for (name, heading), texts in QUESTIONS.items() if name == "a.md"
    }
    assert asked.of("b.md") == {"丙": (stems("where is the door key kept"),)}
    assert asked.of("none.md") == {}
    assert asked.of("a.md") is asked.of("a.md")


def test_endings_of_english_words_do_not_count() -> None:
    asked = read_asked(Written({("a.md", "甲"): ["How are agents evaluated?"], ("a.md", "乙"): ["What is an agent?"]}))
    assert list(asked.best({"evaluation": 2.0, "agents": 1.0})) == [("a.md", "甲"), ("a.md", "乙")]
    assert [asked.frequency(stem) for stem in ("evalu", "agent", "evaluate")] == [1, 2, 0]


def test_frequencies_count_sections() -> None:
    asked = read_asked(Written(QUESTIONS))
    assert [asked.frequency(term) for term in ("key", "door", "钥匙", "window")] == [2, 2, 1, 0]


@pytest.mark.parametrize("questions", [QUESTIONS, {}])
def test_what_is_saved_is_loaded(questions: dict[tuple[str, str], list[str]], tmp_path: Path) -> None:
    asked = read_asked(Written(questions))
    assert AskedQuestions.load(tmp_path / "asked") is None
    asked.save(tmp_path / "asked")
    loaded = AskedQuestions.load(tmp_path / "asked")
    assert loaded is not None
    for name, value in vars(asked).items():
        assert np.array_equal(value, vars(loaded)[name]), name


def test_nothing_asked() -> None:
    asked = read_asked(Written({}))
    assert asked.sections == ()
    assert list(asked.best({"key": 1.0})) == []
    assert asked.frequency("key") == 0


def test_what_is_remembered_keeps_no_index_alive() -> None:
    asked = read_asked(Written(QUESTIONS))
    assert asked.of("a.md")
    still_there = weakref.ref(asked)
    del asked
    assert still_there() is None
