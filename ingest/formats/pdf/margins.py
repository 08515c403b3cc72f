"""Running heads, running feet and page numbers: lines at the same edge of many pages, or that count them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ingest.formats.pdf.lines import Line
from ingest.formats.pdf.page import Page

# Lines this close to the upper or lower edge (share of the height, points) may be running heads or page numbers.
MARGIN, MIN_MARGIN = 0.12, 85.0
EDGE_LINES = 3
NUMBER = re.compile(r"\d+")
# A number alone, or with the signs and words that surround page numbers.
PAGE_NUMBER = re.compile(
    r"[\s\-–—|·.~]*(?:第|page|p\.)?\s*(\d{1,4}|[ivxlc]{1,7})\s*[页頁]?[\s\-–—|·.,，~]*"
    r"(?:(?:of|/|共|全)\s*\d{1,4}\s*[页頁]?[\s\-–—|·.~]*)?",
    re.IGNORECASE,
)
SAYS_PAGE = re.compile(r"[第页頁]|page|[-–—]\s*\d+\s*[-–—]", re.IGNORECASE)
ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
MOST_NUMBERS = 6

Key = tuple[str, int]
"""A line's text, with a number that may count pages as its distance from the page number, and the line's height."""


def without_running_heads(pages: Sequence[Page]) -> tuple[list[list[Line]], tuple[str, ...]]:
    """The lines of each page without the running ones and page numbers, and the texts removed, each once."""
    edges = [_edge_lines(page) for page in pages]
    keys = [
        {place: tuple(_keys(page.lines[place], number)) for place in edge}
        for number, (page, edge) in enumerate(zip(pages, edges, strict=True))
    ]
    counts = Counter(key for found in keys for key in {key for several in found.values() for key in several})
    distances = Counter(
        distance
        for number, (page, edge) in enumerate(zip(pages, edges, strict=True))
        for distance in {_distance(page.lines[place].text, number) for place in edge}
        if distance is not None
    )
    often = 2 if len(pages) <= 4 else max(3, len(pages) // 4)
    kept: list[list[Line]] = []
    removed: dict[str, None] = {}
    for number, page in enumerate(pages):
        lines = []
        for place, line in enumerate(page.lines):
            is_running = any(counts[key] >= often for key in keys[number].get(place, ()))
            distance = _distance(line.text, number) if place in edges[number] else None
            if is_running or (
                distance is not None and (distances[distance] > 1 or _is_page_number(line.text, number + 1))
            ):
                removed[line.text] = None
            else:
                lines.append(line)
        kept.append(lines)
    return kept, tuple(removed)


def _edge_lines(page: Page) -> frozenset[int]:
    """The places of the outermost lines of a page, and of turned lines anywhere on it."""
    margin = min(max(MARGIN * page.height, MIN_MARGIN), page.height / 4)
    ranked = sorted(
        (line.baseline, place)
        for place, line in enumerate(page.lines)
        if line.size and not line.is_note and not margin < line.baseline < page.height - margin
    )
    turned = (place for place, line in enumerate(page.lines) if not line.size and not line.is_table)
    return frozenset((*turned, *(place for _, place in ranked[:EDGE_LINES] + ranked[-EDGE_LINES:])))


def _keys(line: Line, number: int) -> Iterator[Key]:
    """A line's text, and the same with each number in turn replaced by its distance from the page number. The text of
    a mere number does not count: it may be a value."""
    height = round(line.baseline / 6)
    text = "".join(line.text.split())
    found = list(NUMBER.finditer(text))
    if any(map(str.isalpha, text)) or not found:
        yield text, height
    for match in found[:MOST_NUMBERS]:
        distance = int(match[0][:9]) - number
        yield f"{text[: match.start()]}#{distance}#{text[match.end() :]}", height


def _distance(text: str, number: int) -> int | None:
    """How far a line's page number is from the page's own number; None if the line is not a page number."""
    match = PAGE_NUMBER.fullmatch(text)
    if match is None:
        return None
    return (int(match[1]) if match[1].isdecimal() else _roman(match[1].lower())) - number


def _roman(text: str) -> int:
    values = [ROMAN[letter] for letter in text]
    return sum(-one if one < other else one for one, other in zip(values, [*values[1:], 0], strict=True))


def _is_page_number(text: str, number: int) -> bool:
    """Whether a number that no other page continues is a page number: because of the signs or words around it, or
    because it is the right one."""
    return bool(SAYS_PAGE.search(text)) or text.strip() == str(number)
