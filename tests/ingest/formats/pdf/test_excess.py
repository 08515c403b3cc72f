"""Pages made to cost time: read, or refused, in a few seconds."""

import time
from collections.abc import Callable

import pytest

from ingest.formats.pdf import read
from tests.ingest.formats.pdf_file import pdf_of, rules, said


def merged() -> bytes:
    """A grid of a quarter of a million places, hardly a rule between them."""
    page = rules([0, 7_000], [14 * n for n in range(500)]) + "".join(
        f"{14 * n} 0 m {14 * n} 14 l S\n" for n in range(500)
    )
    return pdf_of([page + "".join(said(7 + 14 * (n % 490), 7 + 14 * (n // 490), "x", size=5) for n in range(2_000))],
                  size=(7_000, 7_000))  # fmt: skip


def rows() -> bytes:
    pieces = (said(60, 9_000 - 2 * n, "ab") + said(200, 9_000 - 2 * n, "cd") for n in range(4_000))
    return pdf_of(["".join(pieces)], size=(600, 9_100))


def exponents() -> bytes:
    small = (said(60 + n % 90 * 5, 604 + n % 7, "2", size=5) for n in range(5_000))
    return pdf_of([said(60, 600, "Big", size=20) + "".join(small)])


def fields() -> bytes:
    page = "".join(said(10 + n % 50 * 11, 10 + n // 50 * 8, "a") for n in range(2_000))
    boxes = (f"{n % 500} {n % 800} {n % 500 + 20} {n % 800 + 10}" for n in range(1_000))
    return pdf_of([page], annotations=[f"/Subtype /Widget /FT /Tx /T (f) /V (v) /Rect [{box}]" for box in boxes])


@pytest.mark.parametrize("make", [merged, rows, exponents, fields])
def test_work_is_bounded(make: Callable[[], bytes]) -> None:
    data = make()
    started = time.process_time()
    assert read(data).text
    assert time.process_time() - started < 15
