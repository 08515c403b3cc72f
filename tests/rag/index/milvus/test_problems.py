"""What can be wrong with a server, and what is said: what happened, with which value, and what to do next."""

import logging
import os
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest

from rag.answer.assistant import Assistant
from rag.errors import IndexCorruptError, IndexMismatchError, IndexMissingError, RagError, SettingsError, StoreError
from rag.index.milvus.connection import Connection
from rag.index.milvus.schema import Table, require_version
from rag.index.milvus.store import MilvusStore
from rag.settings import Settings, StoreName, load_settings
from tests.conftest import HashEmbedder
from tests.rag.index.milvus.conftest import Place
from tests.rag.library import DOCUMENTS, ROPE
from tools.milvus_server import MilvusServer
from tools.torture.faults import small_disk

SECRET = "root:a-secret-word"


def settings_for(uri: str, **more: Any) -> Settings:
    return Settings(store=StoreName.MILVUS, milvus_uri=uri, milvus_timeout=2.0, **more)


class Refusing(grpc.GenericRpcHandler):  # type: ignore[misc]
    """A server that refuses every call, saying what it was sent."""

    def __init__(self, why: str) -> None:
        self.sent: list[str] = []
        self._why = why

    def service(self, details: Any) -> Any:
        def refuse(request: object, context: Any) -> None:
            self.sent += [f"{key}={value}" for key, value in context.invocation_metadata()]
            context.abort(grpc.StatusCode.UNAUTHENTICATED, self._why)

        return grpc.unary_unary_rpc_method_handler(refuse)


@contextmanager
def refusing(
    key_and_certificate: tuple[bytes, bytes] | None = None, why: str = f"auth check failure: {SECRET} is not known"
) -> Iterator[tuple[str, Refusing]]:
    server, handler = grpc.server(futures.ThreadPoolExecutor(2)), Refusing(why)
    server.add_generic_rpc_handlers((handler,))
    if key_and_certificate is None:
        address = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    else:
        credentials = grpc.ssl_server_credentials([key_and_certificate])
        address = f"https://localhost:{server.add_secure_port('127.0.0.1:0', credentials)}"
    server.start()
    try:
        yield address, handler
    finally:
        server.stop(None)


