"""Where a reader is stands in the address, and leads back there: after a reload, and after a restart of the program."""

from html import unescape

import pytest

from rag.answer.assistant import Assistant
from rag.ui.practice.places import MOST, Places, go_to, place_of
from rag.ui.session.practice import Filter, Practice, Standing, View
from rag.ui.session.session import Session
from rag.ui.texts import PRACTICE_TEXTS, Language
from tests.rag.ui.practice.room import CACHE_QUESTION, GOOD, ZERO_QUESTION, Room, event

ZH = PRACTICE_TEXTS[Language.ZH]


def place(room: Room) -> str:
    return unescape(room.notice.split('data-place="', 1)[1].split('"', 1)[0])


def loaded(room: Room, assistant: Assistant | None = None) -> Room:
    """The room of a page that is loaded at the place of another one; with an assistant by a program that began anew."""
    sent = {"action": "place", "rest": place(room), "zone": "Asia/Shanghai"}
    return Room(assistant or room.handlers, sent)


@pytest.mark.parametrize(
    "practice",
    [
        Practice(),
        Practice(View.BANK, filter=Filter(" KV & cache?#", "", Standing.DUE, bookmarked=True, seed=1 << 31)),
        Practice(View.BANK, filter=Filter(topic="显存/a b")),
        Practice(View.QUESTION, question=ZERO_QUESTION, back=View.TODAY),
        Practice(View.INTERVIEW, round_id="20261129T093242-1"),
        Practice(View.PROGRESS),
    ],
)
def test_an_address_says_where_one_is(practice: Practice) -> None:
    found = Practice()
    go_to(found, place_of(practice))
    assert found == practice
    assert place_of(practice).isascii()
    assert not set(place_of(practice)) & set("#<>\"'` ")


def test_an_address_that_says_nothing_leads_somewhere(room: Room) -> None:
    for address in ("", "?", "nothing", "question", "\x00", "today?name=%ff&seed=x", "bank?seed=²"):
        room.act("place", address)
        assert room.shell
        go_to(room.session.practice, address)
        assert room.session.practice.filter == Filter()


def test_a_question_is_open_after_a_reload_with_its_grade_and_what_comes_next(room: Room, pages: Assistant) -> None:
    room.act("filter", topic="/memory").act("open", ZERO_QUESTION).keep("attempt", ZERO_QUESTION, "写到一半")
    assert "写到一半</textarea>" in loaded(room).shell
    room.grade(ZERO_QUESTION, GOOD)
    again = loaded(room)
    assert 'class="grade"' in again.part
    assert ZH.place.format(place=1, count=1) in again.shell
    anew = loaded(room, pages)
    assert f"{ZH.last_score}".split("{", 1)[0] in anew.shell
    assert 'class="grade"' not in anew.part
    assert 'value="/memory" selected' in again.act("go", "bank").shell


def test_a_question_that_is_gone_is_told_of(room: Room) -> None:
    room.act("place", "question?name=gone.md%23%3Cb%3E")
    assert ZH.question_gone in room.shell
    assert "<b>" not in room.html


def test_cards_and_statements_go_on_after_a_reload(room: Room, pages: Assistant) -> None:
    room.act("go", "recall").act("deal", topic="/memory", count="10").act("reveal", "short").act("rate", "good")
    room.act("reveal", "full")
    again = loaded(room)
    assert ZH.place.format(place=2, count=3) in again.shell
    assert ZH.full_answer in again.part
    assert ZH.recall_hint in loaded(room, pages).shell  # what is left of a deck is gone with the program
    room.act("go", "statements").act("state", count="10").act("judge", "right")
    again = loaded(room)
    assert again.session.practice.judged == room.session.practice.judged
    assert again.part == room.part


def test_an_interview_is_where_it_was(room: Room, pages: Assistant) -> None:
    room.act("begin", level="standard", count="5")
    asked = place(room)
    assert 'data-act="answer"' in loaded(room, pages).shell
    room.act("end")
    assert place(room) == asked
    assert ZH.report in loaded(room, pages).shell
    room.act("place", "interview?round=none")
    assert ZH.interview_hint in room.shell
    assert place(room) == "interview"


def test_another_reader_finds_nothing_of_what_was_open(room: Room) -> None:
    room.act("open", CACHE_QUESTION).grade(CACHE_QUESTION, GOOD)
    other = Room(room.handlers)
    other.session.user = "anna"
    assert 'class="grade"' not in other.act("place", place(room)).part


def test_the_newest_places_are_remembered() -> None:
    places, found = Places(), Practice()
    for number in range(MOST + 1):
        last = places.remember("", Practice(View.QUESTION, question=f"{number}", queue=("a",)))
    places.return_to("", last, found)
    assert found.queue == ("a",)
    places.return_to("", "question?name=0", found)
    assert found == Practice(View.QUESTION, question="0")


def test_whoever_clicks_before_the_room_has_opened_is_not_led_elsewhere(room: Room) -> None:
    sent = {"action": "place", "rest": place_of(Practice(View.QUESTION, question=ZERO_QUESTION)), "zone": ""}
    session, views = Session(user=""), []
    room.handlers.act(session, event("go", "bank", {}))
    for _ in range(2):  # the second time the room is entered anew
        room.handlers.open(session, sent)
        views.append(session.practice.view)
    assert views == [View.BANK, View.QUESTION]
