"""Which requests get in: hosts, web sites, keys, rates, sizes."""

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from uvicorn.protocols.http.h11_impl import H11Protocol

from rag.answer.assistant import Assistant
from rag.errors import UsageError
from rag.server.address import bind, check_open_door
from rag.server.http import launch
from rag.server.http.guard import ApiLimits
from rag.server.keys import read_keys
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.chat_models.chat_server import ChatServer
from tests.rag.server.http.serving import Served, serving

ANNA, BEN = "anna-" + "a" * 30, "ben-" + "b" * 30
ASK = {"question": "LoRA 的秩怎么选？"}


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    file = tmp_path / "keys"
    file.write_text(f"# who may ask\nanna:{ANNA}\n\nben:{BEN}:2 per 1 hour\n", encoding="utf-8")
    file.chmod(0o600)
    return file


@pytest.fixture
def locked(key_file: Path, library: Settings, hash_embedder: HashEmbedder) -> Iterator[Served]:
    with serving(Assistant(library, hash_embedder), clients=read_keys(key_file)) as served:
        yield served


def test_a_key_is_asked_for(locked: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with locked.client() as client:
        for headers in (
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": f"Basic {ANNA}"},
            {"Authorization": f"Bearer {ANNA}x"},
            {"Authorization": "Bearer \xff".encode("latin-1").decode("latin-1")},
        ):
            encoded = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
            response = client.post("/v1/ask", json=ASK, headers=encoded)
            assert response.status_code == 401
            assert response.json()["error"]["code"] == "invalid_api_key"
        for path in ("/v1/documents/rope.md", "/v1/models", "/metrics", "/v1/nothing"):
            assert client.get(path).status_code == 401
        for path in ("/healthz", "/readyz", "/docs", "/openapi.json", "/docs-assets/swagger-ui.css"):
            assert client.get(path).status_code == 200
        assert client.post("/v1/ask", json=ASK, headers={"Authorization": f"Bearer {ANNA}"}).status_code == 200
    assert ANNA not in caplog.text
    assert ANNA not in repr(read_keys)
    with openai.OpenAI(base_url=f"{locked.address}/v1", api_key="wrong", max_retries=0) as gpt:
        with pytest.raises(openai.AuthenticationError):
            gpt.models.list()
        assert gpt.with_options(api_key=ANNA).models.list().data


def test_each_key_has_its_own_limit(locked: Served) -> None:
    with locked.client(Authorization=f"Bearer {BEN}") as ben, locked.client(Authorization=f"Bearer {ANNA}") as anna:
        assert [ben.post("/v1/ask", json=ASK).status_code for _ in range(3)] == [200, 200, 429]
        refused = ben.post("/v1/ask", json=ASK)
        assert refused.json()["error"] == {
            "message": refused.json()["error"]["message"],
            "type": "rate_limit_error",
            "param": None,
            "code": "rate_limit_exceeded",
        }
        assert 3_500 < int(refused.headers["retry-after"]) <= 3_601
        assert ben.get("/v1/models").status_code == 200
        assert anna.post("/v1/ask", json=ASK).status_code == 200
        messages: Any = [{"role": "user", "content": "LoRA?"}]
        with (
            openai.OpenAI(base_url=f"{locked.address}/v1", api_key=BEN, max_retries=0) as gpt,
            pytest.raises(openai.RateLimitError),
        ):
            gpt.chat.completions.create(model="interview-rag", messages=messages)


@pytest.mark.parametrize(
    ("text", "mode", "told"),
    [
        (f"anna:{ANNA}\n", 0o640, "others may read"),
        (f"anna:{ANNA}\n", 0o604, "others may read"),
        ("", 0o600, "holds no key"),
        ("# only a comment\n", 0o600, "holds no key"),
        ("anna\n", 0o600, "line 1 .* is not name:key"),
        (":key\n", 0o600, "line 1 .* is not name:key"),
        ("anna:short\n", 0o600, "too short"),
        (f"anna:{'长' * 20}\n", 0o600, "too short, or not one"),
        (f"anna:{ANNA}:often\n", 0o600, "'often' is no limit"),
        (f"anna:{ANNA}\nben:{ANNA}\n", 0o600, "a key twice"),
        (f"anna:{ANNA}\nanna:{BEN}\n", 0o600, "a name twice"),
    ],
)
def test_a_key_file_that_will_not_do(tmp_path: Path, text: str, mode: int, told: str) -> None:
    file = tmp_path / "keys"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    with pytest.raises(UsageError, match=told) as caught:
        read_keys(file)
    assert caught.value.hint
    assert ANNA not in caught.value.message + caught.value.hint
    if "others" in told:
        assert "chmod 600" in caught.value.hint


def test_the_network_is_not_let_in_without_keys(key_file: Path) -> None:
    check_open_door("127.0.0.1", None)
    check_open_door("0.0.0.0", read_keys(key_file))
    with pytest.raises(UsageError, match="everyone on the network") as caught:
        check_open_door("0.0.0.0", None)
    assert "--key-file" in caught.value.hint
    with pytest.raises(UsageError, match="cannot read the key file"):
        read_keys(key_file / "missing")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "", "[::2]", "127.0.0.2"]
)
def test_a_name_made_to_point_here_gets_nothing(client: httpx.Client, host: str) -> None:
    response = client.get("/v1/documents/rope.md", headers={"Host": host})
    assert response.status_code == 403
    assert response.json()["error"]["code"] == "wrong_host"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:7861", "[::1]:7861"])
