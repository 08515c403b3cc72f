"""The HTTP API in the page's process. That it is not there unasked: test_browser.py, what the server gives away."""

from pathlib import Path

import httpx
import pytest

from rag.answer.assistant import Assistant
from rag.embedding import Embedder
from rag.errors import UsageError
from rag.settings import Settings
from rag.ui.app.launch import Door
from rag.ui.app.launch import serve as serve_page
from tests.rag.library import DOCUMENTS, ingest
from tests.rag.ui.browser import serve


@pytest.mark.slow
def test_the_api_beside_the_page(tmp_path: Path, embedder: Embedder, model_settings: Settings) -> None:
    ingest(tmp_path, embedder, DOCUMENTS)
    arguments = ["--index", str(tmp_path / "index"), "--port", "8070", "--llm", "extractive"]
    body = {"question": "LoRA 的秩怎么选？"}
    with (
        serve(*arguments, environment={"INTERVIEW_RAG_API": "true"}) as address,
        httpx.Client(base_url=address, trust_env=False, timeout=60) as client,
    ):
        asked = client.post("v1/ask", json=body).json()
        assert asked["kind"] == "answer"
        assert client.get(asked["citations"][0]["url"]).text == asked["citations"][0]["quote"]
        assert client.get("").status_code == 200
        assert client.get("docs").status_code == 404
        assert client.get("v1/models", headers={"Host": "evil.example"}).status_code == 403
        assert client.post("v1/ask", json=body, headers={"Origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize(("host", "users"), [("127.0.0.1", [("anna", "secret")]), ("0.0.0.0", None)])
def test_it_does_not_go_round_the_sign_in(assistant: Assistant, host: str, users: list[tuple[str, str]] | None) -> None:
    assistant.settings = assistant.settings.model_copy(update={"api": True})
    with pytest.raises(UsageError, match="without keys") as caught:
        serve_page(assistant, Door(host, 8071, users))
    assert "api_key_file" in caught.value.hint
