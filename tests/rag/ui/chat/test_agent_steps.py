"""The steps of an agent on the page: while it works, under its answer, and when the conversation is opened again."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.answer.trace import Event, EvidenceFound, Finished, StepTaken
from rag.types import Step, StepKind
from rag.ui.chat import exchange as chat
from rag.ui.chat.messages import messages
from rag.ui.conversations.keeper import Keeper
from rag.ui.session.session import Session
from rag.ui.texts import TEXTS, Language
from tests.rag.ui.chat.test_exchange import use_stream

QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
STEPS = (
    Step(StepKind.SEARCH, "ZeRO-3 <b>通信量</b>", documents=("zero.md",)),
    Step(StepKind.CALCULATE, "1.5 * 2", "3"),
    Step(StepKind.FALLBACK, "", "too many calls", failed=True),
)


@pytest.fixture
def stepping(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> Assistant:
    finished = assistant.finish(QUESTION)

    def events() -> Iterator[Event]:
        yield EvidenceFound(finished.trace.result.evidence)
        yield from map(StepTaken, STEPS)
        yield Finished(replace(finished.answer, steps=STEPS), finished.trace)

    use_stream(assistant, monkeypatch, events())
    return assistant


def test_each_step_is_shown_as_it_is_taken_and_all_under_the_answer(stepping: Assistant) -> None:
    session, texts = Session(), TEXTS[Language.ZH]
    shown = ["".join(messages(session)[-1:][0]["content"]) for _ in chat.answer(stepping, session, QUESTION)]
    assert any("计算: 1.5 * 2 → 3" in page and 'class="waiting"' in page for page in shown)
    assert texts.agent_steps.format(count=3) in shown[-1]
    assert "<b>通信量" not in shown[-1], "a step is a model's text"
    assert "zero.md" in shown[-1]


def test_they_are_kept_with_the_conversation(stepping: Assistant, tmp_path: Path) -> None:
    session, keeper = Session(user="u"), Keeper(tmp_path / "user")
    assert list(chat.answer(stepping, session, QUESTION, keeper))
    other = Session(user="u")
    assert session.conversation is not None
    keeper.open(other, session.conversation)
    keeper.close()
    answer = other.exchanges[0].answer
    assert answer is not None
    assert answer.steps == STEPS


@pytest.mark.parametrize("language", Language)
def test_every_kind_of_step_has_a_name(language: Language) -> None:
    assert all(getattr(TEXTS[language], f"agent_{kind}") for kind in StepKind)
