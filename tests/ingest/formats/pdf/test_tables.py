"""Tables, with rules and without, over pages, with cells that go over several places."""

from collections.abc import Sequence

from ingest.formats.pdf import read
from tests.ingest.formats.pdf_file import lines, pdf_of, rules, said

Row = Sequence[str]
WIDE = "A paragraph that is as wide as the page and stands above or below the table, not in it, as all can see."


def cells(xs: Sequence[float], y: float, rows: Sequence[Row], *, step: float = 20) -> str:
    return "".join(
        said(x + 5, y - step * n - 14, text)
        for n, row in enumerate(rows)
        for x, text in zip(xs, row, strict=False)
        if text
    )


def ruled(rows: Sequence[Row], y: float = 700, xs: Sequence[float] = (60, 160, 260, 360)) -> str:
    """A table with every rule, whose upper edge is at that height."""
    return rules(xs, [y - 20 * n for n in range(len(rows) + 1)]) + cells(xs, y, rows)


def text_of(*pages: str) -> str:
    return read(pdf_of(pages)).text


def test_a_cell_over_rows_and_one_over_columns_fill_their_places() -> None:
    upright = "".join(f"{x} 620 m {x} 700 l S\n" for x in (60, 160, 360)) + "260 620 m 260 680 l S\n"
    across = "60 700 m 360 700 l S\n60 660 m 360 660 l S\n60 620 m 360 620 l S\n"
    across += "160 680 m 360 680 l S\n160 640 m 360 640 l S\n"
    page = upright + across + cells((60, 160, 260), 700, [("Area", "", ""), ("", "train", "infer")])
    page += said(240, 686, "Memory") + said(65, 636, "North") + said(165, 646, "1") + said(265, 646, "2")
    page += said(165, 626, "3") + said(265, 626, "4")
    assert text_of(page) == (
        "| Area | Memory | Memory |\n|---|---|---|\n| Area | train | infer |\n| North | 1 | 2 |\n| North | 3 | 4 |\n"
    )


def test_a_head_without_rules_between_its_cells_keeps_them() -> None:
    page = "60 640 m 60 700 l S\n360 640 m 360 700 l S\n160 640 m 160 680 l S\n260 640 m 260 680 l S\n"
    page += "".join(f"60 {y} m 360 {y} l S\n" for y in (640, 660, 680, 700))
    text = text_of(page + cells((60, 160, 260), 700, [("Name", "Count", "Price"), ("A", "1", "2"), ("B", "3", "4")]))
    assert text == "| Name | Count | Price |\n|---|---|---|\n| A | 1 | 2 |\n| B | 3 | 4 |\n"


def test_rows_without_rules_between_them_are_rows() -> None:
    page = rules((60, 160, 260), (620, 680, 700)) + cells((60, 160), 700, [("Name", "Count")])
    page += lines(65, 666, ["A", "B", "C"], step=16) + lines(165, 666, ["1", "2", "3"], step=16)
    assert text_of(page) == "| Name | Count |\n|---|---|\n| A | 1 |\n| B | 2 |\n| C | 3 |\n"


def test_wrapped_cells_are_whole() -> None:
    page = rules((60, 160, 260), (620, 660, 680)) + cells((60, 160), 680, [("Name", "Meaning")])
    page += lines(65, 648, ["The opti-", "mizer"]) + lines(165, 648, ["数据并", "行训练"], font="Z")
    assert text_of(page) == "| Name | Meaning |\n|---|---|\n| The optimizer | 数据并行训练 |\n"


def test_a_table_goes_on_over_pages_with_one_head() -> None:
    head = ("No", "Name", "Price")
    first = lines(60, 760, [WIDE]) + ruled([head, ("1", "A", "10"), ("2", "B", "20")])
    second = ruled([head, ("3", "C", "30"), ("4", "D", "40")], y=780)
    third = ruled([("5", "E", "50"), ("6", "F", "60")], y=780) + said(60, 600, "The end.")
    extract = read(pdf_of([first, second, third]))
    table = "| No | Name | Price |\n|---|---|---|\n" + "".join(
        f"| {n} | {name} | {n}0 |\n" for n, name in enumerate("ABCDEF", start=1)
    )
    assert extract.text == f"{WIDE}\n\n{table}\nThe end.\n"
    assert [extract.text[page:][:5] for page in extract.pages[1:]] == ["| 3 |", "| 5 |"]


