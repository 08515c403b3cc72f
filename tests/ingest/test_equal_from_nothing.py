"""Whatever was edited in whatever order, the index equals one made from nothing, passage for passage."""

import random
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tools.torture.scene import content, edit, from_nothing, ingest, page


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), batches=st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_edits_equal_an_ingest_from_nothing(seed: int, batches: list[int]) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as temporary:
        docs, index = Path(temporary, "docs"), Path(temporary, "index")
        docs.mkdir()
        (docs / "first.md").write_text(page(chance, sections=2, words=40), encoding="utf-8")
        for count in batches:
            edits = [edit(docs, chance) for _ in range(count)]
            ingest(docs, index)
            report = ingest(docs, index)
            assert not report.published, f"after {edits}: nothing changed, and yet"
        assert content(index) == from_nothing(docs, Path(temporary, "scratch"))
