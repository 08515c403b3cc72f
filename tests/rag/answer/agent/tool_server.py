"""A chat endpoint that calls tools as it is told to, turn by turn, and misbehaves."""

import json
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from select import select
from typing import Any

from tests.rag.chat_models.chat_server import ChatServer


@dataclass(frozen=True)
class Call:
    """A call of a tool; `arguments` as they are sent, which need not be JSON."""

    name: str
    arguments: str

    def as_json(self, number: int) -> dict[str, Any]:
        return {
            "id": f"call-{number}",
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }


def search(query: str) -> Call:
    return Call("search", json.dumps({"query": query}, ensure_ascii=False))


@dataclass
class ToolServer(ChatServer):
    """What it says to requests that offer tools: `turns`, a text or calls each, of which the last is said for ever.
    Other requests are answered with `reply`, as those of a single pass. `dies_at` is the turn at which it hangs up,
    `hangs_at` that at which it says nothing for ever, `refuses_tools` that it cannot call any."""

    turns: list[str | list[Call]] = field(default_factory=list)
    taken: int = 0
    dies_at: int | None = None
    hangs_at: int | None = None
    refuses_tools: bool = False

    @property
    def told(self) -> list[str]:
        """What the tools have told the model, in order."""
        with_tools = [request for request in self.requests if request.get("tools")]
        return [message["content"] for message in with_tools[-1]["messages"] if message["role"] == "tool"]

    @property
    def offered(self) -> set[str]:
        """The names of the tools in the first request."""
        return {tool["function"]["name"] for tool in self.requests[0].get("tools", ())}

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        if not self.requests[-1].get("tools"):
            super().answer(handler)
            return
        if self.refuses_tools:
            told = {"error": {"message": "this model does not support tools", "type": "invalid_request_error"}}
            self.whole(handler, 400, json.dumps(told).encode())
            return
        turn, self.taken = self.turns[min(self.taken, len(self.turns) - 1)], self.taken + 1
        if self.dies_at is not None and self.taken > self.dies_at:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
            return
        if self.hangs_at is not None and self.taken > self.hangs_at:
            deadline = time.monotonic() + 20
            while not select([handler.connection], [], [], 0.05)[0]:
                if time.monotonic() >= deadline:
                    self.waited_out.set()
                    break
            return
        message: dict[str, Any] = {"role": "assistant", "content": turn if isinstance(turn, str) else None}
        if not isinstance(turn, str):
            message["tool_calls"] = [call.as_json(100 * self.taken + place) for place, call in enumerate(turn)]
        finish = "stop" if isinstance(turn, str) else "tool_calls"
        choice = {"index": 0, "message": message, "finish_reason": finish}
        whole = {"id": "c", "object": "chat.completion", "created": 0, "model": "test", "choices": [choice]}
        self.whole(handler, 200, json.dumps(whole).encode())