def test_a_cell_that_the_end_of_the_page_cuts_goes_on() -> None:
    first = ruled([("Area", "Type", "Limit"), ("North", "H100", "16")])
    second = rules((160, 260, 360), (740, 760, 780)) + "60 740 m 60 780 l S 60 780 m 160 780 l S 60 740 m 160 740 l S\n"
    second += cells((60, 160, 260), 780, [("", "H200", "8"), ("", "A100", "32")])
    assert text_of(first, second).splitlines()[2:] == [
        "| North | H100 | 16 |",
        "| North | H200 | 8 |",
        "| North | A100 | 32 |",
    ]


def test_other_tables_on_the_next_page_stay_apart() -> None:
    text = text_of(
        ruled([("a", "b", "c"), ("1", "2", "3")]), said(60, 800, "Other:") + ruled([("d", "e", "f"), ("4", "5", "6")])
    )
    assert text.count("|---|---|---|") == 2


def test_columns_that_line_up_are_a_table() -> None:
    rows = (
        ("Method", "Memory", "Speed"),
        ("Full tuning", "80 GB", "1.0"),
        ("LoRA", "", "1.3"),
        ("QLoRA", "12 GB", "0.8"),
    )
    page = lines(60, 760, [WIDE]) + cells((60, 127, 180), 740, rows, step=14) + lines(60, 640, [WIDE])
    assert text_of(page) == (
        f"{WIDE}\n\n| Method | Memory | Speed |\n|---|---|---|\n| Full tuning | 80 GB | 1.0 |\n| LoRA |  | 1.3 |\n"
        f"| QLoRA | 12 GB | 0.8 |\n\n{WIDE}\n"
    )


def test_rows_that_all_begin_with_a_number_have_no_head() -> None:
    page = cells(
        (60, 120, 200), 740, [("2", "CARD16", "VERSION"), ("4", "CARD32", "ALIASES"), ("4", "CARD32", "PARENTS")]
    )
    assert text_of(page).startswith("|  |  |  |\n|---|---|---|\n| 2 | CARD16 | VERSION |\n")


def test_two_rows_or_columns_of_prose_are_none() -> None:
    assert "|" not in text_of(cells((60, 160), 740, [("Name", "Ann"), ("Role", "Engineer")]))
    left = [f"left column line {n:02} with some words" for n in range(12)]
    right = [f"right column line {n:02} with more words" for n in range(12)]
    assert "|" not in text_of(cells((60, 320), 740, list(zip(left, right, strict=True)), step=14))


def test_lists_with_their_marks_apart_are_lists() -> None:
    page = "".join(
        said(60, 700 - 14 * n, f"{n + 1}.") + said(85, 700 - 14 * n, text)
        for n, text in enumerate(("a b", "c d", "e f"))
    )
    assert text_of(page) == "1. a b\n2. c d\n3. e f\n"


def test_columns_of_code_are_code() -> None:
    page = said(60, 740, "The options of it are these, each with what it does:")
    for n, (name, what) in enumerate((("-c, --check", "checks only"), ("-o FILE", "output"), ("-h", "help"))):
        page += said(60, 700 - 12 * n, name, font="C") + said(180, 700 - 12 * n, what, font="C")
    assert "```\n-c, --check         checks only\n-o FILE             output\n-h                  help\n```" in text_of(
        page
    )


def test_the_rules_of_a_form_are_where_it_is_painted() -> None:
    """A table printed along the page, and one moved by a matrix, are tables all the same."""
    turned = "q 0 1 -1 0 595 0 cm " + said(60, 560, WIDE) + ruled([("a", "b", "c"), ("1", "2", "3")], y=500) + "Q"
    assert text_of(turned) == f"{WIDE}\n\n| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n"
