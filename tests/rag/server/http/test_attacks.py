"""Documents, questions and requests that attack: answers stay JSON or plain text, nothing outside the library is read,
and nothing that is sent makes the server fail."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from rag.answer.assistant import Assistant
from tests.conftest import HashEmbedder
from tests.rag.library import ingest, library_settings
from tests.rag.server.http.serving import Served, serving
from tests.rag.ui.test_browser_attacks import ATTACKS, TOPICS, documents

pytestmark = pytest.mark.slow

REQUESTS = 1_000
CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory, hash_embedder: HashEmbedder) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("attacks")
    report = ingest(folder, hash_embedder, documents(), with_tokens=False)
    assert not report.documents.failed, report.as_text()
    with serving(Assistant(library_settings(folder), hash_embedder)) as served:
        yield served


def check(response: httpx.Response) -> None:
    assert response.status_code < 500
    kind = response.headers["content-type"]
    assert kind in ("application/json", "text/plain; charset=utf-8", "text/event-stream; charset=utf-8")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in response.headers["content-security-policy"]
    assert not {"set-cookie", "location", "access-control-allow-origin"} & set(response.headers)


def events(text: str) -> list[dict[str, Any]]:
    """Every line of a stream is an event of ours."""
    lines = [line for line in text.splitlines() if line]
    assert lines[-1] == "data: [DONE]"
    assert all(line.startswith("data: {") for line in lines[:-1])
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]


@pytest.mark.parametrize("topic", TOPICS)
def test_attacks_of_documents(attacked: Served, topic: str) -> None:
    """Each question finds the documents of one topic; their names and texts come back as they are, and nothing else."""
    question = f"{topic}样本的阈值取多少？"
    with attacked.client() as client:
        found = client.post("/v1/search", json={"query": question, "k": 20})
        check(found)
        for result in found.json()["results"]:
            named = client.get(result["url"])
            check(named)
            source = client.get(result["url"].partition("?")[0]).text
            assert named.text == source[result["start"] : result["end"]]
        asked = client.post(CHAT, json={"model": "interview-rag", "messages": [{"role": "user", "content": question}]})
        check(asked)
        for annotation in asked.json()["choices"][0]["message"]["annotations"]:
            cited = annotation["url_citation"]
            assert cited["url"].startswith(f"{attacked.address}/v1/documents/")
            assert client.get(cited["url"]).text == cited["quote"]


def test_attacks_in_requests(attacked: Served) -> None:
    with attacked.client() as client:
        for attack in ATTACKS:
            message = {"role": "user", "content": attack}
            stream = client.post(CHAT, json={"model": "interview-rag", "messages": [message], "stream": True})
            check(stream)
            if stream.status_code == 200:
                assert events(stream.text)[-1]["choices"][0]["finish_reason"] == "stop"
            for path, body in (
                (CHAT, {"model": attack, "messages": [message]}),
                (CHAT, {"model": "interview-rag", "messages": [{"role": attack, "content": attack}]}),
                ("/v1/search", {"query": attack}),
                ("/v1/ask", {"question": attack, "id": attack, "history": [["user", attack], ["assistant", attack]]}),
                ("/v1/ask", {"question": "a", attack: attack}),
            ):
                check(client.post(path, json=body))
            check(client.get("/v1/documents/" + quote(attack, safe="")))


JUNK: list[Any] = [
    None, True, 0, -1, 1.5, 1e308, 10**40, "", "\ud800", "\x00", "a" * 5_000, "长" * 4_000, "‮x​", [], {}, [[]], [None],
    {"role": "user"}, {"type": "text", "text": None}, "../../etc/passwd", "data: [DONE]\n\n", "<script>", [1] * 3_000,
]  # fmt: skip
BODIES: list[tuple[str, dict[str, Any]]] = [
    (CHAT, {"model": "interview-rag", "messages": [{"role": "user", "content": "位置编码?"}], "stream": False, "n": 1,
            "stream_options": {"include_usage": True}, "temperature": 1, "tools": [], "response_format": {"type": "text"}}),
    (CHAT, {"model": "interview-rag", "stream": True, "messages": [
        {"role": "system", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "知识蒸馏?"}]},
        {"role": "assistant", "content": "y"}, {"role": "user", "content": "为什么?"}]}),
    ("/v1/search", {"query": "拒绝采样", "k": 3, "history": [["user", "a"]]}),
    ("/v1/ask", {"question": "前缀缓存?", "id": 1, "history": [["user", "a"], ["assistant", "b"]], "style": "short"}),
]  # fmt: skip
METHODS = ["GET", "GET", "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "X"]
PATHS = ["/v1/documents/", "/v1/models/", "/docs-assets/", "/v1/", "/", "/docs/", "/metrics/", "/v1/chat/"]
PIECES = ["..", ".", "%2e%2e", "%2f", "/", "//", "etc/passwd", "%00", "rope.md", "?", "start=1", "&end=", "-1", "%", "%ff",
          "\\", "index/CURRENT", ";", "*", "长", "a" * 300]  # fmt: skip
HEADERS = [
    ("Content-Type", "text/plain"), ("Content-Type", "multipart/form-data; boundary=x"), ("Accept", "\xff"), ("Range", "bytes=0-1"),
    ("Content-Encoding", "gzip"), ("Authorization", "Bearer \xe9"), ("Expect", "100-continue"), ("X-Forwarded-Host", "evil"),
    ("X-HTTP-Method-Override", "DELETE"), ("Upgrade", "websocket"), ("Cookie", "a=b;" * 200), ("Accept", "application/json"),
]  # fmt: skip


def mutated(chance: random.Random, value: Any) -> Any:
    """The same with something in it replaced, dropped or added."""
    if isinstance(value, dict) and value and chance.random() < 0.7:
        name = chance.choice(list(value))
        other = {**value, name: mutated(chance, value[name])}
        if chance.random() < 0.1:
            del other[name]
        return {**other, "more": chance.choice(JUNK)} if chance.random() < 0.1 else other
    if isinstance(value, list) and value and chance.random() < 0.7:
        place = chance.randrange(len(value))
        return [*value[:place], mutated(chance, value[place]), *value[place + 1 :]]
    return chance.choice([*JUNK, *ATTACKS])


def body_of(chance: random.Random, body: Any) -> bytes:
    for _ in range(chance.choice([0, 1, 1, 2])):
        body = mutated(chance, body)
    text = json.dumps(body).encode()
    match chance.randrange(8):
        case 0:
            return text[: chance.randrange(len(text) + 1)]
        case 1:
            place = chance.randrange(len(text) + 1)
            return text[:place] + chance.randbytes(3) + text[place:]
        case 2:
            return chance.choice(
                [b"[" * 100_000, b'{"a":' * 50_000, b"NaN", b"1e999", b"9" * 10_000, b"\xff\xfe{}", b""]
            )
    return text


def test_no_request_makes_the_server_fail(attacked: Served) -> None:
    chance = random.Random(20_261)
    statuses: dict[int, int] = {}
    with attacked.client() as client:
        for number in range(REQUESTS):
            headers = dict(chance.sample(HEADERS, chance.choice([0, 0, 1, 2])))
            if chance.random() < 0.65:
                path, body = chance.choice(BODIES)
                given = {"Content-Type": "application/json", **headers}
                encoded = {name.encode(): value.encode("latin-1") for name, value in given.items()}
                request = client.build_request("POST", path, content=body_of(chance, body), headers=encoded)
                response = client.send(request)
                status, answer = response.status_code, response.content
            else:
                path = chance.choice(PATHS) + "".join(chance.choices(PIECES, k=chance.randint(0, 6)))
                lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
                sent = (
                    f"{chance.choice(METHODS)} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{lines}\r\n"
                )
                status, answer = attacked.raw(sent.encode())
            statuses[status] = statuses.get(status, 0) + 1
            assert status < 500, (number, path, answer)
            assert b"root:x" not in answer
            assert b"manifest_sha256" not in answer
        assert client.get("/healthz").status_code == 200
    assert statuses[200] > 50, statuses
    assert statuses[400] > 100, statuses
    assert attacked.service.work.running == 0


def test_half_a_request_and_noise(attacked: Served) -> None:
    for data in (b"\x16\x03\x01" + b"\x00" * 200, b"GET / HTTP/9.9\r\n\r\n", b"GET /\r\n\r\n", b"\x00" * 500 + b"\r\n\r\n",
                 b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
                 b"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
                 b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n"):  # fmt: skip
        try:
            status, _ = attacked.raw(data)
        except ConnectionError:
            continue
        assert 400 <= status < 500
    with attacked.client() as client:
        assert client.get("/healthz").status_code == 200
