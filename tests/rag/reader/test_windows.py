"""What the network sees: whole units, marked where they begin and end."""

from collections.abc import Sequence

from rag.reader.windows import HEADING_TOKENS, MAX_TOKENS, QUESTION_TOKENS, UNIT_TOKENS, Special, windows

SPECIAL = Special(begin=0, end=2)


def characters(texts: Sequence[str]) -> list[list[int]]:
    return [[ord(character) for character in text] for text in texts]


def test_an_input_holds_question_heading_and_units() -> None:
    [window] = windows(characters, SPECIAL, "q?", "h", ["ab", "c"])
    assert window.ids == (0, *map(ord, "q?"), 2, ord("h"), 2, *map(ord, "ab"), 2, ord("c"), 2)
    assert window.first == 0
    assert [window.ids[begin:end] for begin, end in window.spans] == [tuple(map(ord, "ab")), (ord("c"),)]
    assert all(window.ids[end] == SPECIAL.end for _, end in window.spans)


def test_a_long_text_is_read_in_several_inputs_of_whole_units() -> None:
    units = [chr(ord("a") + number) * 60 for number in range(9)]
    found = windows(characters, SPECIAL, "q", "h", units)
    assert len(found) > 1
    assert all(len(window.ids) <= MAX_TOKENS for window in found)
    read = [window.ids[begin:end] for window in found for begin, end in window.spans]
    assert read == [tuple(map(ord, unit)) for unit in units]
    assert [window.first for window in found] == [0, 4, 8]


def test_what_is_too_long_is_read_from_its_beginning() -> None:
    [window] = windows(characters, SPECIAL, "q" * 500, "h" * 500, ["u" * 500])
    assert window.ids.count(ord("q")) == QUESTION_TOKENS
    assert window.ids.count(ord("h")) == HEADING_TOKENS
    assert window.ids.count(ord("u")) == UNIT_TOKENS
    assert len(window.ids) <= MAX_TOKENS


def test_without_units_there_is_nothing_to_read() -> None:
    assert windows(characters, SPECIAL, "q", "h", []) == []
