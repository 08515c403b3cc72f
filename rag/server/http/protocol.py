"""uvicorn's HTTP, except that it does not wait for clients that never send a request."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

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
