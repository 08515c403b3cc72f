"""The API on a real loopback port, in a thread."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from fastapi import FastAPI

from rag.answer.assistant import Assistant
from rag.server.address import bind
from rag.server.http.app import build_app
from rag.server.http.launch import server_of
from rag.server.http.service import Service


@dataclass(frozen=True)
class Served:
    address: str
    app: FastAPI

    @property
    def service(self) -> Service:
        service: Service = self.app.state.service
        return service

    def client(self, **headers: str) -> httpx.Client:
        return httpx.Client(base_url=self.address, headers=headers, trust_env=False, timeout=60)

    def raw(self, data: bytes) -> tuple[int, bytes]:
        """Status and all of the answer to bytes that no client would send."""
        port = int(self.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(data)
            answer = b""
            while not _is_whole(answer) and (more := connection.recv(65_536)):
                answer += more
        return int(answer.split(b" ", 2)[1]), answer


def _is_whole(answer: bytes) -> bool:
    head, found, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"\r\ncontent-length: (\d+)", head)
    return bool(found) and (length is None or len(body) >= int(length[1]))


@contextmanager
def serving(assistant: Assistant, **options: Any) -> Iterator[Served]:
    with bind("127.0.0.1", 0) as bound:
        app = build_app(assistant, **options)
        server = server_of(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        bound.listen()
        thread.start()
        try:
            yield Served(f"http://127.0.0.1:{bound.getsockname()[1]}", app)
        finally:
            server.should_exit = True
            thread.join(30)
