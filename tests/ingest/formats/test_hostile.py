"""Files made to do harm, or broken: each is refused with a reason, quickly, and the next one is read."""

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.formats.extract import UnreadableError
from ingest.reading.parser_process import ParserProcess
from tests.ingest.formats.pdf_file import pdf
from tests.paths import FORMATS as DATA

ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
BOMB = f'<!DOCTYPE x [<!ENTITY e0 "ha">{ENTITIES}]>'
RULES = "".join(f"0 {n} m 595 {n} l S {n} 0 m {n} 842 l S " for n in range(1, 900))
SURROGATES = json.dumps(
    {"cells": [{"cell_type": "code", "source": "x", "outputs": [{"text": "\ud800" * 999}]}]}
).encode()
SPY = '<!DOCTYPE x [<!ENTITY spy SYSTEM "file:///etc/passwd">]>'


def rewritten(name: str, part: str, change: Callable[[bytes], bytes], *, called: str | None = None) -> bytes:
    """A sample in which one part was changed (and perhaps named otherwise)."""
    target = io.BytesIO()
    with zipfile.ZipFile(DATA / name) as archive, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        for entry in archive.namelist():
            data = archive.read(entry)
            copy.writestr(called or entry if entry == part else entry, change(data) if entry == part else data)
    return target.getvalue()


def with_doctype(doctype: str, entity: str, place: bytes) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        head, _, rest = data.partition(b"?>")
        assert place in rest
        return head + b"?>" + doctype.encode() + rest.replace(place, place + entity.encode(), 1)

    return change


def zip_of(**parts: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return target.getvalue()


def encrypted(name: str) -> bytes:
    data = bytearray((DATA / name).read_bytes())
    place = data.index(b"PK\x01\x02")
    data[place + 8] |= 1
    return bytes(data)


# What takes long to make is made by the test, and not whenever tests are collected.
REFUSED: list[tuple[str, bytes | Callable[[], bytes], str]] = [
    (".docx", lambda: zip_of(**{"word/document.xml": bytes(300 << 20)}), "decompression bomb"),
    (".xlsx", lambda: zip_of(**{"xl/workbook.xml": bytes(100 << 20)}), "decompression bomb"),
    (".epub", lambda: zip_of(**{f"{n}.xhtml": b"" for n in range(10_001)}), "10,001 parts"),
    (".docx", rewritten("article.docx", "word/styles.xml", bytes, called="../../evil.xml"), "leads outside"),
    (".epub", rewritten("book.epub", "mimetype", bytes, called="/etc/cron.d/x"), "leads outside"),
    (
        ".pptx",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4_096),
        "password-protected, or in the format that came before",
    ),
    (".xlsx", encrypted("methods.xlsx"), "password-protected"),
    (".docx", (DATA / "article.docx").read_bytes()[:4_000], "is not a valid DOCX file"),
    (".docx", (DATA / "methods.xlsx").read_bytes(), "is not a valid DOCX file"),
    (".xlsx", (DATA / "article.docx").read_bytes(), "is not a valid XLSX file"),
    (".pptx", (DATA / "article.docx").read_bytes(), "is not a valid PPTX file"),
    (".epub", (DATA / "article.docx").read_bytes(), "container.xml"),
    (".pdf", b"<!DOCTYPE html><p>not a PDF", "is not a PDF file"),
    (".pdf", b"%PDF-1.7\n%%EOF", "damaged PDF"),
    (".html", (DATA / "article.pdf").read_bytes(), "binary data|encoding"),
    (".ipynb", b"[" * 200_000, "nested too deeply|not a Jupyter notebook"),
    (".ipynb", b'{"cells": 5}', "has no cells"),
    (".ipynb", b"not JSON", "is not a Jupyter notebook"),
    (".csv", b'"' + b"a" * 2_000_000, "field larger than field limit"),
]


@pytest.mark.parametrize(("suffix", "data", "message"), REFUSED, ids=[f"{case[0]}-{case[2][:20]}" for case in REFUSED])
def test_refused(brief: ParserProcess, suffix: str, data: bytes | Callable[[], bytes], message: str) -> None:
    content = data if isinstance(data, bytes) else data()
    with pytest.raises(UnreadableError, match=message) as caught:
        brief.extract(suffix, content)
    assert caught.value.hint


