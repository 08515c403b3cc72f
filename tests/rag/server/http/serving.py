"""The API on a real loopback port, in a thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from fastapi import FastAPI

from rag.answer.assistant import Assistant
from rag.server.http.app import build_app
from rag.server.http.launch import bind, server_of
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


@contextmanager
def serving(assistant: Assistant, **options: Any) -> Iterator[Served]:
    with bind("127.0.0.1", 0) as bound:
        app = build_app(assistant, **options)
        server = server_of(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield Served(f"http://127.0.0.1:{bound.getsockname()[1]}", app)
        finally:
            server.should_exit = True
            thread.join(20)
