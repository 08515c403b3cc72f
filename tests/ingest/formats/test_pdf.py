"""What layout says: paragraphs, columns, running heads, pages."""

import pytest

from ingest.formats.pdf import read
from ingest.formats.pdf.document import ranges
from tests.ingest.formats.pdf_file import Text, pdf

LEFT = [f"left column line {n:02} with some words" for n in range(12)]
RIGHT = [f"right column line {n:02} with more words" for n in range(12)]


def columns() -> tuple[list[Text], list[Text]]:
    left = [(60.0, 700.0 - 14 * n, text) for n, text in enumerate(LEFT)]
    right = [(320.0, 700.0 - 14 * n, text) for n, text in enumerate(RIGHT)]
    return left, right


def test_columns_that_are_painted_row_by_row() -> None:
    left, right = columns()
    rows = [text for pair in zip(left, right, strict=True) for text in pair]
    title: Text = (60.0, 740.0, "A title that stands above both of the columns of this page and is long enough")
    text = read(pdf([[title, *rows]])).text
    places = [text.index(line) for line in (title[2][:20], *LEFT, *RIGHT)]
    assert places == sorted(places)


def test_the_order_of_painting_is_kept_where_it_makes_sense() -> None:
    left, right = columns()
    text = read(pdf([[*left, *right]])).text
    places = [text.index(line) for line in (*LEFT, *RIGHT)]
    assert places == sorted(places)


def test_broken_lines_become_paragraphs_and_hyphens_go() -> None:
    lines = (
        "This paragraph is long enough to reach the right edge of its column, where the opti-",
        "mizer steps begin a new line because the word did not fit into the one before it any",
        "more. It ends early.",
    )
    page: list[Text] = [(60, 700 - 12 * n, line) for n, line in enumerate(lines)]
    page.append((60, 700 - 12 * 4.5, "A second paragraph."))
    assert read(pdf([page])).text == (
        "This paragraph is long enough to reach the right edge of its column, where the optimizer steps begin a new "
        "line because the word did not fit into the one before it any more. It ends early.\n\nA second paragraph.\n"
    )


@pytest.mark.parametrize("count", [3, 12])
def test_running_heads_and_page_numbers_are_dropped(count: int) -> None:
    pages: list[list[Text]] = [
        [
            (60, 810, "Notes on training"),
            (60, 700, f"Body of the page called {chr(97 + n)}."),
            (290, 30, f"- {n + 1} -"),
        ]
        for n in range(count)
    ]
    extract = read(pdf(pages))
    assert extract.text.split("\n\n") == [f"Body of the page called {chr(97 + n)}." for n in range(count - 1)] + [
        f"Body of the page called {chr(96 + count)}.\n"
    ]
    for number, border in enumerate(extract.pages):
        assert extract.text[border:].startswith(f"Body of the page called {chr(97 + number)}")


def test_a_paragraph_may_go_on_on_the_next_page() -> None:
    first: list[Text] = [(60, 400, "The first page ends in the middle of a sentence that")]
    second: list[Text] = [(60, 700, "is finished on the second one.")]
    extract = read(pdf([first, second]))
    assert extract.text == "The first page ends in the middle of a sentence that is finished on the second one.\n"
    assert extract.text[extract.pages[1] :].lstrip().startswith("is finished")


def test_an_empty_page_begins_where_the_next_one_does() -> None:
    extract = read(pdf([[(60, 700, "One page.")], [], [(60, 700, "Another page.")]]))
    assert extract.pages[0] == 0
    assert extract.pages[1] <= extract.pages[2] == extract.text.index("Another")


def test_a_table_is_put_together_from_its_rules() -> None:
    rules = "".join(f"60 {y} m 360 {y} l S\n" for y in (640, 660, 680)) + "".join(
        f"{x} 640 m {x} 680 l S\n" for x in (60, 160, 260, 360)
    )
    cells: list[Text] = [
        (x, y, f"{name}{row}") for row, y in enumerate((666, 646)) for name, x in (("a", 65), ("b", 165), ("c", 265))
    ]
    text = read(pdf([[(60, 700, "Before."), *cells, (60, 600, "After.")]], drawings=rules)).text
    assert text == "Before.\n\n| a0 | b0 | c0 |\n|---|---|---|\n| a1 | b1 | c1 |\n\nAfter.\n"


def test_ranges() -> None:
    assert ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"
