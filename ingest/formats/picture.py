"""A drawn page of a document."""

from dataclasses import dataclass

# How a PNG file begins.
PNG = b"\x89PNG\r\n\x1a\n"

Box = tuple[float, float, float, float]
"""left, top, width, height in percent of the picture."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page, and the boxes of its marks."""

    png: bytes
    width: int
    height: int
    boxes: tuple[Box, ...]
