"""Running heads and page numbers are left out and told; numbers that are values stay."""

import pytest

from ingest.formats.pdf import read
from tests.ingest.formats.pdf_file import lines, pdf_of, said


def body(name: str) -> str:
    return lines(60, 500, [f"The text of the page called {name} is long enough to be seen.", f"It ends here, {name}."])


def test_heads_with_the_page_in_them_are_told() -> None:
    pages = [said(60, 800, f"Chapter 2 - page {n} of 9") + body(str(n)) for n in (4, 5, 6)]
    extract = read(pdf_of(pages))
    assert extract.removed == tuple(f"Chapter 2 - page {n} of 9" for n in (4, 5, 6))
    assert "Chapter" not in extract.text


@pytest.mark.parametrize(
    "numbers", [("41", "42", "43"), ("iii", "iv", "v"), ("- 7 -", "- 8 -", "- 9 -"), ("1", "2", "3")]
)
def test_numbers_that_count_pages_go(numbers: tuple[str, ...]) -> None:
    extract = read(pdf_of([body(n) + said(290, 30, n) for n in numbers]))
    assert extract.removed == numbers
    assert extract.text.count("It ends here") == 3
    assert all(line.strip() not in numbers for line in extract.text.splitlines())


def test_numbers_that_do_not_are_values() -> None:
    extract = read(pdf_of([body(n) + said(400, 40, value) for n, value in (("a", "930"), ("b", "410"), ("c", "77"))]))
    assert extract.removed == ()
    assert all(f"\n\n{value}\n" in extract.text for value in ("930", "410", "77"))


def test_lines_at_the_same_place_that_differ_in_values_stay() -> None:
    pages = [said(60, 800, f"Q{n}: revenue was {value}") + body(str(n)) for n, value in ((1, 500), (2, 537), (3, 611))]
    extract = read(pdf_of(pages))
    assert all(f"revenue was {value}" in extract.text for value in (500, 537, 611))


def test_letters_that_are_no_page_number_stay() -> None:
    extract = read(pdf_of([body("x") + said(60, 40, "a 1 2") + said(300, 40, "12.5"), body("y")]))
    assert "a 1 2" in extract.text
    assert "12.5" in extract.text


def test_a_table_at_the_foot_of_a_page_keeps_its_numbers() -> None:
    rows = (("Jan", "10", "20"), ("Feb", "30", "40"), ("Mar", "50", "60"))
    cells = "".join(
        said(x, 100 - 15 * n, v) for n, row in enumerate(rows) for x, v in zip((60, 200, 300), row, strict=True)
    )
    extract = read(pdf_of([body("a") + cells, body("b")]))
    assert "| Jan | 10 | 20 |\n|---|---|---|\n| Feb | 30 | 40 |\n| Mar | 50 | 60 |" in extract.text


def test_a_document_of_margins_alone_is_read() -> None:
    assert read(pdf_of([said(60, 800, "Only this."), said(60, 800, "Only this.")])).text.startswith("Only this.")


def test_what_is_printed_across_every_page_is_told() -> None:
    mark = "q 0.8 0.6 -0.6 0.8 200 300 cm " + said(0, 0, "DRAFT of May", size=40) + "Q "
    extract = read(pdf_of([mark + body(str(n)) for n in (1, 2, 3)]))
    assert extract.removed == ("DRAFT of May",)
    assert "\n\nDRAFT of May\n" in read(pdf_of([mark + body("one")])).text


def test_a_stamp_along_the_edge_of_one_page_is_read_whole() -> None:
    stamp = "q 0 1 -1 0 30 300 cm " + said(0, 0, "arXiv:2401.00001 of January") + "Q "
    assert "arXiv:2401.00001 of January" in read(pdf_of([stamp + body("one"), body("two")])).text
