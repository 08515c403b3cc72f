"""A store that fails in the middle of a conversation, or takes its time: nothing is lost from view, nothing goes round
in a circle, and what was kept is whole after a restart."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.ui.chat import exchange as chat
from rag.ui.chat.actions import ChatAction, ChatActionName, act
from rag.ui.chat.messages import messages, panel
from rag.ui.conversations.keeper import Keeper
from rag.ui.conversations.listing import render_list
from rag.ui.conversations.store import FILE, ExchangePlace
from rag.ui.session.session import Exchange, Session, State
from rag.ui.texts import TEXTS, Language
from tests.rag.ui.conversations.test_keeping import NOW, ask, do, reopened

ZH = TEXTS[Language.ZH]
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    keeper = Keeper(tmp_path / "user")
    yield keeper
    keeper.close()


def run(keeper: Keeper, statement: str) -> None:
    with keeper.conversations.database.reading() as connection:
        connection.execute(statement)


@contextmanager
def full_disk(keeper: Keeper, folder: Path) -> Iterator[None]:
    run(
        keeper,
        "CREATE TEMP TRIGGER full BEFORE INSERT ON main.exchanges BEGIN SELECT RAISE(ABORT, 'disk is full'); END",
    )
    yield
    run(keeper, "DROP TRIGGER temp.full")


@contextmanager
def read_only(keeper: Keeper, folder: Path) -> Iterator[None]:
    run(keeper, "PRAGMA query_only = ON")
    yield
    run(keeper, "PRAGMA query_only = OFF")


@contextmanager
def locked(keeper: Keeper, folder: Path) -> Iterator[None]:
    """By another program, for longer than anybody waits."""
    run(keeper, "PRAGMA busy_timeout = 50")
    backup = sqlite3.connect(folder / FILE, isolation_level=None)
    backup.execute("BEGIN IMMEDIATE")
    yield
    backup.close()


Failure = Callable[[Keeper, Path], AbstractContextManager[None]]


@pytest.mark.parametrize("failure", [full_disk, read_only, locked])
@pytest.mark.parametrize("kept_before", [0, 2])
def test_a_question_that_cannot_be_kept(
    assistant: Assistant, keeper: Keeper, tmp_path: Path, failure: Failure, kept_before: int
) -> None:
    session = Session(user="")
    questions = [f"{QUESTION} {number}" for number in range(kept_before + 3)]
    for question in questions[:kept_before]:
        ask(assistant, session, question, keeper)
    with failure(keeper, tmp_path / "user"):
        ask(assistant, session, questions[kept_before], keeper)
        assert session.exchanges[-1].state is State.DONE
        assert ZH.conversations_unkept in render_list(keeper.list(session), session, NOW)
        do(session, keeper, "like", session.exchanges[-1].number)
    for question in questions[kept_before + 1 :]:
        ask(assistant, session, question, keeper)
    assert [exchange.question for exchange in session.exchanges] == questions
    assert len(messages(session)) == 2 * len(questions)
    assert f"{len(questions)}" in panel(session)
    assert ZH.conversations_unkept not in render_list(keeper.list(session), session, NOW)
    kept = questions[:kept_before] + questions[kept_before + 1 :]
    for again in (reopened(session, tmp_path), session):  # after a restart, and in the tab that is loaded anew
        do(again, keeper, "open", session.conversation or 0)
        assert [exchange.question for exchange in again.exchanges] == kept
        assert all(exchange.state is State.DONE for exchange in again.exchanges)
        assert [turn.text for turn in again.history(again.tip)][::2] == kept


def test_an_answer_that_cannot_be_kept_stays_in_view(assistant: Assistant, keeper: Keeper, tmp_path: Path) -> None:
    session = Session(user="")
    steps = chat.answer(assistant, session, QUESTION, keeper)
    next(steps)
    with read_only(keeper, tmp_path / "user"):
        list(steps)
        assert ZH.conversations_unkept in render_list(keeper.list(session), session, NOW)
    assert session.exchanges[0].state is State.DONE
    assert reopened(session, tmp_path).exchanges[0].state is State.STOPPED


def test_a_branch_of_what_was_not_kept(assistant: Assistant, keeper: Keeper, tmp_path: Path) -> None:
    session = Session(user="")
    ask(assistant, session, "one", keeper)
    with read_only(keeper, tmp_path / "user"):
        ask(assistant, session, "lost", keeper)
    ask(assistant, session, "two", keeper, parent=1)
    lost, two = session.branches(session.exchanges[-1])
    assert (lost > two, session.tip) == (True, two)
    do(session, keeper, "branch", lost)
    assert [exchange.question for exchange in session.exchanges] == ["one", "lost"]
    assert [exchange.question for exchange in reopened(session, tmp_path).exchanges] == ["one"]


@pytest.mark.parametrize("parents", [{1: 1}, {1: 2, 2: 1}, {1: None, 2: 3, 3: 2}])
def test_no_circle_is_walked_for_ever(parents: dict[int, int | None]) -> None:
    session = Session(all_exchanges={n: Exchange(n, "q", parent) for n, parent in parents.items()}, tip=max(parents))
    assert len(session.exchanges) <= len(parents)
    assert session.place_of(1) <= len(parents)
    session.turn_to(1)
    assert session.history(session.tip)


class SlowStore:
    """Waits at its first question until it is let go on."""

    def __init__(self, keeper: Keeper) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()
        self._begin = keeper.conversations.begin
        keeper.conversations.begin = self.begin  # type: ignore[method-assign]

    def begin(
        self, user: str, conversation: int | None, parent: int | None, question: str, state: str
    ) -> ExchangePlace:
        if not self.asked.is_set():
            self.asked.set()
            assert self.go_on.wait(30)
        return self._begin(user, conversation, parent, question, state)


@contextmanager
def being_stored(assistant: Assistant, session: Session, keeper: Keeper) -> Iterator[None]:
    """The time in which a slow store takes a question."""
    store = SlowStore(keeper)
    first = threading.Thread(target=ask, args=(assistant, session, QUESTION, keeper))
    first.start()
    assert store.asked.wait(30)
    yield
    store.go_on.set()
    first.join(30)
    assert not first.is_alive()
    assert not session.busy


def test_two_questions_while_the_first_is_being_stored(assistant: Assistant, keeper: Keeper) -> None:
    session = Session(user="")
    with being_stored(assistant, session, keeper):
        assert session.busy
        assert list(chat.answer(assistant, session, "another", keeper)) == []  # the page says that it is busy
    assert [exchange.question for exchange in session.exchanges] == [QUESTION]
    assert len(keeper.list(session)) == 1
    ask(assistant, session, "another", keeper)
    assert [exchange.question for exchange in session.exchanges] == [QUESTION, "another"]


def test_a_new_conversation_while_a_question_is_being_stored(
    assistant: Assistant, keeper: Keeper, tmp_path: Path
) -> None:
    session = Session(user="")
    with being_stored(assistant, session, keeper):
        act(session, ChatAction(ChatActionName.NEW), keeper)
    assert (session.exchanges, session.conversation) == ([], None)
    (listed,) = keeper.list(session)
    do(session, keeper, "open", listed.id)
    assert [(e.question, e.state) for e in session.exchanges] == [(QUESTION, State.STOPPED)]


def test_stopping_while_a_question_is_being_stored(assistant: Assistant, keeper: Keeper) -> None:
    session = Session(user="")
    with being_stored(assistant, session, keeper):
        session.stop()
    assert session.exchanges[0].state is State.STOPPED
