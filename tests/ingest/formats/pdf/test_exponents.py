"""What stands raised or lowered is written as such, told by baselines and sizes."""

import pytest

from ingest.formats.pdf import read
from tests.ingest.formats.pdf_file import pdf_of, rules, said


def text_of(*contents: str) -> str:
    return read(pdf_of(["".join(contents)])).text.rstrip("\n")


def test_exponents_and_indices() -> None:
    line = said(60, 700, "3\xd710") + said(82.5, 704, "23", size=7) + said(93, 700, "FLOPs for H")
    line += said(147.5, 698, "2", size=7) + said(151.5, 700, "O on 5 m") + said(190, 704, "2", size=7)
    assert text_of(line) == "3×10²³ FLOPs for H₂O on 5 m²"


def test_a_negative_exponent_on_the_next_line() -> None:
    long = "The rate at which the model learns is lowered from one epoch to the next, at the end it is 10"
    first, second = said(60, 700, long), said(60, 690, "-4", size=7) + said(67, 686, " of what it was.")
    assert text_of(first, second) == f"{long}⁻⁴ of what it was."


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 0, 1)])
def test_the_order_of_painting_does_not_matter(order: tuple[int, ...]) -> None:
    parts = said(60, 700, "cost O(n"), said(97, 704, "2", size=7), said(101.5, 700, ") in all")
    assert text_of(*(parts[number] for number in order)) == "cost O(n²) in all"


def test_what_is_painted_after_the_whole_line_goes_into_its_gap() -> None:
    line = said(60, 700, "at 10") + said(93.5, 700, "FLOPs and 10") + said(169, 700, "metres")
    late = said(82.5, 704, "23", size=6) + said(158.6, 704, "-4", size=6)
    assert text_of(line, late) == "at 10²³ FLOPs and 10⁻⁴ metres"


def test_type_of_the_same_size_may_be_raised() -> None:
    assert text_of(said(60, 700, "5 m"), said(76.7, 703.5, "2")) == "5 m²"


def test_signs_that_a_font_holds_lower_are_not() -> None:
    assert (
        text_of(said(60, 700, "files like "), said(100.5, 698.3, "*"), said(104.5, 700, ".diff")) == "files like *.diff"
    )


def test_letters_are_raised_in_braces_and_marks_stay() -> None:
    letter = said(60, 700, "x") + said(65, 698, "i", size=7) + said(67, 704, "2", size=7)
    assert text_of(letter, said(75, 700, "and y"), said(97, 704, "[12]", size=7)) == "x_{i}² and y[12]"


def test_a_footnote_begins_with_its_mark() -> None:
    assert text_of(said(60, 103, "1", size=5), said(64, 100, "A note in small type.", size=8)) == (
        "¹A note in small type."
    )


def test_small_type_on_the_line_is_neither() -> None:
    assert text_of(said(60, 700, "NASA"), said(90, 700, "and others", size=7)) == "NASA and others"


def test_a_large_first_letter_begins_its_word() -> None:
    letter = said(60, 690, "O", size=30)
    lines = said(84, 712, "nce there was a model that had a large letter") + said(
        84, 700, "at the beginning of its text."
    )
    assert text_of(letter, lines).startswith("Once there was a model")


def test_exponents_in_cells() -> None:
    cells = said(65, 666, "Gas") + said(165, 666, "Share") + said(65, 646, "CO") + said(80.2, 644, "2", size=6)
    table = rules((60, 160, 300), (640, 660, 680)) + cells + said(165, 646, "10") + said(176.5, 650, "-4", size=6)
    assert text_of(table) == "| Gas | Share |\n|---|---|\n| CO₂ | 10⁻⁴ |"


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_on_turned_pages(turn: int) -> None:
    matrix = {0: "1 0 0 1 0 0", 90: "0 1 -1 0 595 0", 180: "-1 0 0 -1 595 842", 270: "0 -1 1 0 0 842"}[turn]
    content = f"q {matrix} cm {said(60, 500, '3 x 10')}{said(86, 504, '23', size=6)}{said(60, 440, 'Below.')} Q"
    assert read(pdf_of([content], page=f"/Rotate {turn}")).text == "3 x 10²³\n\nBelow.\n"


def test_on_a_page_whose_corner_is_elsewhere() -> None:
    content = said(160, 500, "3 x 10") + said(186, 504, "23", size=6)
    assert read(pdf_of([content], page="/CropBox [100 300 500 700]")).text == "3 x 10²³\n"
