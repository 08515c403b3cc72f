"""What is sent to a cluster."""

from pathlib import Path

import pytest

from ingest.cluster.workers import sent_settings
from rag.settings import Settings


def test_the_folder_of_an_embedder_is_sent_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker has another current folder, and its user another home."""
    pinned = Settings().embedder
    for name in ("model", pinned):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    names = ("model", "./model", "~/model", pinned, "a/b")
    sent = [sent_settings(Settings(embedder=name))["embedder"] for name in names]
    assert sent == [str(tmp_path / "model")] * 3 + [pinned, "a/b"]
