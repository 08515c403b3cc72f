"""OCR: the text of a scanned page, read from its picture.

Needs the extra `ocr`; the models are part of the rapidocr package.
"""

from functools import cache
from typing import Any

import numpy as np
import pypdfium2
from numpy.typing import NDArray

from ingest.formats.pdf.glyphs import Box

# Type of 10 points is 28 pixels high at this resolution, about what the models were trained on.
DOTS_PER_INCH = 200
MAX_PIXELS = 16_000_000
MIN_SCORE = 0.5


@cache
def _engine() -> Any:
    import onnxruntime
    from rapidocr import RapidOCR

    onnxruntime.disable_telemetry_events()
    # One file at a time; and a confined library that starts no threads is easier to trust.
    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    return RapidOCR(params={"Global.log_level": "error", **threads})


def load() -> None:
    """Load the models now; later nothing can be opened."""
    _engine()(np.full((64, 256, 3), 255, dtype=np.uint8))


def recognize(page: pypdfium2.PdfPage) -> list[tuple[str, Box]]:
    """The lines of text in a page's picture, from the top down, and their places in it."""
    width, height = page.get_size()
    scale = min(DOTS_PER_INCH / 72, (MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
    picture = page.render(scale=scale, may_draw_forms=False).to_numpy()
    result = _engine()(np.ascontiguousarray(picture[:, :, :3]))
    if result.txts is None:
        return []
    return [
        (text, _box(corners, height, scale))
        for text, score, corners in zip(result.txts, result.scores, result.boxes, strict=True)
        if score >= MIN_SCORE
    ]


def _box(corners: NDArray[np.float32], height: float, scale: float) -> Box:
    """Four corners in pixels from the top -> a box in points from the bottom."""
    left, top = corners.min(axis=0) / scale
    right, bottom = corners.max(axis=0) / scale
    return float(left), height - float(bottom), float(right), height - float(top)
