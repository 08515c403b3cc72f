"""How many are answered at once, by who answers: whoever it is that writes by default, and however that changes."""

import threading
from collections.abc import Iterator, Sequence

import pytest

from rag.answer.assistant import Assistant
from rag.answer.trace import Event
from rag.settings import ChatModelName
from rag.types import Turn
from rag.ui.chat import exchange as chat
from rag.ui.chat.exchange import QUOTED_AT_ONCE
from rag.ui.chat.tab import ANSWERED_AT_ONCE
from rag.ui.session.session import Session
from tests.rag.ui.rooms import built


class Count:
    now = most = 0


class Counting(Assistant):
    """Answers nothing, once as many as expected are being answered."""

    def expect(self, count: int) -> None:
        self.together = threading.Barrier(count)
        self.counting = threading.Lock()
        self.count = Count()  # shared by its copies, which answer as a reader chose

    def stream(self, question: str, history: Sequence[Turn] = ()) -> Iterator[Event]:
        with self.counting:
            self.count.now += 1
            self.count.most = max(self.count.most, self.count.now)
        try:
            self.together.wait(30)
            yield from ()
        finally:
            with self.counting:
                self.count.now -= 1


@pytest.fixture
def counting(assistant: Assistant) -> Counting:
    return Counting(assistant.settings, assistant.embedder)


def ask_at_once(assistant: Counting, count: int) -> int:
    """The most that were answered at the same time."""
    asking = [threading.Thread(target=lambda: list(chat.answer(assistant, Session(), "?"))) for _ in range(count)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(30)
    assert not assistant.together.broken
    return assistant.count.most


def test_quotes_take_turns(counting: Counting) -> None:
    counting.expect(QUOTED_AT_ONCE)
    assert ask_at_once(counting, 2 * QUOTED_AT_ONCE) == QUOTED_AT_ONCE


def test_a_chat_model_that_was_chosen_later_waits_for_none(counting: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {fn.concurrency_limit for fn in built(counting).fns.values() if fn.concurrency_id == "answers"}
    assert limits == {ANSWERED_AT_ONCE}
    monkeypatch.setattr(Counting, "llm", property(lambda self: ChatModelName.ENDPOINT))
    counting.expect(ANSWERED_AT_ONCE)
    assert ask_at_once(counting, ANSWERED_AT_ONCE) == ANSWERED_AT_ONCE
