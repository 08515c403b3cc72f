"""A request that waits ends when its work is stopped, over TLS and through a proxy too, and the server hears of it."""

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from rag.chat_models.http_transports import stoppable_transport
from rag.chat_models.stopping import CURRENT, Stop

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n"


class Silent:
    """A server that sends the beginning of a reply, and then waits for its client to go away. A CONNECT is granted and
    leads to itself."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.context = context
        self.asked: list[bytes] = []
        self.gone = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    @contextmanager
    def running(self) -> Iterator["Silent"]:
        thread = threading.Thread(target=self._serve)
        thread.start()
        try:
            yield self
        finally:
            self.listener.close()
            thread.join(30)

    def _serve(self) -> None:
        with suppress(OSError):
            connection, _ = self.listener.accept()
            connection.settimeout(200)  # it never hangs up before its client
            with connection:
                if self.context is None:
                    self._talk(connection)
                else:
                    with self.context.wrap_socket(connection, server_side=True) as wrapped:
                        self._talk(wrapped)

    def _talk(self, connection: socket.socket) -> None:
        request = connection.recv(65_536)
        self.asked.append(request.split(b"\r\n")[0])
        if request.startswith(b"CONNECT"):
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self._talk(connection)
            return
        connection.sendall(HEAD)
        with suppress(ConnectionError, ssl.SSLError):
            while connection.recv(65_536):
                pass
        self.gone.set()


def is_cut(url: str, proxy: str | None = None) -> bool:
    """Whether a reader of the stream waits no more after the work was stopped, although its server says nothing."""
    stop, begun = Stop(), threading.Event()

    def read() -> None:
        CURRENT.set(stop)
        with (
            httpx.Client(transport=stoppable_transport(proxy), timeout=200) as client,
            suppress(httpx.HTTPError),
            client.stream("GET", url) as response,
        ):
            for _ in response.iter_bytes():
                begun.set()

    thread = threading.Thread(target=read)
    thread.start()
    assert begun.wait(60)
    stop.ask()
    thread.join(60)
    return not thread.is_alive()


def test_plain() -> None:
    with Silent().running() as server:
        assert is_cut(f"http://127.0.0.1:{server.port}/")
        assert server.gone.wait(30)


def test_through_a_proxy() -> None:
    with Silent().running() as server:
        assert is_cut("http://elsewhere.invalid/v1", f"http://127.0.0.1:{server.port}")
        assert server.gone.wait(30)
    assert server.asked == [b"GET http://elsewhere.invalid/v1 HTTP/1.1"]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with Silent(context).running() as server:
        assert is_cut(f"https://127.0.0.1:{server.port}/")
        assert server.gone.wait(30)
