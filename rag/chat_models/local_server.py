"""The local chat model: llama.cpp's server in a child process, started at the first question, ended with the program.

A crash of its native code does not take our process down. It listens on loopback only, on a free port, and requires a
key made for this run and sent through a pipe.
"""

import atexit
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx

from rag.chat_models.http_transports import stoppable_transport
from rag.chat_models.llama_process import REPORT
from rag.chat_models.stopping import CURRENT, Stopped
from rag.errors import ChatModelError
from rag.paths import PROGRAM

PACKAGE = "xllamacpp"
# System prompt, evidence, question and answer take about 1,500 tokens; a question may have 4,000 characters.
CONTEXT = 8_192
MOST_THREADS = 8
START_SECONDS = 120.0
STOP_SECONDS = 5.0
# A dead server is restarted; after a second death without an answer it rests for a while.
MOST_DEATHS = 2
REST_SECONDS = 60.0
EXTRACTIVE_HINT = 'choose `llm = "extractive"` to answer with quotes'


def is_installed() -> bool:
    return find_spec(PACKAGE) is not None


def threads() -> int:
    """The cores this process may use; more than MOST_THREADS only wait for memory."""
    affinity = getattr(os, "sched_getaffinity", None)
    return min(MOST_THREADS, len(affinity(0)) if affinity else os.cpu_count() or 1)


@dataclass(slots=True)
class _Child:
    """One run of the server. `settled` is set when it is ready or has failed; `address` says which. `ended` is set when
    its process is gone."""

    key: str = field(repr=False)
    process: subprocess.Popen[bytes] | None = None
    settled: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    address: str = ""
    failure: str = "it was stopped"


class LocalServer:
    """The server of one model file; safe to use from several threads."""

    def __init__(self, model: Path) -> None:
        self.model = model
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._deaths = 0
        self._died = 0.0

    @property
    def ready(self) -> bool:
        """Whether the model is loaded."""
        child = self._child
        return child is not None and bool(child.address) and not child.ended.is_set()

    @property
    def process_id(self) -> int | None:
        child = self._child
        return None if child is None or child.process is None or child.ended.is_set() else child.process.pid

    def connection(self) -> tuple[str, str]:
        """The address and the key; waits while the model loads. Raises ChatModelError."""
        with self._lock:
            child = self._child
            if child is None or child.ended.is_set():
                if self._deaths >= MOST_DEATHS and time.monotonic() < self._died + REST_SECONDS:
                    raise ChatModelError(
                        f"the local chat model ended {self._deaths} times without an answer"
                        + (f": {child.failure}" if child is not None else ""),
                        hint=f"it is tried again in {REST_SECONDS:.0f} seconds; or {EXTRACTIVE_HINT}",
                    )
                child = self._child = _Child(secrets.token_urlsafe(32))
                # The kernel ends the child with the thread that started it, so that thread outlives the child.
                threading.Thread(target=self._keep, args=[child], name="local chat model", daemon=True).start()
        stop = CURRENT.get()
        until = time.monotonic() + START_SECONDS
        while not child.settled.wait(0.05):
            if stop is not None and stop.asked:
                raise Stopped
            if time.monotonic() > until:
                self.stop()
                raise ChatModelError(
                    f"the local chat model was not loaded within {START_SECONDS:.0f} seconds", hint=EXTRACTIVE_HINT
                )
        if not child.address:
            raise ChatModelError(
                f"the local chat model {self.model.name} cannot be loaded: {child.failure}",
                hint="check it with `python -m rag models verify`, free some memory, or " + EXTRACTIVE_HINT,
            )
        return child.address, child.key

    def answered(self) -> None:
        """An answer was completed: the server works."""
        self._deaths = 0

    def lost(self, address: str) -> None:
        """Nobody listens at the address any more: treat its child as dead."""
        child = self._child
        if child is not None and child.address == address and child.process is not None:
            child.process.kill()
            child.ended.wait(STOP_SECONDS)

    def stop(self) -> None:
        """End the child; the next question starts another."""
        with self._lock:
            child, self._child = self._child, None
            process = None if child is None else child.process
        if process is not None:
            process.kill()
            process.wait()

    def _keep(self, child: _Child) -> None:
        """Start the child and stay until it ends."""
        try:
            with self._lock:
                if self._child is child:  # else stopped before it began
                    child.process = self._start()
            if child.process is not None:
                self._follow(child, child.process)
        except (OSError, ValueError, KeyError) as error:
            child.failure = str(error)
            if child.process is not None:
                child.process.kill()
        with self._lock:
            if self._child is child:  # nobody stopped it
                self._deaths += 1
                self._died = time.monotonic()
            child.ended.set()
        child.settled.set()

    def _follow(self, child: _Child, process: subprocess.Popen[bytes]) -> None:
        last = failure = ""
        assert process.stdin is not None
        assert process.stdout is not None
        order = {
            "model": str(self.model.resolve()),
            "key": child.key,
            "context": CONTEXT,
            "threads": threads(),
            "parent": os.getpid(),
        }
        with suppress(OSError):  # it died before reading everything
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
        for raw in process.stdout:
            line = raw.decode("utf-8", "replace").strip()
            _, found, report = line.partition(REPORT)
            if not found:
                last = line or last
            elif "address" in (said := json.loads(report)):
                child.address = said["address"]
                child.settled.set()
            else:
                failure = said["failure"]
        status = process.wait()
        process.stdin.close()
        process.stdout.close()
        reason = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        if not failure:
            failure = f"{last} ({reason})" if last else reason
        child.failure = failure

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "rag.chat_models.llama_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Not the caller's environment, which may hold keys. Waiting threads must sleep: if another program keeps a
            # core busy, spinning at least halves the speed.
            env={"PYTHONPATH": str(PROGRAM), "PYTHONUTF8": "1", "PATH": os.defpath, "OMP_WAIT_POLICY": "PASSIVE"},
            cwd="/",
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )


class LocalTransport(httpx.BaseTransport):
    """HTTP to the local server, wherever it listens; starts it if needed."""

    def __init__(self, server: LocalServer) -> None:
        self._server = server
        self._http = stoppable_transport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        try:
            response = self._send(request)
        except httpx.ConnectError:  # it died while idle
            self._server.lost(f"{request.url.scheme}://{request.url.netloc.decode()}")
            response = self._send(request)
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_Counted(response.stream, self._server),
            extensions=response.extensions,
        )

    def _send(self, request: httpx.Request) -> httpx.Response:
        address, key = self._server.connection()
        url = httpx.URL(address)
        request.url = request.url.copy_with(scheme=url.scheme, host=url.host, port=url.port)
        request.headers["Host"] = url.netloc.decode()
        request.headers["Authorization"] = f"Bearer {key}"
        return self._http.handle_request(request)

    def close(self) -> None:
        self._http.close()


class _Counted(httpx.SyncByteStream):
    """A reply that tells the server when it is complete."""

    def __init__(self, stream: Any, server: LocalServer) -> None:
        self._stream = stream
        self._server = server

    def __iter__(self) -> Iterator[bytes]:
        try:
            for block in self._stream:
                if b"[DONE]" in block:  # clients of such streams stop reading here
                    self._server.answered()
                yield block
        except httpx.TransportError as error:
            raise ChatModelError("the local chat model ended in the middle of its answer") from error
        self._server.answered()

    def close(self) -> None:
        self._stream.close()


@cache
def server_of(model: Path) -> LocalServer:
    """The server of a model file: one per process, stopped when the process ends."""
    server = LocalServer(model)
    atexit.register(server.stop)
    return server
