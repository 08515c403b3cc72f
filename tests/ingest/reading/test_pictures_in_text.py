"""Pictures that are written into a text are left out of it, and told."""

import base64

import pytest

from ingest.reading.loading import document_of

CODE = base64.b64encode(bytes(range(256)) * 2_000).decode()


@pytest.mark.parametrize("place", ["![图](data:image/png;base64,{})", "[p1]: data:image/svg+xml;base64,{}"])
def test_the_code_of_a_picture_is_no_text(place: str) -> None:
    text = f"# 显存\n\n显存随批大小线性增长。\n\n{place.format(CODE)}\n\n后面还有一句话。\n"
    found = document_of("a.md", ".md", text.encode())
    assert CODE[:40] not in found.source
    assert "显存随批大小线性增长。" in found.source
    assert "后面还有一句话。" in found.source
    assert found.warnings == ("1 picture embedded in the text left out",)


def test_other_text_stays_as_it_is() -> None:
    text = "data:image/png;base64,abc 是这样写的。\n"
    assert document_of("a.md", ".md", text.encode()).source == text
