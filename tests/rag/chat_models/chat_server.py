"""A real OpenAI-compatible chat endpoint on a loopback port, that says what it is told to, or misbehaves."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from typing import Any


@dataclass
class ChatServer:
    """`reply` is streamed in pieces of `piece` characters. `requests` are the bodies that were sent, `lists` counts the
    requests for `models`."""

    reply: str = ""
    piece: int = 3
    status: int = 200
    # What a refusal says beside its status, such as the key that it was sent; and where a redirect leads.
    echo_key: bool = False
    location: str = ""
    models: tuple[str, ...] = ()
    # Sent in place of the list of models.
    raw_list: bytes = b""
    lists: int = 0
    # Sent instead of the reply's chunks, after `cut_after` characters of it.
    raw: bytes = b""
    cut_after: int | None = None
    # Seconds of silence before anything is sent, and where the reply is cut; `let_go` ends both early.
    wait: float = 0.0
    pause: float = 0.0
    let_go: threading.Event = field(default_factory=threading.Event)
    # Set where a client has waited to their end.
    waited_out: threading.Event = field(default_factory=threading.Event)
    endless: bool = False
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def prompt(self) -> str:
        """The text of the last request's messages."""
        return "\n".join(message["content"] for message in self.requests[-1]["messages"])

    @contextmanager
    def running(self) -> Iterator["ChatServer"]:
        chat = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                chat.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                chat.keys.append(self.headers["Authorization"])
                try:
                    chat.answer(self)
                except ConnectionError:
                    chat.gone.set()
                self.close_connection = True

            def do_GET(self) -> None:
                chat.lists += 1
                chat.keys.append(self.headers["Authorization"])
                with suppress(ConnectionError):
                    chat.list(self)
                self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing on stderr."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.port = server.server_address[1]
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            try:
                yield self
            finally:
                self.let_go.set()
                server.shutdown()
                thread.join()

    def hold(self) -> None:
        if self.wait and not self.let_go.wait(self.wait):
            self.waited_out.set()

    def list(self, handler: BaseHTTPRequestHandler) -> None:
        self.hold()
        if self.status != 200:
            self.refuse(handler)
        elif handler.path != "/v1/models":
            self.whole(handler, 404, b"{}")
        else:
            models = [{"id": name, "object": "model"} for name in self.models]
            self.whole(handler, 200, self.raw_list or json.dumps({"object": "list", "data": models}).encode())

    def refuse(self, handler: BaseHTTPRequestHandler) -> None:
        told = f"status {self.status}" + (f", you sent {handler.headers['Authorization']}" if self.echo_key else "")
        self.whole(handler, self.status, json.dumps({"error": {"message": told, "type": "test"}}).encode())

    def whole(self, handler: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("Retry-After", "0")
        if self.location:
            handler.send_header("Location", self.location)
        handler.end_headers()
        handler.wfile.write(body)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.hold()
        if self.status != 200:
            self.refuse(handler)
            return
        if not self.requests[-1].get("stream"):
            message = {"role": "assistant", "content": self.reply}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            whole = {"id": "c", "object": "chat.completion", "created": 0, "model": "test", "choices": [choice]}
            self.whole(handler, 200, json.dumps(whole).encode())
            return
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        said = self.reply if self.cut_after is None else self.reply[: self.cut_after]
        while True:
            for start in range(0, len(said), self.piece):
                self.send(handler, self.event({"content": said[start : start + self.piece]}))
            if not self.endless:
                break
            time.sleep(0.001)
        if self.cut_after is not None:
            deadline = time.monotonic() + self.pause
            while not self.let_go.wait(0.05):
                if select([handler.connection], [], [], 0)[0]:  # it has nothing to say: it has hung up
                    self.gone.set()
                    break
                if time.monotonic() >= deadline:
                    self.waited_out.set()
                    break
            return  # neither the end of the stream nor that of the chunked body
        self.send(handler, self.raw or self.event({}, finish="stop") + b"data: [DONE]\n\n")
        handler.wfile.write(b"0\r\n\r\n")

    @staticmethod
    def event(delta: dict[str, str], *, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
        body = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "test", "choices": [choice]}
        return b"data: " + json.dumps(body).encode() + b"\n\n"

    @staticmethod
    def send(handler: BaseHTTPRequestHandler, data: bytes) -> None:
        handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        handler.wfile.flush()
