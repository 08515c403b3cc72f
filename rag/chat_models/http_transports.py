"""The HTTP transports of chat models: one cuts its connection at once when its work is stopped, one removes the key
from error responses.

A model server notices the cut, and is free for the next question even if it was still reading the prompt. Some servers
repeat the key in error texts, which are shown, logged and stored.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import httpx

from rag.chat_models.stopping import CURRENT


def stoppable_transport(proxy: str | None = None) -> "StoppableTransport":
    """A connection for each request, so that cutting one ends nothing else. Uses only the proxy given here."""
    limits = httpx.Limits(max_keepalive_connections=0)
    return StoppableTransport(httpx.HTTPTransport(limits=limits, proxy=proxy))


class StoppableTransport(httpx.BaseTransport):
    def __init__(self, inner: httpx.BaseTransport) -> None:
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        stop = CURRENT.get()
        if stop is None:
            return self._inner.handle_request(request)
        cut = _Cut()
        request.extensions = {**request.extensions, "trace": cut.follow}
        with ExitStack() as stack:
            stack.enter_context(stop.calling(cut.hang_up))
            response = self._inner.handle_request(request)
            return httpx.Response(
                response.status_code,
                headers=response.headers,
                stream=_Stream(response.stream, stack.pop_all()),
                extensions=response.extensions,
            )

    def close(self) -> None:
        self._inner.close()


class _Cut:
    """The connection of one request, as httpcore reports it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = False
        self._socket: socket.socket | None = None

    def follow(self, event: str, info: dict[str, Any]) -> None:
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
                if self._asked:
                    self._shut()

    def hang_up(self) -> None:
        with self._lock:
            self._asked = True
            self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # already closed
                # Not the SSL socket's method, which first drops the session that the other thread reads from.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class _Stream(httpx.SyncByteStream):
    def __init__(self, stream: Any, stack: ExitStack) -> None:
        self._stream = stream
        self._stack = stack

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        self._stack.close()
        self._stream.close()


# Characters; anything shorter is no secret, and would blot out ordinary words.
SHORTEST_KEY = 6
REDACTED = b"***"


class RedactedRefusals(httpx.BaseTransport):
    """Reads responses above 299 whole, and removes the key from body and reason."""

    def __init__(self, inner: httpx.BaseTransport, key: str) -> None:
        self._inner = inner
        self._key = key.encode() if len(key) >= SHORTEST_KEY else b""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        if response.status_code < 300:
            return response
        try:
            body = response.read()
        finally:
            response.close()
        kept = [
            (name, value) for name, value in response.headers.raw if name.lower() in (b"content-type", b"retry-after")
        ]
        return httpx.Response(response.status_code, headers=kept, content=self._redacted(body))

    def close(self) -> None:
        self._inner.close()

    def _redacted(self, body: bytes) -> bytes:
        return body.replace(self._key, REDACTED) if self._key else body
