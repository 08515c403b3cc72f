"""The configured endpoint: where its key comes from, which proxy leads to it, how long it is waited for."""

import os
import socket
import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag.answer.written.reply import stream_reply
from rag.chat_models.endpoint import endpoint_key, openai_client, proxy_for
from rag.chat_models.select import open_chat_model
from rag.errors import ChatModelError, ChatModelProblem, SettingsError
from rag.settings import ChatModelName, Settings
from tests.rag.chat_models.chat_server import ChatServer


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize("missing", ["endpoint_url", "endpoint_model"])
def test_an_endpoint_needs_address_and_model(missing: str) -> None:
    both = {"endpoint_url": "http://localhost:1/v1", "endpoint_model": "m"}
    with pytest.raises(SettingsError, match="endpoint_url"):
        open_chat_model(Settings.model_validate({"llm": "endpoint"} | both | {missing: ""}))


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.write_text("sk-secret\n", encoding="utf-8")
    file.chmod(0o600)
    return file


def test_the_key_comes_from_a_private_file(key_file: Path) -> None:
    settings = Settings(endpoint_key_file=key_file)
    assert endpoint_key(settings) == "sk-secret"
    assert "sk-secret" not in f"{settings!r} {settings.model_dump_json()}"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_key_file_that_others_can_use_is_refused(mode: int, key_file: Path) -> None:
    key_file.chmod(mode)
    with pytest.raises(SettingsError, match="others may read") as caught:
        endpoint_key(Settings(endpoint_key_file=key_file))
    assert f"chmod 600 {key_file}" in caught.value.hint


@pytest.mark.parametrize("content", [b"", b" \n", b"two words", "密钥".encode(), b"\xff"])
def test_a_key_file_without_a_key_is_refused_and_not_shown(content: bytes, key_file: Path) -> None:
    key_file.write_bytes(content)
    with pytest.raises(SettingsError, match="key file") as caught:
        endpoint_key(Settings(endpoint_key_file=key_file))
    assert "words" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_missing_key_file_and_two_keys_are_refused(key_file: Path) -> None:
    with pytest.raises(SettingsError, match="No such file"):
        endpoint_key(Settings(endpoint_key_file=key_file.with_name("none")))
    with pytest.raises(SettingsError, match="both"):
        endpoint_key(Settings.model_validate({"endpoint_key": "sk", "endpoint_key_file": key_file}))
    with pytest.raises(SettingsError, match=r"no key|Is a directory"):
        endpoint_key(Settings(endpoint_key_file=key_file.parent))


def test_proxies_of_the_environment_are_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "OPENAI_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    model = open_chat_model(
        Settings(llm=ChatModelName.ENDPOINT, endpoint_url="http://127.0.0.1:8/v1", endpoint_model="m")
    )
    assert model is not None
    assert not model.model.http_client._mounts  # type: ignore[attr-defined]
    assert os.environ["HTTP_PROXY"]


@pytest.mark.usefixtures("no_proxies")
def test_they_are_for_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proxy_for("https://models.example/v1") is None
    monkeypatch.setenv("all_proxy", "http://proxy.example:1")
    monkeypatch.setenv("https_proxy", "http://proxy.example:2")
    assert proxy_for("https://models.example/v1") == ("http://proxy.example:2", "https_proxy")
    assert proxy_for("http://models.example/v1") == ("http://proxy.example:1", "all_proxy")
    monkeypatch.setenv("no_proxy", "models.example")
    assert proxy_for("https://models.example/v1") is None


@pytest.mark.usefixtures("no_proxies")
def test_an_address_without_a_scheme_is_an_http_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:7890")
    assert proxy_for("https://models.example/v1") == ("http://proxy.example:7890", "HTTPS_PROXY")


class _Socks(socketserver.BaseRequestHandler):
    """One connection of a SOCKS 5 proxy (RFC 1928) that leads every name to one server."""

    def handle(self) -> None:
        client, target = self.request, self.server.target  # type: ignore[attr-defined]
        client.recv(2 + client.recv(2)[1])
        client.sendall(b"\x05\x00")  # no password
        header = client.recv(5)
        self.server.asked.append(client.recv(header[4]).decode())  # type: ignore[attr-defined]
        client.recv(2)
        client.sendall(b"\x05\x00\x00\x01" + bytes(6))
        with socket.create_connection(target) as server:
            back = threading.Thread(target=_pump, args=(server, client))
            back.start()
            _pump(client, server)
            back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        """The other side has gone."""


@contextmanager
def socks_proxy(port: int) -> Iterator[tuple[str, list[str]]]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Socks) as server:
        server.daemon_threads, server.block_on_close = True, False
        asked: list[str] = []
        server.target, server.asked = ("127.0.0.1", port), asked  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"socks5://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("no_proxies")
def test_a_socks_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("socksio")
    with ChatServer(reply="ready").running() as server, socks_proxy(server.port) as (address, asked):
        monkeypatch.setenv("ALL_PROXY", address)
        model = openai_client("http://models.example/v1", "m", "sk-test", 10)
        assert "".join(str(chunk.text) for chunk in model.stream("hello")) == "ready"
        assert asked == ["models.example"]


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize(
    ("proxy", "way_out"),
    [("socks5://me:secret@127.0.0.1:7891", r"httpx\[socks\]"), ("socks://127.0.0.1:1", "socks5://")],
)
def test_a_proxy_that_cannot_be_used_is_named(proxy: str, way_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("ALL_PROXY", proxy)
    settings = Settings(llm=ChatModelName.ENDPOINT, endpoint_url="https://models.example/v1", endpoint_model="m")
    with pytest.raises(SettingsError, match=r"ALL_PROXY=socks5?://127\.0\.0\.1:\d+ cannot be used") as caught:
        open_chat_model(settings)
    caught.match("cannot be used")
    assert "secret" not in f"{caught.value!r} {caught.value.hint}"
    assert "NO_PROXY" in caught.value.hint
    assert way_out.replace("\\", "") in caught.value.hint


def test_no_retry_makes_a_reader_wait_longer_than_was_set() -> None:
    with ChatServer(wait=60).running() as server:
        model = openai_client(server.url, "m", "", 1)
        with pytest.raises(ChatModelError) as caught:
            list(stream_reply(model, "why?", [("human", "why?")]))
        assert not server.waited_out.is_set()
        assert caught.value.problem is ChatModelProblem.TIMED_OUT
        assert len(server.requests) == 1
