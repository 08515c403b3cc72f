"""A page is drawn by the confined child, and the quote is marked where its words stand, however the lines break."""

import pytest

from ingest.formats.extract import PNG, UnreadableError
from ingest.reading.parser_process import ParserProcess
from tests.ingest.formats.pdf_file import lines, pdf_of


def test_a_quote_is_marked_on_the_picture_of_its_page() -> None:
    said = ["The limit of the sampler is 207 a second, and it may", "be raised while the service runs."]
    file = pdf_of([lines(72, 760, ["A cover."]), lines(72, 700, said, step=20) + lines(72, 400, ["Another sentence."])])
    with ParserProcess() as process:
        drawn = process.picture(file, 2, f"**{' '.join(said)}**")
        assert drawn.png.startswith(PNG)
        assert drawn.width / drawn.height == pytest.approx(595 / 842, abs=0.01)
        first, second = drawn.boxes
        assert all(pytest.approx(left, abs=1) == 100 * 72 / 595 for left, *_ in drawn.boxes)
        assert pytest.approx(first[1] + first[3], abs=1) == 100 * (842 - 700) / 842
        assert second[1] > first[1]
        assert process.picture(file, 1, "words that stand elsewhere").boxes == ()
        with pytest.raises(UnreadableError, match="no page 3"):
            process.picture(file, 3, "")
