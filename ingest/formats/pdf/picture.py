"""A page of a PDF as a picture, and the places of a quote on it."""

import math
import struct
import zlib

import pypdfium2
import pypdfium2.raw as pdfium

from ingest.formats.extract import PNG, Picture, UnreadableError

# Pixels from side to side, and in all.
WIDTH, MOST_PIXELS = 1_200, 4_000_000
# A quote of fewer letters may match a page by chance.
SHORTEST = 8


def picture(data: bytes, number: int, quote: str) -> Picture:
    """A page by its number, from 1. Raises UnreadableError if the file has no such page."""
    try:
        document = pypdfium2.PdfDocument(data)
        page = document[number - 1]
    except (pypdfium2.PdfiumError, IndexError) as error:
        raise UnreadableError(
            f"has no page {number} that can be shown", hint="save or print it as PDF again"
        ) from error
    width, height = page.get_size()
    scale = min(WIDTH / width, math.sqrt(MOST_PIXELS / (width * height)))
    bitmap = page.render(scale=scale, rev_byteorder=True)
    try:
        place = bitmap.get_posconv(page)
        boxes = []
        for left, bottom, right, top in _rectangles(page, quote):
            corners = [place.to_bitmap(left, top), place.to_bitmap(right, bottom)]
            (low, end), (first, last) = (sorted(side) for side in zip(*corners, strict=True))
            wide, high = bitmap.width, bitmap.height
            sides = (low / wide, first / high, (end - low) / wide, (last - first) / high)
            boxes.append(tuple(round(100 * side, 2) for side in sides))
        return Picture(_png(bitmap), bitmap.width, bitmap.height, tuple(boxes))
    finally:
        bitmap.close()
        document.close()


def _rectangles(page: pypdfium2.PdfPage, quote: str) -> list[tuple[float, float, float, float]]:
    """The rectangles of a quote's words, found by letters alone: lines break elsewhere on the page, and Markdown has
    signs of its own. A quote that is not found as a whole is searched line by line."""
    text = page.get_textpage()
    letters, places = [], []
    for place in range(text.count_chars()):
        letter = chr(pdfium.FPDFText_GetUnicode(text.raw, place))
        if letter.isalnum():
            letters.append(letter.lower())
            places.append(place)
    written = "".join(letters)
    found = []
    for part in [quote] if _squeezed(quote) in written else quote.splitlines():
        sought = _squeezed(part)
        start = written.find(sought) if len(sought) >= SHORTEST else -1
        if start >= 0:
            first, last = places[start], places[start + len(sought) - 1]
            found += [text.get_rect(index) for index in range(text.count_rects(first, last - first + 1))]
    return found


def _squeezed(text: str) -> str:
    return "".join(letter.lower() for letter in text if letter.isalnum())


def _png(bitmap: pypdfium2.PdfBitmap) -> bytes:
    """The picture as a PNG file in red, green and blue."""
    pixels, channels = bytes(bitmap.buffer), bitmap.n_channels
    rows = []
    for line in range(bitmap.height):
        row = pixels[line * bitmap.stride : line * bitmap.stride + bitmap.width * channels]
        if channels == 1:
            row = bytes(value for value in row for _ in range(3))
        elif channels == 4:
            row = bytes(value for place, value in enumerate(row) if place % 4 < 3)
        rows.append(b"\0" + row)
    header = struct.pack(">IIBBBBB", bitmap.width, bitmap.height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows), 6)), (b"IEND", b""))
    packed = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    return PNG + b"".join(packed)
