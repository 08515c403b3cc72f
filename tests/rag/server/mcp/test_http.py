"""Streamable HTTP: who gets in. Requests are made as a browser, a stranger and a client make them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.server import MCPServer
from starlette.testclient import TestClient

from rag.errors import UsageError
from rag.server.keys import read_keys
from rag.server.mcp.http import LARGEST_REQUEST, http_app

KEY = "0123456789abcdef0123"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "LoRA"}}}
ACCEPT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@pytest.fixture
def http(server: MCPServer) -> Iterator[TestClient]:
    with TestClient(http_app(server, "127.0.0.1"), base_url="http://127.0.0.1:7870", headers=ACCEPT) as client:
        yield client


def test_a_call(http: TestClient) -> None:
    response = http.post("/mcp", json=CALL)
    assert response.status_code == 200
    assert response.json()["result"]["structuredContent"]["results"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:7870"}, 421),
        ({"Host": "evil.example:7870"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "https://127.0.0.1.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
        ({"Origin": "http://localhost:5173"}, 200),
        ({"Host": "localhost:7870"}, 200),
        ({"Host": "[::1]:7870"}, 200),
    ],
)
def test_other_web_sites_are_kept_out(http: TestClient, headers: dict[str, str], status: int) -> None:
    response = http.post("/mcp", content=json.dumps(CALL), headers={"Content-Type": "application/json", **headers})
    assert response.status_code == status
    assert ("LoRA" in response.text) is (status == 200)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"x" * (LARGEST_REQUEST + 1), 413),
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b"\xff\xfe", 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}', 404),
    ],
)
def test_bad_requests_are_errors_without_a_traceback(http: TestClient, body: bytes, status: int) -> None:
    response = http.post("/mcp", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code in (status, 200)
    assert "Traceback" not in response.text
    assert response.status_code != 200 or "error" in response.json()


@pytest.mark.parametrize("path", ["/", "/docs", "/mcp/../etc/passwd", "/%2e%2e/etc/passwd", "/openapi.json"])
def test_there_is_nothing_else(http: TestClient, path: str) -> None:
    assert http.get(path).status_code in (404, 307)


def test_beyond_this_machine_a_key_is_needed(server: MCPServer, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"binding to 0\.0\.0\.0"):
        http_app(server, "0.0.0.0")
    file = tmp_path / "keys"
    file.write_text(f"laptop:{KEY}\n", encoding="utf-8")
    file.chmod(0o600)
    app = http_app(server, "0.0.0.0", clients=read_keys(file))
    with TestClient(app, base_url="http://host.example:7870", headers=ACCEPT) as client:
        for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": KEY}, {"Authorization": "Bearer "}):
            response = client.post("/mcp", json=CALL, headers=given)
            assert response.status_code == 401
            assert response.headers["WWW-Authenticate"] == "Bearer"
        assert client.post("/mcp", json=CALL, headers={"Authorization": f"Bearer {KEY}"}).status_code == 200
