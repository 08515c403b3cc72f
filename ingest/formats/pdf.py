"""PDF -> text with page borders: headings by the size of their type, paragraphs whole again, running heads dropped."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

import pypdfium2

from ingest.formats.extract import MAX_CHARACTERS, Extract, UnreadableError
from ingest.formats.markdown import fence, heading
from ingest.formats.pdf_page import SOFT_HYPHENS, Box, Line, Page, read_page
from rag.errors import Unreadable

MAX_PAGES = 3_000
WIDE = re.compile("[\u2e80-\ufeff]")
# Lines this near to the upper and lower edge (share of the height, points) may be running heads and page numbers.
MARGIN, MIN_MARGIN = 0.12, 85.0
EDGE_LINES = 3
HEADING_SIZE = 1.15
MAX_HEADING_CHARACTERS = 80
RECOGNIZED_SIZE = 10.0
PAGE_NUMBER = re.compile(
    r"[\s\-–—第页頁共page of./|·]*(?:\d{1,4}|[ivxlc]{1,6})[\s\-–—第页頁共page of./|·\d]*", re.IGNORECASE
)
BULLET = re.compile(r"\s*(?:[•●▪■◦○‣⁃∙·➢✓]|[-–*](?=\s))\s*")
NUMBERED = re.compile(
    r"\s*(?:\d{1,3}\s*[.、．)）]|[(（]\d{1,3}[)）]|[一二三四五六七八九十]{1,3}、|[Qq]\d{1,3}\s*[:：.、])"
)
# Closing punctuation does not begin a line: it takes the character before it along.
FIRST_WORD = re.compile(r"(?:[!-~]+|.)[，。、；：！？）》」』”’…]*")
SENTENCE_END = re.compile(r"[。！？.!?:：;；…][”’\"）)]?$")

Recognize = Callable[[pypdfium2.PdfPage], Sequence[tuple[str, Box]]]
"""Reads the text of a scanned page from its picture, a line at a time, the boxes in points."""


def read(data: bytes, recognize: Recognize | None = None) -> Extract:
    if b"%PDF-" not in data[:1024]:
        raise UnreadableError("is no PDF file", hint="give it the ending of what it is, or save it anew as PDF")
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise UnreadableError(
                "is password-protected", hint="remove the password and save it anew", reason=Unreadable.PROTECTED
            ) from error
        raise UnreadableError(f"is a damaged PDF file: {error}", hint="save or print it anew as PDF") from error
    try:
        return _read(document, recognize)
    finally:
        document.close()


def _read(document: pypdfium2.PdfDocument, recognize: Recognize | None) -> Extract:
    if len(document) > MAX_PAGES:
        raise UnreadableError(
            f"has {len(document):,} pages (limit {MAX_PAGES:,})", hint="split the document", reason=Unreadable.LARGE
        )
    pages: list[Page] = []
    scans: list[int] = []
    damaged: list[int] = []
    characters = 0
    for number in range(len(document)):
        try:
            page = document[number]
            read_ = read_page(page)
            if read_.is_scan and recognize is not None:
                read_ = _recognized(read_, recognize(page))
            page.close()
        except pypdfium2.PdfiumError:
            damaged.append(number + 1)
            read_ = Page((), 1.0, 1.0, False)
        if read_.is_scan:
            scans.append(number + 1)
        pages.append(read_)
        characters += sum(len(line.text) for line in read_.lines)
        if characters > MAX_CHARACTERS:
            raise UnreadableError(
                f"holds more than {MAX_CHARACTERS:,} characters of text",
                hint="split the document",
                reason=Unreadable.LARGE,
            )
    if damaged and len(damaged) == len(pages):
        raise UnreadableError("is a damaged PDF file: no page can be read", hint="save or print it anew as PDF")
    if not characters and scans:
        raise UnreadableError(
            f"holds pictures of text, no text ({len(scans)} scanned pages); `ocr = true` would read them",
            hint="set `ocr = true`, which needs the extra `ocr`, or recognise the text with another program",
            reason=Unreadable.SCANNED,
        )
    warnings = []
    if scans:
        warnings.append(f"scanned pages without text were left out: {_ranges(scans)}")
    if damaged:
        warnings.append(f"damaged pages were left out: {_ranges(damaged)}")
    text, borders, has_headings = _assemble(_without_running_heads(pages))
    title = str(document.get_metadata_value("Title")).strip()
    return Extract(text, title=title, pages=borders, warnings=tuple(warnings), is_markdown=has_headings)


def _recognized(page: Page, found: Sequence[tuple[str, Box]]) -> Page:
    # A picture does not tell sizes of type exactly enough to know headings by them.
    lines = tuple(Line(text, box, RECOGNIZED_SIZE, box[1]) for text, box in found if text.strip())
    return Page(lines, page.width, page.height, is_scan=not lines)


def _ranges(numbers: Sequence[int]) -> str:
    """`[1, 2, 3, 7]` -> `1-3, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def _without_running_heads(pages: Sequence[Page]) -> list[list[Line]]:
    """The lines of each page, without page numbers and without what stands at the same edge of many pages."""
    edges = [_edge_lines(page) for page in pages]
    counts = Counter(key for edge in edges for key in set(edge.values()))
    often = 2 if len(pages) <= 4 else max(3, len(pages) // 4)
    return [
        [
            line
            for place, line in enumerate(page.lines)
            if place not in edge or not (counts[edge[place]] >= often or PAGE_NUMBER.fullmatch(line.text))
        ]
        for page, edge in zip(pages, edges, strict=True)
    ]


def _edge_lines(page: Page) -> dict[int, tuple[str, int]]:
    """The outermost lines of a page: by place, what they say but for numbers, and how high they stand."""
    margin = min(max(MARGIN * page.height, MIN_MARGIN), page.height / 4)
    in_margins = [
        (line.baseline, place)
        for place, line in enumerate(page.lines)
        if line.size and not margin < line.baseline < page.height - margin
    ]
    ranked = sorted(in_margins)
    outermost = {place for _, place in ranked[:EDGE_LINES] + ranked[-EDGE_LINES:]}
    return {
        place: (re.sub(r"\d+", "#", "".join(page.lines[place].text.split())), round(page.lines[place].baseline / 6))
        for place in outermost
    }


def _assemble(pages: Sequence[Sequence[Line]]) -> tuple[str, tuple[int, ...], bool]:
    """The whole text, the offset at which each page begins in it, and whether it has headings."""
    levels = _heading_levels([line for page in pages for line in page])
    pitches = _pitches(pages)
    rights = [_right_edges(page) for page in pages]
    parts: list[str] = []
    length = 0
    borders = []
    code: list[str] = []
    previous: tuple[Line, float] | None = None
    has_headings = False

    def put(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    def close_code() -> None:
        if code:
            put(("\n\n" if parts else "") + fence("\n".join(code)))
            code.clear()

    for number, page in enumerate(pages):
        first = True
        for place, line in enumerate(page):
            text = _normal(line.text)
            if line.is_mono and len(line.text) > 1:
                if first:
                    close_code()
                    borders.append(length)
                    first = False
                code.append(_indent(line, page, place) + text)
                previous = None
                continue
            close_code()
            level = 0 if line.is_table else levels.get(line.size, 0) if _can_head(text) else 0
            edge = rights[number].get(place, line.box[2])
            if previous is not None and _continues(
                previous[0], line, text, previous[1], pitches, is_heading=bool(level), turns=first
            ):
                glue, cut = _glue(parts[-1], text)
                if cut:
                    parts[-1] = parts[-1][:-1]
                    length -= 1
                if first:
                    borders.append(length + len(glue))
                put(glue + text)
            else:
                bullet = BULLET.match(text)
                item = bullet is not None or NUMBERED.match(text) is not None
                separator = "" if not parts else "\n" if item and previous is not None and not level else "\n\n"
                if first:
                    borders.append(length + len(separator))
                if level:
                    has_headings = True
                    text = heading(text, level)
                elif bullet is not None and bullet.end() < len(text):
                    text = f"- {text[bullet.end() :]}"
                put(separator + text)
            first = False
            previous = None if line.is_table else (line, edge)
        close_code()
        if first:
            borders.append(length)
    return "".join(parts).strip("\n") + "\n", tuple(borders), has_headings


def _normal(text: str) -> str:
    """Ligatures and radicals as the letters that they stand for; a soft hyphen as a hyphen."""
    for hyphen in SOFT_HYPHENS:
        text = text.replace(hyphen, "-")
    if any("\u2e80" <= c <= "\u2fdf" or "\ufb00" <= c <= "\ufb06" or "\uf900" <= c <= "\ufaff" for c in text):
        text = "".join(
            unicodedata.normalize("NFKC", c) if "\u2e80" <= c <= "\u2fdf" or "\ufb00" <= c <= "\ufb06" else c
            for c in text
        )
    return text.strip()


def _heading_levels(lines: Sequence[Line]) -> dict[float, int]:
    """Sizes of type clearly above that of most of the text, the largest first."""
    weights: Counter[float] = Counter()
    heads: set[float] = set()
    for line in lines:
        if line.size and not line.is_mono:
            weights[line.size] += len(line.text)
            if _can_head(line.text):
                heads.add(line.size)
    if not weights:
        return {}
    body = weights.most_common(1)[0][0]
    total = sum(weights.values())
    larger = [size for size in heads if size >= HEADING_SIZE * body and weights[size] <= 0.3 * total]
    return {size: min(level, 4) for level, size in enumerate(sorted(larger, reverse=True), start=1)}


def _right_edges(page: Sequence[Line]) -> dict[int, float]:
    """For each line the right edge of the column it stands in: how far neighbours that begin alike reach."""
    edges = {}
    for place, line in enumerate(page):
        alike = (
            other.box[2]
            for other in page[max(0, place - 40) : place + 40]
            if not other.is_table and other.box[0] < line.box[2] and abs(other.box[0] - line.box[0]) < 60
        )
        edges[place] = max(alike, default=line.box[2])
    return edges


def _can_head(text: str) -> bool:
    return len(text) <= MAX_HEADING_CHARACTERS and sum(map(str.isalnum, text)) >= 2


def _pitch_key(before: Line, line: Line) -> tuple[float, bool, bool]:
    """Lines with Chinese in them are mostly higher than English ones of the same size."""
    return line.size, bool(WIDE.search(before.text)), bool(WIDE.search(line.text))


def _pitches(pages: Sequence[Sequence[Line]]) -> dict[tuple[float, bool, bool], float]:
    """How far one line of a paragraph is below the other."""
    steps: dict[tuple[float, bool, bool], Counter[float]] = {}
    for page in pages:
        for before, line in pairwise(page):
            step = round((before.baseline - line.baseline) * 2) / 2
            if line.size and before.size == line.size and 0.9 * line.size <= step <= 2.5 * line.size:
                steps.setdefault(_pitch_key(before, line), Counter())[step] += 1
    # The smallest of the frequent ones: paragraphs are further apart than lines.
    return {
        key: min(step for step, count in counts.items() if count * 4 >= max(counts.values()))
        for key, counts in steps.items()
    }


def _continues(
    before: Line,
    line: Line,
    text: str,
    edge: float,
    pitches: dict[tuple[float, bool, bool], float],
    *,
    is_heading: bool,
    turns: bool,
) -> bool:
    """Whether the line goes on with the paragraph: the one before was full, so that its first word had to move here."""
    if line.is_table or line.is_mono or not line.size or abs(before.size - line.size) > 0.6:
        return False
    if BULLET.match(text) or (NUMBERED.match(text) and not is_heading):
        return False
    step = before.baseline - line.baseline
    if step > 1.2 * pitches.get(_pitch_key(before, line), 1.8 * line.size):
        return False
    if turns or step < 0:  # a new column or page: after a full sentence nothing says that the paragraph goes on
        return not is_heading and not SENTENCE_END.search(before.text.rstrip())
    if line.box[0] - before.box[0] > 1.2 * line.size and not _hangs(before.text):
        return False
    return before.box[2] + _first_word_width(line) > edge - 0.5 * line.size


def _hangs(text: str) -> bool:
    return bool(BULLET.match(text) or NUMBERED.match(text))


def _first_word_width(line: Line) -> float:
    word = FIRST_WORD.match(line.text.strip())
    return _units(word[0] if word else "") / max(_units(line.text), 1.0) * (line.box[2] - line.box[0])


def _units(text: str) -> float:
    return sum(2.0 if unicodedata.east_asian_width(character) in "WF" else 1.0 for character in text)


def _glue(before: str, text: str) -> tuple[str, bool]:
    """What stands between the two halves of a line that was broken, and whether a hyphen goes."""
    last = before[-1:]
    if last == "-" and len(before) > 1 and before[-2].isalpha() and text[:1].islower():
        return "", True
    wide = unicodedata.east_asian_width
    if last and text and (wide(last) in "WF" or wide(text[0]) in "WF"):
        return "", False
    return " ", False


def _indent(line: Line, page: Sequence[Line], place: int) -> str:
    """The spaces that a line of code was indented by; PDF has only their width."""
    run = [other for other in page[max(0, place - 60) : place + 60] if other.is_mono]
    left = min(other.box[0] for other in run)
    width = (line.box[2] - line.box[0]) / max(len(line.text), 1)
    return " " * min(40, round((line.box[0] - left) / width)) if width > 0.5 else ""
