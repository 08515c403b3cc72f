"""Search, ask, the slices of documents, and what operators look at."""

import json
import time
import unicodedata
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from rag.answer.assistant import Assistant
from rag.wire import answer_as_dict, search_as_dict
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS, ROPE, ingest, library_settings
from tests.rag.server.http.serving import Served, serving

QUESTION = "LoRA 的秩怎么选？"


def test_search(client: httpx.Client, served: Served) -> None:
    found = client.post("/v1/search", json={"query": QUESTION, "k": 3}).json()
    urls = [result.pop("url") for result in found["results"]]
    assert found == json.loads(json.dumps(search_as_dict(served.service.assistant.search(QUESTION, k=3))))
    assert len(urls) == 3
    for url, result in zip(urls, found["results"], strict=True):
        source = client.get(f"/v1/documents/{result['document']}").text
        assert client.get(url).text == source[result["start"] : result["end"]]


def test_ask(client: httpx.Client, served: Served) -> None:
    history = [["user", "LoRA 为什么能省显存？"], ["assistant", "LoRA 冻结原来的权重。"]]
    asked = client.post("/v1/ask", json={"id": "q1", "question": "那它的秩怎么选？", "history": history}).json()
    assert asked.pop("id") == "q1"
    assert asked["kind"] == "answer"
    assert "LoRA" in asked["search_queries"][0]
    for citation in asked["citations"]:
        assert client.get(citation.pop("url")).text == citation["quote"]
    asked = client.post("/v1/ask", json={"question": QUESTION, "style": "short", "llm": "extractive"}).json()
    ours = answer_as_dict(served.service.assistant.ask(QUESTION))
    assert set(asked) == {"id", *ours}
    assert client.post("/v1/ask", json={"question": ""}).status_code == 400
    assert client.post("/v1/ask", json={"question": "a", "history": [["owner", "b"]]}).status_code == 400
    assert client.post("/v1/ask", json={"question": "a", "llm": "endpoint"}).status_code == 503


def test_only_some_documents(client: httpx.Client) -> None:
    found = client.post("/v1/search", json={"query": QUESTION, "only": ["zero.md"]}).json()
    assert {result["document"] for result in found["results"]} == {"zero.md"}
    asked = client.post("/v1/ask", json={"question": QUESTION, "only": ["lora.txt"]}).json()
    assert {citation["document"] for citation in asked["citations"]} == {"lora.txt"}
    for path, field in (("search", "query"), ("ask", "question")):
        for only in (["gone.md"], ["../"], [""], "lora.txt", [3]):
            response = client.post(f"/v1/{path}", json={field: QUESTION, "only": only})
            assert response.status_code == 400, only


def test_a_slice_is_nothing_but_itself(client: httpx.Client) -> None:
    response = client.get("/v1/documents/rope.md", params={"start": 2, "end": 6})
    assert (response.text, response.headers["content-type"]) == (ROPE[2:6], "text/plain; charset=utf-8")
    assert client.get("/v1/documents/rope.md").text == ROPE
    assert client.get("/v1/documents/rope.md?start=3&end=3").text == ""
    found = client.get("/v1/documents/rope.md?start=2&end=6", headers={"Accept": "application/json"}).json()
    assert found == {"document": "rope.md", "start": 2, "end": 6, "characters": len(ROPE), "text": ROPE[2:6]}


@pytest.mark.parametrize(
    "query", ["start=6&end=2", "end=99999", "start=-1", "start=a", "sha256=x", f"start={'9' * 40}"]
)
def test_what_is_no_slice(client: httpx.Client, query: str) -> None:
    response = client.get(f"/v1/documents/rope.md?{query}")
    assert response.status_code == 400
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}