def test_credentials_are_sent_and_never_shown(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with refusing() as (uri, handler):
        settings = settings_for(uri, milvus_token=SECRET)
        with pytest.raises(StoreError, match="refuses the credentials") as raised:
            MilvusStore(settings).open()
        assert f"authorization={b64encode(SECRET.encode()).decode()}" in handler.sent
    assert uri in raised.value.message
    assert "INTERVIEW_RAG_MILVUS_TOKEN" in raised.value.hint
    shown = "".join([*map(str, raised.value.args), raised.value.hint, repr(settings), caplog.text, *capfd.readouterr()])
    assert "a-secret-word" not in shown


def test_a_server_that_asks_for_credentials_when_there_are_none() -> None:
    """The words are those of a server of version 2.3.5."""
    with refusing(why="missing authorization in header") as (uri, _):
        with pytest.raises(StoreError, match="refuses the credentials: missing authorization") as raised:
            MilvusStore(settings_for(uri)).open()
        assert "INTERVIEW_RAG_MILVUS_TOKEN" in raised.value.hint


def key_and_certificate(folder: Path) -> tuple[Path, Path]:
    """Files of a key and of its certificate for localhost, which nobody else vouches for."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("makes its certificate with openssl")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([openssl, *request, *files], check=True, capture_output=True)
    return key, certificate


def test_tls_with_an_authority_of_ones_own(tmp_path: Path) -> None:
    key, certificate = key_and_certificate(tmp_path)
    with refusing((key.read_bytes(), certificate.read_bytes())) as (uri, handler):
        with pytest.raises(StoreError, match="does not answer"):
            MilvusStore(settings_for(uri, milvus_token=SECRET)).open()
        assert not handler.sent  # nothing was said to a server that nobody vouches for
        with pytest.raises(StoreError, match="refuses the credentials"):
            MilvusStore(settings_for(uri, milvus_token=SECRET, milvus_certificate=certificate)).open()
        assert handler.sent


def test_a_server_that_is_away() -> None:
    server = MilvusServer(Path("unused"))  # it has an address, and nobody is there
    with pytest.raises(StoreError, match=f"the Milvus server at {server.uri} does not answer") as raised:
        MilvusStore(settings_for(server.uri)).open()
    assert "milvus_uri" in raised.value.hint


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "`milvus_uri` is not set"),
        ({"milvus_uri": f"https://{SECRET}@milvus:19530"}, "holds credentials"),
        ({"milvus_uri": "https://milvus:19530", "milvus_certificate": "none.pem"}, "none.pem"),
    ],
)
def test_settings_that_cannot_be(options: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said) as raised:
        Connection(load_settings(options={"store": "milvus", **options}, environment={}))
    assert "secret" not in str(raised.value)


def test_without_pymilvus_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pymilvus", None)
    with pytest.raises(SettingsError) as raised:
        MilvusStore(settings_for("http://localhost:1")).open()
    assert raised.value.hint == 'pip install "interview-rag[milvus]"'


def test_a_token_in_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "interview-rag.toml"
    file.write_text('milvus_token = "root:a-secret-word"', encoding="utf-8")
    file.chmod(0o644)
    with pytest.raises(SettingsError, match="milvus_token") as raised:
        load_settings(file, environment={})
    assert "INTERVIEW_RAG_MILVUS_TOKEN" in raised.value.hint
    file.chmod(0o600)
    assert load_settings(file, environment={}).milvus_token.get_secret_value() == SECRET


def test_no_index_under_this_name(place: Place) -> None:
    with pytest.raises(IndexMissingError, match=place.settings.milvus_prefix) as raised:
        place.open()
    assert "python -m ingest" in raised.value.hint
    assert not place.store().is_there()


def test_a_server_that_is_too_old(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "version", lambda connection: "v2.3.5-lite")
    with pytest.raises(StoreError, match=r"has version v2\.3\.5-lite; .*sparse vectors.* 2\.4") as raised:
        place.ingest({"rope.md": ROPE})
    assert "upgrade the server" in raised.value.hint
    assert not [table for table in Table if place.connection().has(table)]


@pytest.mark.parametrize("version", ["2.4.0", "v2.6.9", "3.0", "milvus_lite-3.2.2", "Zilliz Cloud"])
def test_versions_that_will_do(version: str) -> None:
    require_version(cast(Connection, SimpleNamespace(version=lambda: version)))


def test_another_embedder(place: Place) -> None:
    place.ingest({"rope.md": ROPE})
    with pytest.raises(IndexMismatchError, match="'hash@1', the settings name 'other@2'"):
        place.store().open(embedder="other@2")
    with pytest.raises(IndexMismatchError, match="other@2"):
        place.sync(identity="other@2")
    assert place.open().manifest.embedder == "hash@1"
    place.sync(identity="other@2", rebuild=True)
    assert place.store().open(embedder="other@2").manifest.documents == 1
    with pytest.raises(IndexMismatchError, match="'other@2', the settings name 'hash@1'"):
        place.open()


def test_vectors_of_another_length(place: Place) -> None:
    place.ingest({"rope.md": ROPE})

    class Longer(HashEmbedder):
        identity = "longer@1"
        dimension = 512

    longer = place.changed(index=place.folder / "other")
    longer.embedder = Longer()
    with pytest.raises(IndexMismatchError, match="vectors of 256 numbers, the embedder makes 512") as raised:
        longer.sync(place.folder / "documents", rebuild=True)
    assert "milvus_prefix" in raised.value.hint


def test_a_collection_that_is_not_ours(place: Place) -> None:
    def make(client: Any) -> tuple[Any, Any]:
        from pymilvus import DataType

        schema = client.create_schema(auto_id=False)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=8)
        indexes = client.prepare_index_params()
        indexes.add_index("vector", index_type="FLAT", metric_type="IP")
        return schema, indexes

    connection = place.connection()
    connection.create(Table.DOCUMENTS, make)
    connection.complete(Table.DOCUMENTS, make)
    with pytest.raises(RagError, match=connection.name(Table.DOCUMENTS)) as raised:
        place.ingest({"rope.md": ROPE})
    assert isinstance(raised.value, IndexMismatchError)
    assert "milvus_prefix" in raised.value.hint
    connection.drop(Table.DOCUMENTS)
    place.ingest({"rope.md": ROPE})
    assert place.open().manifest.documents == 1


def drop_a_passage(connection: Connection) -> None:
    (row, *_) = connection.all(Table.PASSAGES, "generation >= 0", ["generation"])
    connection.delete(Table.PASSAGES, f"id in [{row['id']}]")


def drop_the_record(connection: Connection) -> None:
    rows = connection.query(Table.PARTS, 'kind == "record"', ["kind"])
    connection.delete(Table.PARTS, f"id in {[row['id'] for row in rows]}")


def drop_the_terms(connection: Connection) -> None:
    rows = connection.query(Table.PARTS, 'kind == "terms"', ["kind"])
    connection.delete(Table.PARTS, f"id in {[row['id'] for row in rows]}")


@pytest.mark.parametrize("damage", [drop_a_passage, drop_the_record, drop_the_terms])
def test_a_generation_that_is_not_whole(place: Place, damage: Callable[[Connection], None]) -> None:
    place.ingest()
    damage(place.connection())
    with pytest.raises(IndexCorruptError, match=r"generation 1|lacks part") as raised:
        place.open()
    assert "--rebuild" in raised.value.hint
    place.sync(rebuild=True)
    assert place.open().manifest.documents == len(DOCUMENTS)


def test_questions_resume_when_the_server_comes_back(
    place: Place, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    server = MilvusServer(tmp_path / "own")
    request.addfinalizer(server.kill)
    server.start()
    place = place.changed(milvus_uri=server.uri, milvus_timeout=60.0)
    place.ingest()
    assistant = Assistant(place.settings, place.embedder)
    assert assistant.ask("LoRA 为什么能省显存？").citations
    for _ in range(2):
        server.kill()
        with futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(assistant.ask, "ZeRO-2 和 ZeRO-3 差在哪？")
            server.start()
            assert asked.result().citations
    opened = assistant.index  # read while the server is there: afterwards it is waited for, as long as the settings say
    server.kill()
    impatient = Assistant(place.changed(milvus_timeout=1.0).settings, place.embedder, index=opened)
    assert impatient.index is opened  # the open generation goes on


@pytest.mark.parametrize(
    ("reason", "said", "again"),
    [
        ("disk quota exceeded, please allocate more resources", "has no room left", False),
        ("memory quota exceeded, please allocate more resources", "has no room left", False),
        ("time tick long delay", "does not answer", True),
        ("the writing has been deactivated by the administrator", "cannot do it", False),
    ],
)
def test_why_a_server_denies_writing(place: Place, reason: str, said: str, again: bool) -> None:
    from pymilvus.exceptions import MilvusException

    error = MilvusException(9, f"quota exceeded[reason={reason}]: deny to write")
    told, away = place.connection()._explained(error)
    assert said in told.message
    assert away is again


@pytest.fixture
def small(tmp_path: Path) -> Iterator[tuple[Path, Callable[[str], bool]]]:
    with ExitStack() as block:
        try:
            remount = block.enter_context(small_disk(tmp_path / "mounted", 64 << 20))
        except PermissionError as error:
            pytest.skip(str(error))
        yield tmp_path / "mounted", remount


def test_a_server_whose_disk_is_full(
    place: Place, small: tuple[Path, Callable[[str], bool]], request: pytest.FixtureRequest
) -> None:
    folder, remount = small
    server = MilvusServer(folder / "server")
    request.addfinalizer(server.kill)
    server.start()
    place = place.changed(milvus_uri=server.uri, milvus_timeout=60.0)
    place.ingest({"rope.md": ROPE})
    used = os.statvfs(folder)
    assert remount(f"size={(used.f_blocks - used.f_bfree) * used.f_frsize + 8192}")
    with pytest.raises(StoreError, match=f"{server.uri} has no room left: .*No space left") as raised:
        place.ingest()
    assert "start it again" in raised.value.hint
    assert place.open().manifest.documents == 1
    assert remount(f"size={64 << 20}")
    server.kill()
    server.start()
    place.sync()
    server.kill()
    server.start()
    assert place.open().manifest.documents == len(DOCUMENTS)
