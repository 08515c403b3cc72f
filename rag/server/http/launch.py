"""Serving the HTTP API: `python -m rag serve`."""

import asyncio
import socket
from collections.abc import Callable

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from rag.answer.assistant import Assistant
from rag.server.address import LOOPBACK, shown_host
from rag.server.http.app import build_app
from rag.server.http.guard import ApiLimits
from rag.server.keys import Client
from rag.server.tracing import Tracing

# Until a request's head has arrived; the guard limits its body, uvicorn connections between two requests.
HEAD_SECONDS = 10.0


class PatientProtocol(H11Protocol):
    """Hangs up when a head is late."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._forget()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


# Seconds left to answers under way when the server shuts down.
GRACE = 5


def server_of(app: FastAPI) -> uvicorn.Server:
    """uvicorn with our limits."""
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,  # any client could claim to be another
        server_header=False,
        h11_max_incomplete_event_size=32_768,
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(config)


def serve(
    assistant: Assistant,
    bound: socket.socket,
    *,
    clients: tuple[Client, ...] | None,
    limits: ApiLimits,
    public_url: str,
    tracing: Tracing | None,
    announce: Callable[[str], None],
) -> None:
    """Answer until interrupted or terminated. `announce` gets the address."""
    host, port = bound.getsockname()[:2]
    app = build_app(
        assistant,
        clients=clients,
        is_loopback=host in LOOPBACK,
        limits=limits,
        public_url=public_url,
        tracing=tracing,
    )
    assistant.warm_up()
    bound.listen()  # so that clients can connect once announced
    announce(f"http://{shown_host(host)}:{port}/v1")
    try:
        server_of(app).run(sockets=[bound])
    finally:
        if tracing is not None:
            tracing.close()