def test_names_of_this_machine(client: httpx.Client, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


FOREIGN = [
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://["}, {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
]  # fmt: skip


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_other_web_sites_get_nothing(client: httpx.Client, headers: dict[str, str]) -> None:
    for response in (
        client.post("/v1/ask", json=ASK, headers=headers),
        client.get("/v1/documents/rope.md", headers=headers),
        client.options("/v1/ask", headers={**headers, "Access-Control-Request-Method": "POST"}),
    ):
        assert response.status_code == 403
        assert not [name for name in response.headers if name.startswith("access-control")]


def test_responses_are_not_pages(client: httpx.Client) -> None:
    headers = client.get("/v1/documents/rope.md").headers
    assert headers["content-security-policy"] == "default-src 'none'; sandbox; frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff"


def test_a_body_that_is_too_large(client: httpx.Client) -> None:
    told = client.post("/v1/ask", content=b" " * 1_000_001)
    assert told.status_code == 413
    assert told.json()["error"]["code"] == "request_too_large"

    def endless() -> Iterator[bytes]:
        for _ in range(200):
            yield b" " * 100_000

    try:
        untold = client.post("/v1/ask", content=endless())
    except httpx.TransportError:  # the server hung up while it was sent
        pass
    else:
        assert untold.status_code == 413
    assert client.post("/v1/ask", json=ASK).status_code == 200


@pytest.mark.parametrize("length", ["-1", "1e3", "9" * 30, "0x10", "1, 2"])
def test_lengths_that_are_none(served: Served, length: str) -> None:
    status, _ = served.raw(f"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode())
    assert status in (400, 413)


def test_a_slow_body_is_not_waited_for(library: Settings, hash_embedder: HashEmbedder) -> None:
    limits = ApiLimits(body_seconds=0.3)
    with serving(Assistant(library, hash_embedder), limits=limits) as served:
        # The rest never comes, so that only the limit can end the wait.
        status, answer = served.raw(b"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        assert status == 408
        assert b'"slow_request"' in answer
        assert b"longer than 0.3 s" in answer


@pytest.mark.parametrize(
    "sent", [b"", b"GET /healthz HTTP/1.1\r\nHo", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /he"]
)
def test_half_a_head_is_not_waited_for(served: Served, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    """Nor for any that comes drop by drop."""
    monkeypatch.setattr(launch, "HEAD_SECONDS", 0.5)
    # uvicorn itself hangs up between two requests.
    monkeypatch.setattr(H11Protocol, "timeout_keep_alive_handler", lambda self: None)
    port = int(served.address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(sent)
        answer = b""
        with contextlib.suppress(ConnectionError):  # but no TimeoutError: the server is the one that hangs up
            while more := connection.recv(65_536):
                answer += more
                for _ in range(3):
                    connection.sendall(b"x")
        assert answer.startswith(b"HTTP/1.1 200") or not answer


def test_one_client_has_so_many_under_way(library: Settings, hash_embedder: HashEmbedder) -> None:
    with ChatServer(reply="ZeRO-3", cut_after=2, pause=20).running() as server:
        settings = library.model_copy(update={"endpoint_url": server.url, "endpoint_model": "test"})
        with serving(Assistant(settings, hash_embedder), limits=ApiLimits(under_way=2)) as served:
            body = {"question": "ZeRO-3 切分什么？", "llm": "endpoint"}
            with served.client() as client:
                waiting = [
                    threading.Thread(target=client.post, args=("/v1/ask",), kwargs={"json": body}) for _ in range(2)
                ]
                for thread in waiting:
                    thread.start()
                while len(server.requests) < 2:
                    time.sleep(0.02)
                refused = client.post("/v1/ask", json=ASK)
                assert refused.status_code == 429
                assert refused.json()["error"]["code"] == "too_many_under_way"
                server.let_go.set()
                for thread in waiting:
                    thread.join(30)
                assert client.post("/v1/ask", json=ASK).status_code == 200


def test_answers_are_not_delayed() -> None:
    """What asyncio asks before it turns Nagle's algorithm off for a connection."""
    with bind("127.0.0.1", 0) as bound:
        assert bound.proto == socket.IPPROTO_TCP
