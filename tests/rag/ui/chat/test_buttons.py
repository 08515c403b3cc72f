"""The send and the stop button: the answer alone changes which one is there."""

from rag.answer.assistant import Assistant
from rag.ui.chat.actions import ChatAction, ChatActionName
from rag.ui.chat.components import ChatComponents
from rag.ui.chat.handlers import ChatHandlers
from rag.ui.session.part import Updates
from rag.ui.session.session import Session
from tests.rag.ui.rooms import named

PARTS = named(ChatComponents)
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"


def visible(updates: Updates) -> tuple[bool | None, bool | None]:
    """Of both buttons; None: an update leaves it as it is."""
    send, stop = (updates.get(button, {}) for button in (PARTS.send, PARTS.stop))
    return send.get("visible"), stop.get("visible")


def test_the_stop_button_is_there_while_an_answer_is_written(assistant: Assistant) -> None:
    seen = [visible(updates) for updates in ChatHandlers(assistant, PARTS)._answer(Session(), QUESTION, parent=None)]
    assert seen[0] == (False, True)
    assert set(seen[1:-1]) <= {(None, None)}
    assert seen[-1] == (True, False)


def test_what_is_drawn_beside_an_answer_may_come_after_its_end(assistant: Assistant) -> None:
    handlers, session = ChatHandlers(assistant, PARTS), Session()
    steps = handlers._answer(session, QUESTION, parent=None)
    next(steps)
    assert visible(handlers.do(session, ChatAction(ChatActionName.SHOW))) == (None, None)
    assert visible(list(steps)[-1]) == (True, False)


def test_a_conversation_that_is_left_takes_its_stop_button_along(assistant: Assistant) -> None:
    handlers, session = ChatHandlers(assistant, PARTS), Session()
    steps = handlers._answer(session, QUESTION, parent=None)
    next(steps)
    assert visible(handlers.begin_anew(session)) == (True, False)
    list(steps)
