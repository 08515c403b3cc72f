"""PDF -> Markdown with page borders: headings by their type, whole paragraphs, running heads left out and listed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pypdfium2
import pypdfium2.raw as pdfium

from ingest.formats.extract import MAX_CHARACTERS, Extract, UnreadableError
from ingest.formats.pdf.assembly import assemble
from ingest.formats.pdf.glyphs import MAX_PAGE_CHARACTERS, Box
from ingest.formats.pdf.lines import Line
from ingest.formats.pdf.margins import without_running_heads
from ingest.formats.pdf.notes import Notes
from ingest.formats.pdf.page import Page, read_page
from rag.errors import Unreadable

MAX_PAGES = 3_000
RECOGNIZED_SIZE = 10.0
# How many names of attached files are listed.
MOST_NAMES = 10

Recognize = Callable[[pypdfium2.PdfPage], Sequence[tuple[str, Box]]]
"""Reads the text of a scanned page from its picture, a line at a time, the boxes in points."""


def read(data: bytes, recognize: Recognize | None = None) -> Extract:
    if b"%PDF-" not in data[:1024]:
        raise UnreadableError("is not a PDF file", hint="give it the ending of its real type, or save it as PDF again")
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise UnreadableError(
                "is password-protected", hint="remove the password and save it again", reason=Unreadable.PROTECTED
            ) from error
        raise UnreadableError(f"is a damaged PDF file: {error}", hint="save or print it as PDF again") from error
    try:
        return _read(document, recognize)
    finally:
        document.close()


@dataclass(slots=True)
class Reading:
    """The pages read so far, and the numbers of the damaged ones."""

    pages: list[Page] = field(default_factory=list)
    damaged_pages: list[int] = field(default_factory=list)
    characters: int = 0

    def add(self, page: Page) -> None:
        self.pages.append(page)
        self.characters += sum(
            len(line.text) + sum(len(cell) for row in line.rows for cell in row) for line in page.lines
        )
        if self.characters > MAX_CHARACTERS:
            raise UnreadableError(
                f"contains more than {MAX_CHARACTERS:,} characters of text",
                hint="split the document",
                reason=Unreadable.LARGE,
            )

    def numbers(self, is_so: Callable[[Page], object]) -> list[int]:
        return [number for number, page in enumerate(self.pages, start=1) if is_so(page)]

    def warnings(self) -> list[str]:
        """What was left out, each with its pages."""
        found = [
            ("scanned pages without text were left out: {}", self.numbers(lambda page: page.is_scan)),
            (
                "the letters of these pages cannot be read as text, because their font does not map them to Unicode, "
                "and were left out: {}; `ocr = true` would read them",
                self.numbers(lambda page: page.illegible and not page.lines),
            ),
            (
                "some letters cannot be read as text, because their font does not map them to Unicode, and were left "
                "out: {}",
                self.numbers(lambda page: page.illegible and page.lines),
            ),
            (
                "the words in pictures that fill these pages were left out: {}",
                self.numbers(lambda page: page.is_pictured),
            ),
            (
                f"pages of which no more than {MAX_PAGE_CHARACTERS:,} characters were read: {{}}",
                self.numbers(lambda page: page.is_cut),
            ),
            ("damaged pages were left out: {}", self.damaged_pages),
        ]
        return [text.format(ranges(numbers)) for text, numbers in found if numbers]


def _read(document: pypdfium2.PdfDocument, recognize: Recognize | None) -> Extract:
    count = len(document)
    if count > MAX_PAGES:
        raise UnreadableError(
            f"has {count:,} pages (limit {MAX_PAGES:,})", hint="split the document", reason=Unreadable.LARGE
        )
    notes = Notes(document)
    reading = Reading()
    for number in range(1, count + 1):
        try:
            reading.add(_page(document, number, notes, recognize))
        except pypdfium2.PdfiumError:
            reading.damaged_pages.append(number)
            reading.add(Page((), 1.0, 1.0))
    if reading.damaged_pages and len(reading.damaged_pages) == count:
        raise UnreadableError("is a damaged PDF file: no page can be read", hint="save or print it as PDF again")
    if not reading.characters:
        _refuse(reading)
    lines, removed = without_running_heads(reading.pages)
    assembly = assemble(lines)
    text = assembly.text()
    if not text.strip():  # all the text is in the margins of the pages
        assembly, removed = assemble([page.lines for page in reading.pages]), ()
        text = assembly.text()
    title = str(document.get_metadata_value("Title")).strip()
    return Extract(
        text,
        title=title,
        pages=tuple(assembly.borders),
        warnings=(*reading.warnings(), *notes.left_out, *_beside(document)),
        removed=removed,
    )


def _page(document: pypdfium2.PdfDocument, number: int, notes: Notes, recognize: Recognize | None) -> Page:
    page = document[number - 1]
    try:
        found = read_page(page, number, notes)
        if recognize is not None and (found.is_scan or (found.illegible and not found.lines)):
            return _recognized(found, recognize(page))
        return found
    finally:
        page.close()


def _recognized(page: Page, found: Sequence[tuple[str, Box]]) -> Page:
    # Type sizes in a picture are not exact enough to recognise headings.
    lines = tuple(Line(text, box, RECOGNIZED_SIZE, box[1]) for text, box in found if text.strip())
    notes = tuple(line for line in page.lines if line.is_note)
    return replace(page, lines=lines + notes, is_scan=not lines, illegible=0 if lines else page.illegible)


def _refuse(reading: Reading) -> None:
    """Say why there is no text. An empty document is not refused here."""
    scans = reading.numbers(lambda page: page.is_scan)
    illegible = reading.numbers(lambda page: page.illegible)
    if scans and len(scans) >= len(illegible):
        raise UnreadableError(
            f"contains pictures of text, but no text ({len(scans)} scanned pages); `ocr = true` would read them",
            hint="set `ocr = true`, which needs the extra `ocr`, or recognise the text with another program",
            reason=Unreadable.SCANNED,
        )
    if illegible:
        raise UnreadableError(
            "contains letters that cannot be read as text: its fonts do not map them to Unicode "
            f"(pages {ranges(illegible)}); `ocr = true` would read them",
            hint="set `ocr = true`, which needs the extra `ocr`, or save it again with text that can be copied",
            reason=Unreadable.SCANNED,
        )


def _beside(document: pypdfium2.PdfDocument) -> list[str]:
    """Warnings about what a document contains besides its pages."""
    warnings = []
    if document.get_formtype() == pdfium.FORMTYPE_XFA_FULL:
        warnings.append("it is an XFA form, whose fields only Adobe's programs show; they were left out")
    count = document.count_attachments()
    if count > 0:
        names = [document.get_attachment(number).get_name() for number in range(min(count, MOST_NAMES))]
        more = f" and {count - len(names)} more" if count > len(names) else ""
        warnings.append(f"attached files were left out: {', '.join(names)}{more}")
    return warnings


def ranges(numbers: Sequence[int]) -> str:
    """`[1, 2, 3, 7]` -> `1-3, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)
