"""What an actor does, without a cluster."""

from typing import Any

import pytest

from ingest.cluster.worker import Job, SentFile, Worker
from tools.hash_embedder import load_hash_embedder


def worker() -> Worker:
    return Worker(Job({}, None, "hash@1", load_hash_embedder))


def test_a_document_that_the_node_cannot_read_is_an_error_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in process: the disk of a node can be full while a format is parsed."""
    error = OSError("no space left on device")

    def full(*_: Any) -> Any:
        raise error

    monkeypatch.setattr("ingest.prepare.prepare_bytes", full)
    assert worker().read([SentFile(0, "a.md", ".md", b"# a")] * 2) == [error, error]
