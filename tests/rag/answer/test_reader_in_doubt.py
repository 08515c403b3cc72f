"""What a reader says decides doubtful questions, and those alone."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

import rag.answer.decide as deciding
import rag.answer.rank as ranking_stage
from rag.answer.assistant import Assistant
from rag.answer.decide import READ_WITHIN, UNHEARD_OF, Decision, reconsider
from rag.answer.inspection import as_text, inspection_of
from rag.answer.rank import READ_FIRST, in_words, text_of
from rag.index.manifest import Manifest
from rag.reader.reading import Reading, Text
from rag.text.sentences import UnitKind
from rag.types import AnswerKind, RefusalReason

QUESTION = "LoRA 的秩怎么选？"


class Says:
    """A reader that says the same of everything, and keeps what it was given."""

    def __init__(self, answers: float) -> None:
        self.answers = answers
        self.given: list[tuple[str, Text]] = []

    def read(self, question: str, texts: Sequence[Text]) -> list[Reading]:
        self.given += [(question, text) for text in texts]
        return [Reading((), self.answers) for _ in texts]


@pytest.fixture
def decision(assistant: Assistant) -> Decision:
    return assistant.prepare(QUESTION).decision


def with_log_odds(monkeypatch: pytest.MonkeyPatch, log_odds: float) -> None:
    """The index of the tests is not calibrated."""
    monkeypatch.setattr(deciding, "log_odds_of", lambda index, features: log_odds)


@pytest.mark.parametrize(
    ("log_odds", "reading", "kind"),
    [
        (-0.5, 6.0, AnswerKind.ANSWER),
        (-0.5, -6.0, AnswerKind.REFUSAL),
        (0.5, 6.0, AnswerKind.ANSWER),
        (0.5, -6.0, AnswerKind.REFUSAL),
        (0.2, -1.0, AnswerKind.REFUSAL),  # no refusal is lifted by a reader that finds no answer either
        (-0.2, -1.0, AnswerKind.NEAREST),
        (0.5, 1.0, AnswerKind.NEAREST),
    ],
)
def test_a_doubtful_question_is_read(
    log_odds: float, reading: float, kind: AnswerKind, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_log_odds(monkeypatch, log_odds)
    reader = Says(reading)
    monkeypatch.setattr(assistant, "reader", reader)
    monkeypatch.setattr(ranking_stage, "thread_count", lambda: 1)
    answer = assistant.ask(QUESTION)
    assert answer.kind is kind
    assert len(reader.given) == (1 if kind is AnswerKind.ANSWER else READ_FIRST)  # no further once it is sure
    assert {question for question, _ in reader.given} == {QUESTION}
    assert all(text.heading and text.units for _, text in reader.given)
    if kind is AnswerKind.REFUSAL:
        assert answer.refusal is not None
        assert answer.refusal.reason is RefusalReason.NOTHING_RELEVANT
    judgement = inspection_of(assistant.prepare(QUESTION)).judgement
    assert judgement.reading == reading
    assert judgement.nearest is (kind is AnswerKind.NEAREST)
    assert judgement.refused is (kind is AnswerKind.REFUSAL)


def test_of_a_section_the_units_that_answer_best_are_read(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_log_odds(monkeypatch, -0.5)
    reader = Says(-6.0)  # which makes it read all
    monkeypatch.setattr(assistant, "reader", reader)
    [ranking, *_] = assistant.prepare(QUESTION).rankings
    sections = in_words(ranking).sections[:READ_FIRST]
    assert [text.units for _, text in reader.given] == [tuple(section.texts) for section in sections]
    reader.given.clear()
    monkeypatch.setattr(ranking_stage, "READ_TOKENS", 1)
    assistant.prepare(QUESTION)
    for section, (_, text) in zip(sections, reader.given, strict=True):
        scores = [score for units in section.answering for score in units]
        assert text.units == (section.texts[scores.index(max(scores))],)
    assert any(len(section.texts) > 1 for section in sections)


@pytest.mark.parametrize("log_odds", [-READ_WITHIN - 0.1, READ_WITHIN + 0.1])
def test_a_clear_question_is_not(log_odds: float, assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    with_log_odds(monkeypatch, log_odds)
    reader = Says(0.0)
    monkeypatch.setattr(assistant, "reader", reader)
    assert assistant.ask(QUESTION).refused is (log_odds > 0)
    assert not reader.given
    assert inspection_of(assistant.prepare(QUESTION)).judgement.reading is None


def test_the_inspector_tells_what_the_odds_rest_on(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    with_log_odds(monkeypatch, -1.5)
    heard = inspection_of(assistant.prepare(QUESTION))
    assert not heard.judgement.unheard
    monkeypatch.setattr(Manifest, "writes", lambda _, *, chinese: True)
    monkeypatch.setattr(deciding, "unheard_share", lambda index, question: 1.0)
    monkeypatch.setattr(assistant, "reader", Says(6.0))
    inspection = inspection_of(assistant.prepare(QUESTION))
    assert inspection.judgement.unheard
    assert -1.5 + UNHEARD_OF > 0 > (inspection.judgement.log_odds or 0.0)
    told = as_text(inspection)
    assert "the material mentions nothing that the question names" in told
    assert "log odds of an answer = 6.0" in told
    assert "the material mentions nothing" not in as_text(heard)


@pytest.mark.parametrize("question", ["LoRA 的秩怎么选？另外 Zorblax 框架怎么装", "LoRA 和 Zorblax 的秩有什么区别"])
def test_what_is_left_out_makes_nothing_doubtful(
    question: str, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding, "log_odds_of", lambda index, features: 2.5 if features.unknown_name else -6.0)
    reader = Says(-6.0)
    monkeypatch.setattr(assistant, "reader", reader)
    answer = assistant.ask(question)
    assert answer.kind is AnswerKind.ANSWER
    assert answer.text.startswith("资料里没有提到 Zorblax")
    assert not reader.given


def test_a_reading_is_believed_within_limits(decision: Decision) -> None:
    doubtful = replace(decision, log_odds=0.0)
    assert reconsider(doubtful, 1e9).log_odds == reconsider(doubtful, 1e12).log_odds
    assert reconsider(doubtful, 1e9).refusal is None
    assert reconsider(doubtful, float("-inf")).refusal is not None


def test_where_questions_are_written_down_the_odds_weigh_more(decision: Decision) -> None:
    doubtful = replace(decision, log_odds=1.0)
    assert reconsider(doubtful, 0.5).refusal is None
    assert reconsider(replace(doubtful, unspoken=0.5), 0.1).refusal is not None
    assert reconsider(replace(doubtful, unspoken=0.5), 6.0).refusal is None


def test_for_a_chat_model_more_is_refused(decision: Decision) -> None:
    doubtful = replace(decision, log_odds=0.1)
    assert reconsider(doubtful, -0.6).refusal is None
    assert reconsider(doubtful, -0.6, points_to_nearest=False).refusal is not None


def test_what_names_unknown_things_keeps_its_reason(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    with_log_odds(monkeypatch, 0.5)
    monkeypatch.setattr(assistant, "reader", Says(-6.0))
    refusal = assistant.ask("Zorblax 的秩怎么选？").refusal
    assert refusal is not None
    assert refusal.missing == ("Zorblax",)


def test_a_table_is_read_row_by_row(assistant: Assistant) -> None:
    ranking = assistant.prepare("YaRN 和 PI 各改了什么").rankings[0]
    section = next(one for one in ranking.sections if one.holds(UnitKind.TABLE))
    rows = ("方法：PI；改了什么：把所有位置等比压缩", "方法：YaRN；改了什么：按波长分段插值")
    assert text_of(section, assistant.resources.embedder).units[-3:-1] == rows