@pytest.mark.parametrize(("doctype", "entity"), [(BOMB, "&e11;"), (SPY, "&spy;")], ids=["bomb", "spy"])
@pytest.mark.parametrize(
    ("name", "part", "place"),
    [
        ("article.docx", "word/document.xml", b'<w:t xml:space="preserve">'),
        ("deck.pptx", "ppt/slides/slide1.xml", b"<a:t>"),
        ("methods.xlsx", "xl/sharedStrings.xml", b'<t xml:space="preserve">'),
        ("book.epub", "EPUB/content.opf", b"<dc:language>"),
        ("book.epub", "EPUB/text/ch002.xhtml", b"<p>"),
    ],
)
def test_entities_are_not_replaced(
    parser: ParserProcess, name: str, part: str, place: bytes, doctype: str, entity: str
) -> None:
    """Neither are they blown up, nor do they bring in a file of the machine."""
    data = rewritten(name, part, with_doctype(doctype, entity, place))
    try:
        text = parser.extract(Path(name).suffix, data).text
    except UnreadableError as error:
        text = error.message
    assert "root:" not in text
    assert len(text) < 10_000


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".html", b"<div>" * 100_000 + "正文在此，还能读到。".encode()),
        (".html", b"<table><tr><td>" * 3_000 + b"text"),
        (".html", b"<ul><li>" * 20_000 + b"text"),
        (".docx", rewritten("article.docx", "word/document.xml", lambda data: data.replace(
            b"<w:p>", b"<w:sdt><w:sdtContent>" * 5_000 + b"<w:p>", 1))),
        (".epub", rewritten("book.epub", "EPUB/text/ch002.xhtml", lambda data: data.replace(
            b"<p>", b"<math>" + b"<mrow>" * 5_000, 1))),
        (".pdf", pdf([[(72, 700, "text")]], drawings="q " * 100_000)),
        (".pdf", pdf([[(72, 700, "text")]], size=(2_000_000, 2_000_000))),
        (".pdf", pdf([[(72, 700, "text")]], drawings=RULES)),
        (".csv", b",".join([b"x"] * 100_000)),
        (".ipynb", SURROGATES),
    ],
    ids=["divs", "tables", "lists", "docx", "mathml", "pdf-states", "pdf-size", "pdf-rules", "csv", "surrogates"],
)  # fmt: skip
def test_excess_is_read_or_refused(brief: ParserProcess, suffix: str, data: bytes) -> None:
    try:
        brief.extract(suffix, data).text.encode()
    except UnreadableError as error:
        if "was stopped after" in error.message:
            raise


def claiming(last: bytes) -> bytes:
    """A workbook whose first sheet has a cell far away from the others."""
    return rewritten("methods.xlsx", "xl/worksheets/sheet1.xml", lambda data: data.replace(b'r="C4"', b'r="%s"' % last))


@pytest.mark.parametrize("last", [b"ZZ20000", b"XFD1048576"])
def test_what_a_sheet_spans_costs_nothing(brief: ParserProcess, last: bytes) -> None:
    assert "## 术语表" in brief.extract(".xlsx", claiming(last)).text


def test_an_archive_that_lies_about_its_size(parser: ParserProcess) -> None:
    data = bytearray(zip_of(**{"[Content_Types].xml": bytes(200 << 20)}))
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = data.index(mark) + offset
        data[place : place + 4] = struct.pack("<I", 1_000)
    for suffix in (".docx", ".pptx", ".xlsx"):
        with pytest.raises(UnreadableError):
            parser.extract(suffix, bytes(data))


def test_scanned_pages_are_reported(parser: ParserProcess) -> None:
    picture = "q 595 0 0 842 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q\n"
    with pytest.raises(UnreadableError, match=r"pictures of text, but no text \(2 scanned pages\); `ocr = true`"):
        parser.extract(".pdf", pdf([[], []], drawings=picture))
    page = [(72.0, 800.0 - 14 * n, f"Line {n} of a page that has text of its own.") for n in range(20)]
    extract = parser.extract(".pdf", pdf([page, [], []], drawings=picture))
    assert extract.warnings == ("scanned pages without text were left out: 2-3",)
    assert "Line 7 of a page" in extract.text
