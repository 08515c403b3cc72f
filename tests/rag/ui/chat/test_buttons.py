"""The send and the stop button: the answer alone changes which one is there."""

from typing import Any

from rag.answer.assistant import Assistant
from rag.ui.chat.actions import Action, ActionName
from rag.ui.chat.handlers import Handlers
from rag.ui.rooms import Rooms
from rag.ui.session.session import Session

SEND, STOP = 2, 3
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"


def visible(updates: tuple[Any, ...]) -> tuple[bool | None, bool | None]:
    """Of both buttons; None: an update leaves it as it is."""
    send, stop = updates[SEND], updates[STOP]
    return send.get("visible"), stop.get("visible")


def test_the_stop_button_is_there_while_an_answer_is_written(assistant: Assistant) -> None:
    seen = [visible(updates) for updates in Handlers(assistant, Rooms())._answer(Session(), QUESTION, parent=None)]
    assert seen[0] == (False, True)
    assert set(seen[1:-1]) <= {(None, None)}
    assert seen[-1] == (True, False)


def test_what_is_drawn_beside_an_answer_may_come_after_its_end(assistant: Assistant) -> None:
    handlers, session = Handlers(assistant, Rooms()), Session()
    steps = handlers._answer(session, QUESTION, parent=None)
    next(steps)
    _, *beside = handlers.do(session, Action(ActionName.SHOW))
    assert visible(tuple(beside)) == (None, None)
    assert visible(list(steps)[-1]) == (True, False)


def test_a_conversation_that_is_left_takes_its_stop_button_along(assistant: Assistant) -> None:
    handlers, session = Handlers(assistant, Rooms()), Session()
    steps = handlers._answer(session, QUESTION, parent=None)
    next(steps)
    _, *anew = handlers.begin_anew(session)
    assert visible(tuple(anew)) == (True, False)
    list(steps)
