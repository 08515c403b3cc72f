"""Headings by size, by weight, by their numbers; and what is none."""

from ingest.formats.pdf import read
from ingest.formats.pdf.document import ranges
from ingest.reading.loading import document_of
from ingest.structure.passages import cut
from ingest.structure.sections import structure
from tests.ingest.formats.pdf_file import lines, pdf_of, said

FULL = [
    "A paragraph of several lines, each of which is as wide as the column in which it",
    "stands, so that the first word of the next one had no room on it any more, and it",
    "ends here.",
]
WHOLE = " ".join(FULL)


def text_of(*pages: str) -> str:
    return read(pdf_of(pages)).text


def test_bold_lines_are_headings_by_their_depth() -> None:
    page = said(60, 760, "Overview", font="B") + lines(60, 748, FULL)
    page += said(60, 700, "2.1 Tools", font="B") + lines(60, 688, FULL)
    assert text_of(page) == f"# Overview\n\n{WHOLE}\n\n## 2.1 Tools\n\n{WHOLE}\n"


def test_bold_lines_stand_below_larger_ones() -> None:
    page = said(60, 790, "The title", size=18) + said(60, 760, "Overview", font="B") + lines(60, 748, FULL)
    assert text_of(page) == f"# The title\n\n## Overview\n\n{WHOLE}\n"


def test_bold_text_is_no_heading_within_a_paragraph_or_a_list_or_where_all_is_bold() -> None:
    within = said(60, 760, FULL[0]) + said(60, 748, FULL[1][:70], font="B") + said(60, 736, "and so it ends.")
    assert text_of(within + lines(60, 700, FULL * 2)).count("#") == 0
    several = lines(60, 760, ["One bold line", "Another bold line", "A third one"], font="B")
    assert text_of(several + lines(60, 700, FULL * 2)).count("#") == 0
    assert text_of(lines(60, 700, FULL, font="B")).count("#") == 0


def test_a_bold_label_with_text_on_its_line_is_none() -> None:
    page = said(60, 760, "Note.", font="B") + said(92, 760, FULL[0][:60]) + lines(60, 720, FULL)
    assert "#" not in text_of(page)


def test_drawn_and_filled_letters_are_bold() -> None:
    """How programs make a Chinese font bold that has no bold cut."""
    page = (
        "q 2 Tr "
        + said(60, 760, "部署", font="Z")
        + "0 Tr Q "
        + said(60, 740, "默认端口是七千八百六十一，日志在本机。", font="Z")
    )
    assert text_of(page) == "# 部署\n\n默认端口是七千八百六十一，日志在本机。\n"


def test_a_title_over_little_text() -> None:
    assert text_of(said(60, 760, "The longest title of them", size=20) + said(60, 720, "Short text here.")) == (
        "# The longest title of them\n\nShort text here.\n"
    )


def test_a_heading_of_two_lines_is_one() -> None:
    title = said(150, 760, "A title of a paper about things", size=16) + said(
        200, 740, "and how they are read", size=16
    )
    assert text_of(title + lines(60, 700, FULL)).startswith("# A title of a paper about things and how they are read\n")


def test_numbers_tell_chapters_where_nothing_else_does() -> None:
    chapters = said(60, 760, "一、部署", font="Z") + said(60, 740, "默认端口是七千八百六十一，日志在本机。", font="Z")
    chapters += said(60, 720, "二、监控", font="Z") + said(60, 700, "日志每天轮转一次，保留七天后删除。", font="Z")
    assert [line for line in text_of(chapters).splitlines() if line.startswith("#")] == ["# 一、部署", "# 二、监控"]
    steps = lines(60, 700, ["1. Take it", "2. Turn it", "3. Leave it"])
    assert text_of(steps) == "1. Take it\n2. Turn it\n3. Leave it\n"


def test_the_first_line_is_in_a_passage_whatever_it_is() -> None:
    for first, size in (("The default port is 7861", 10), ("The default port is 7861.", 14), ("注意：不要上线", 10)):
        font = "F" if first.isascii() else "Z"
        data = pdf_of([said(60, 760, first, size=size, font=font) + lines(60, 720, FULL)])
        drafts = cut(structure(document_of("port.pdf", ".pdf", data)), budget=400)
        assert any(first in draft.content.text for draft in drafts), first


def test_ranges() -> None:
    assert ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"
