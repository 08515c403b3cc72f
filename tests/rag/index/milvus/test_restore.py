"""The working copy of a writer is a backup of the store."""

import shutil
from pathlib import Path

from tests.rag.index.milvus.conftest import Place


def test_a_copy_of_the_folder_fills_an_empty_store_without_embedding_anything(place: Place, tmp_path: Path) -> None:
    made = place.ingest()
    saved = tmp_path / "saved"
    shutil.copytree(place.settings.index, saved)
    restored = place.changed(index=saved, milvus_prefix=f"{place.settings.milvus_prefix}_restored")
    report = restored.sync()
    assert report.passages_embedded == 0
    names = [entry.name for entry in place.open().storage.entries()]
    assert [entry.name for entry in restored.open().storage.entries()] == names
    assert restored.open().manifest.passages == made.passages_total
