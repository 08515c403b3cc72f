"""Values of fields and remarks are read where they stand, and marked."""

from ingest.formats.pdf import read
from tests.ingest.formats.pdf_file import lines, pdf_of, rules, said

LONG = (
    "This paragraph is long enough to reach the right edge of its column, where the opti-",
    "mizer steps begin a new line because the word did not fit into the one before it any",
    "more. It ends early.",
)


def field(kind: str, name: str, value: str, box: str, more: str = "") -> str:
    return f"/Subtype /Widget /FT /{kind} /T ({name}) {value} /Rect [{box}] {more}"


def hexadecimal(text: str) -> str:
    return f"<FEFF{text.encode('utf-16-be').hex()}>"


def test_a_value_follows_its_label() -> None:
    page = said(60, 700, "Cause of it:") + said(60, 650, "原因：", font="Z")
    fields = [
        field("Tx", "cause", "/V (disk full)", "130 695 300 712"),
        field("Tx", "why", f"/V {hexadecimal('磁盘满')}", "130 645 300 662"),
        field("Tx", "empty", "/V ()", "130 600 300 612"),
    ]
    assert (
        read(pdf_of([page], annotations=fields)).text
        == "Cause of it: (filled in: disk full)\n\n原因： （填写：磁盘满）\n"
    )


def test_a_value_without_a_label_is_told_by_its_name() -> None:
    page = said(60, 780, "Fill in what happened.")
    text = read(pdf_of([page], annotations=[field("Tx", "cause", "/V (disk full)", "60 600 300 612")])).text
    assert text == "Fill in what happened.\n\ncause: (filled in: disk full)\n"


def test_several_fields_in_one_sentence() -> None:
    page = said(60, 460, "From") + said(160, 460, "to") + said(250, 460, "on Monday.")
    fields = [field("Tx", "a", "/V (09:00)", "90 456 150 472"), field("Tx", "b", "/V (09:42)", "180 456 240 472")]
    assert read(pdf_of([page], annotations=fields)).text == "From (filled in: 09:00) to (filled in: 09:42) on Monday.\n"


def test_the_label_above_goes_before() -> None:
    page = said(60, 580, "Description of it") + said(60, 480, "What follows.")
    text = read(
        pdf_of([page], annotations=[field("Tx", "d", "/V (The disk\\nfilled.)", "60 500 400 572", "/Ff 4096")])
    ).text
    assert text == "Description of it\n\n(filled in: The disk filled.)\n\nWhat follows.\n"


def test_boxes_are_ticked_or_not() -> None:
    page = said(80, 662, "Acknowledged by all") + said(80, 642, "Published")
    fields = [
        field("Btn", "ack", "/V /Yes /AS /Yes", "60 660 74 674", "/AP << /N << /Yes 1 0 R /Off 1 0 R >> >>"),
        field("Btn", "pub", "/V /Off /AS /Off", "60 640 74 654", "/AP << /N << /Yes 1 0 R /Off 1 0 R >> >>"),
    ]
    assert read(pdf_of([page], annotations=fields)).text == "☑ Acknowledged by all\n☐ Published\n"


def test_a_choice_is_told_as_it_is_shown() -> None:
    page = said(60, 700, "Severity:")
    choice = field("Ch", "sev", "/V (h)", "120 695 220 713", "/Ff 131072 /Opt [[(l) (Low)] [(h) (High)]]")
    assert read(pdf_of([page], annotations=[choice])).text == "Severity: (filled in: High)\n"


def test_a_field_in_a_table_stands_in_its_cell() -> None:
    table = rules((60, 160, 300), (640, 660, 680)) + said(65, 666, "Field") + said(165, 666, "Value")
    fields = [field("Tx", "port", "/V (7861)", "165 642 295 658")]
    text = read(pdf_of([table + said(65, 646, "Port")], annotations=fields)).text
    assert text == "| Field | Value |\n|---|---|\n| Port | (filled in: 7861) |\n"


def test_a_password_is_not_read_and_told() -> None:
    secret = field("Tx", "secret", "/V (hunter2)", "60 600 200 612", "/Ff 8192")
    extract = read(pdf_of([said(60, 700, "Sign in.")], annotations=[secret]))
    assert "hunter2" not in extract.text
    assert extract.warnings == ("page 1: the value of a password field was left out",)


def test_remarks_stand_after_their_paragraph() -> None:
    page = lines(60, 700, LONG) + said(60, 640, "Another paragraph.")
    remarks = [
        "/Subtype /Text /Contents (is that so?) /T (Ann) /Rect [540 690 560 706]",
        "/Subtype /Highlight /Contents (see the log) /Rect [60 636 120 650] "
        "/QuadPoints [60 650 120 650 60 636 120 636]",
    ]
    assert read(pdf_of([page], annotations=remarks)).text.split("\n\n")[1:] == [
        "(Remark by Ann: is that so?)", "Another paragraph.", "(Remark: see the log)\n",
    ]  # fmt: skip


def test_remarks_in_chinese_and_on_an_empty_page() -> None:
    note = f"/Subtype /FreeText /Contents {hexadecimal('请复查')} /T {hexadecimal('小王')} /Rect [60 600 200 620]"
    assert read(pdf_of([""], annotations=[note])).text == "（小王批注：请复查）\n"


def test_rich_text_counts_where_there_is_no_other() -> None:
    note = "/Subtype /Text /RC (<body><p>From the <b>log</b></p></body>) /Rect [60 600 80 620]"
    assert read(pdf_of([said(60, 700, "Text.")], annotations=[note])).text == "Text.\n\n(Remark: From the log)\n"


def test_hidden_notes_are_told() -> None:
    note = "/Subtype /Text /F 2 /Contents (hidden) /Rect [60 600 80 620]"
    extract = read(pdf_of([said(60, 700, "Text.")], annotations=[note]))
    assert extract.text == "Text.\n"
    assert extract.warnings == ("page 1: hidden notes and fields were left out",)


def test_too_many_notes_are_told() -> None:
    notes = [f"/Subtype /Text /Contents (n{n}) /Rect [60 600 80 620]" for n in range(1_001)]
    extract = read(pdf_of([said(60, 700, "Text.")], annotations=notes))
    assert "(Remark: n999)" in extract.text
    assert extract.warnings == ("page 1: 1 of 1,001 notes and fields were left out",)