TRICKS = [
    "../index/CURRENT", "..%2Findex%2FCURRENT", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "%2Fetc%2Fpasswd",
    "rope.md/",
    "./rope.md", "rope.md%00", "rope.md%00.png", "ROPE.MD", "..%5cindex", "file:///etc/passwd", "~", "%ff%fe", "'; --",
    "rope.md%0d%0aX-Injected:%201", "*", "%25", "%", "rope%2emd/../zero.md", quote("' OR 1=1 --"), "a" * 5_000,
]  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS)
def test_no_other_name_finds_anything(served: Served, trick: str) -> None:
    status, answer = served.raw(f"GET /v1/documents/{trick} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert status in (400, 404)
    assert b"root:" not in answer
    assert b"\nx-injected" not in answer.lower()


@pytest.mark.parametrize("name", ["new\nline.md", "two\n\nlines\n.md", "a#b?c%20d&e=f.md", "re\u0301sume\u0301.md"])
def test_a_document_of_whatever_name_is_returned(tmp_path: Path, hash_embedder: HashEmbedder, name: str) -> None:
    ingest(tmp_path, hash_embedder, {name: ROPE})
    with serving(Assistant(library_settings(tmp_path), hash_embedder)) as served, served.client() as client:
        assert client.get(f"/v1/documents/{quote(name)}").text == ROPE
        assert client.get(f"/v1/documents/{quote(unicodedata.normalize('NFC', name))}").text == ROPE
        [citation, *_] = client.post("/v1/ask", json={"question": "RoPE 为什么能外推？"}).json()["citations"]
        assert client.get(citation["url"]).text == citation["quote"]


def test_an_index_that_is_updated_is_opened_again(own_library: Path, hash_embedder: HashEmbedder) -> None:
    assistant = Assistant(library_settings(own_library), hash_embedder)
    with serving(assistant) as served, served.client() as client:
        first = client.post("/v1/ask", json={"question": QUESTION}).json()["citations"][0]
        assert client.get(first["url"]).text == first["quote"]
        ready = client.get("/readyz").json()
        assert (ready["status"], ready["generation"]) == ("ready", "000001")
        ingest(own_library, hash_embedder, {**DOCUMENTS, "lora.txt": "LoRA 的秩怎么选？\n\n常用的秩现在是 128。\n"})
        changed = client.get(first["url"])
        assert changed.status_code == 410
        assert changed.json()["error"]["code"] == "document_changed"
        assert "128" in client.post("/v1/ask", json={"question": QUESTION}).json()["answer"]
        assert client.get("/readyz").json()["generation"] == "000002"
        assert "interview_rag_generation 2.0" in client.get("/metrics").text


def test_a_damaged_generation_is_not_ready(own_library: Path, hash_embedder: HashEmbedder) -> None:
    assistant = Assistant(library_settings(own_library), hash_embedder)
    with serving(assistant) as served, served.client() as client:
        ingest(own_library, hash_embedder, {"rope.md": ROPE})
        for file in (own_library / "index" / "generations" / "000002").glob("*.sqlite"):
            file.write_bytes(b"damaged")
        for response in (client.get("/readyz"), client.post("/v1/ask", json={"question": QUESTION})):
            assert response.status_code == 503
            assert response.json()["error"]["code"] == "index_corrupt"
        assert client.get("/healthz").json() == {"status": "ok"}


def test_metrics_hold_no_text(client: httpx.Client) -> None:
    client.post("/v1/ask", json={"question": QUESTION})
    client.post("/v1/ask", json={"question": "你好"})
    client.post("/v1/ask", json={"question": "GRPO 的 KL 系数取多少？"})
    deadline = time.monotonic() + 60  # the thread of an answer ends after the answer
    while "interview_rag_running 0.0" not in (text := client.get("/metrics").text):
        assert time.monotonic() < deadline
    for line in (
        'interview_rag_answers_total{kind="answer",llm="extractive",refusal=""}',
        'interview_rag_answers_total{kind="courtesy",llm="extractive",refusal=""}',
        'interview_rag_answers_total{kind="refusal",llm="extractive",refusal="missing_terms"}',
        'interview_rag_answer_seconds_count{until="first_text"}',
        'interview_rag_stage_seconds_count{stage="search"}',
        'interview_rag_http_requests_total{route="/v1/ask",status="200"}',
    ):
        assert line in text
    assert "LoRA" not in text
    assert "GRPO" not in text


def test_the_page_of_the_api_loads_nothing_from_elsewhere(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert "http://" not in page.text
    assert "https://" not in page.text
    assert client.get("/docs-assets/swagger-ui-bundle.js").status_code == 200
    assert client.get("/docs-assets/swagger-ui.css").status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    described = client.get("/openapi.json").json()
    assert {"/v1/chat/completions", "/v1/search", "/v1/ask", "/v1/documents/{id}", "/v1/models", "/healthz"} <= set(
        described["paths"]
    )
    assert "Unicode code points" in json.dumps(described["components"]["schemas"]["UrlCitation"])
    for trick in ("../core.py", "%2e%2e/core.py", "..%2fcore.py"):
        assert client.get(f"/docs-assets/{trick}").status_code == 404


@pytest.mark.parametrize("path", ["/v1/nothing", "/", "/v1", "/redoc", "/v1/chat/completions", "/v1/ask/"])
def test_addresses_that_are_not_there(client: httpx.Client, path: str) -> None:
    response = client.get(path, follow_redirects=False)
    assert response.status_code in (404, 405)
    assert response.json()["error"]["code"] in ("not_found", "method_not_allowed")
