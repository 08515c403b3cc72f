"""What a full Milvus server is held to; the newest of the package index, 2.3.5, has no sparse vectors.

What needs them is left out: search by keywords, and with it answers (`test_reading`).
"""

import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr

from rag.errors import IndexLockedError, SettingsError, StoreError
from rag.index.milvus.lease import writing
from rag.index.milvus.schema import Table
from rag.settings import Settings, StoreName
from tests.conftest import HashEmbedder
from tests.isolation import the_machine
from tests.rag.index.milvus.conftest import Place
from tests.rag.index.milvus.test_problems import key_and_certificate
from tests.rag.library import DOCUMENTS, ROPE, library_settings
from tools.dense_milvus import without_sparse_vectors
from tools.full_milvus import FullMilvusServer, unpacked

SECRET = "root:Milvus"
"""What a new server comes with."""

pytestmark = pytest.mark.full_milvus


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FullMilvusServer]:
    """One that asks for credentials and speaks TLS."""
    with the_machine():
        unpacked()
    folder = tmp_path_factory.mktemp("full")
    server = FullMilvusServer(folder / "server", token=SECRET, tls=key_and_certificate(folder))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def place(server: FullMilvusServer, tmp_path: Path, hash_embedder: HashEmbedder) -> Place:
    where = {"store": StoreName.MILVUS, "milvus_uri": server.uri, "milvus_prefix": "full", "milvus_grace": 0.0}
    own = library_settings(tmp_path).model_dump() | where | server.access | {"milvus_timeout": 120.0}
    return Place(tmp_path, Settings.model_validate(own), hash_embedder)


def test_its_version_is_named_and_nothing_is_written(place: Place) -> None:
    with pytest.raises(StoreError, match=r"has version v2\.3\.5\S*; an index needs sparse vectors.* 2\.4") as raised:
        place.ingest({"rope.md": ROPE})
    assert "upgrade" in raised.value.hint
    connection = place.connection()
    assert not [table for table in Table if connection.has(table)]


def test_wrong_credentials(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = place.changed(milvus_token=SecretStr("root:a-secret-word"))
    with pytest.raises(StoreError, match="refuses the credentials") as raised:
        wrong.open()
    assert place.settings.milvus_uri in raised.value.message
    assert "INTERVIEW_RAG_MILVUS_TOKEN" in raised.value.hint
    assert "a-secret-word" not in caplog.text + str(raised.value) + raised.value.hint
    nobody = place.changed(milvus_token=SecretStr(""))
    with pytest.raises(StoreError, match="refuses the credentials"):
        nobody.open()


def test_an_authority_that_it_does_not_have(place: Place) -> None:
    with pytest.raises(StoreError, match="does not answer"):
        place.changed(milvus_certificate=None, milvus_timeout=2.0).open()
    with pytest.raises(SettingsError, match=r"none\.pem"):
        place.changed(milvus_certificate=Path("none.pem")).open()


def test_generations_a_writer_at_a_time_and_a_restart(place: Place, server: FullMilvusServer) -> None:
    with without_sparse_vectors():
        place.ingest()
        first = place.open()
        place.ingest(DOCUMENTS | {"rope.md": ROPE + "\n再说一句：底数越大，低频越慢。\n"})
        assert place.store().open().generation.number > first.generation.number
        _require_equal_to_disk(place)
        with writing(place.connection(), wait=0), pytest.raises(IndexLockedError, match="is writing to full"):
            place.sync()
        opened = place.store()
        index = opened.open()
        server.kill()
        server.spawn()
        assert index.storage.source("rope.md")
        _require_equal_to_disk(place)
        place.ingest({"rope.md": ROPE})
        place.sync()
        assert place.open().manifest.documents == 1
        connection = place.connection()
        rows = {table: connection.count(table, "generation >= 0") for table in (Table.PASSAGES, Table.DOCUMENTS)}
        assert rows == place.open().generation.rows  # nothing is left of what is gone


def _require_equal_to_disk(place: Place) -> None:
    stored = place.open()
    with closing(place.on_disk()) as disk:
        assert stored.storage.documents() == disk.storage.documents()
        for name in DOCUMENTS:
            ours, theirs = (index.storage.document_numbers(name) for index in (stored, disk))
            np.testing.assert_allclose(stored.vectors.rows(ours), disk.vectors.rows(theirs), atol=1e-6)
        for question in ("ZeRO", "LoRA 的秩"):
            vector = place.embedder.embed_query(question)
            found, expected = (index.vectors.search(vector, 10)[1] for index in (stored, disk))
            np.testing.assert_allclose(found, expected, atol=1e-6)
