"""What the guard lets in, over the real server with users, and its limits one by one."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from rag.embedding import Embedder
from rag.server.entrance import Rate
from rag.settings import Settings
from rag.ui.app.policy import lax
from tests.paths import ROOT
from tests.rag.library import DOCUMENTS, ingest
from tests.rag.ui.browser import serve

ELSEWHERE = {"Origin": "http://evil.invalid"}
SITE = {"Sec-Fetch-Site": "cross-site"}


def test_a_rate_is_a_window_that_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    rate = Rate("2 per 1 second")
    assert [rate.take("anna"), rate.take("anna"), rate.take("anna"), rate.take("ben")] == [True, True, False, True]
    assert rate.spent("anna")
    assert 1 <= rate.seconds_left("anna") <= 2
    now += 1.05
    assert rate.take("anna")


def test_cookies_stay_at_home() -> None:
    assert lax(b"a=b; HttpOnly; SameSite=None; Secure") == b"a=b; HttpOnly; Secure; SameSite=Lax"
    assert lax(b"a=b; HttpOnly") == b"a=b; HttpOnly; SameSite=Lax"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("guard")
    ingest(folder, embedder, DOCUMENTS)
    users = folder / "users"
    users.write_text("anna:secret one\nben:secret two\n", encoding="utf-8")
    users.chmod(0o600)
    return folder


@pytest.fixture(scope="module")
def address(library: Path, model_settings: Settings) -> Iterator[str]:
    arguments = ["--index", str(library / "index"), "--port", "8050", "--llm", "extractive"]
    limit = {"INTERVIEW_RAG_MAX_FILE_MEGABYTES": "1"}
    with serve(*arguments, "--auth-file", str(library / "users"), environment=limit) as address:
        yield address


@contextmanager
def signed_in(address: str, name: str, password: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, trust_env=False, timeout=120) as client:
        response = client.post("login", data={"username": name, "password": password})
        assert response.status_code == 200
        for cookie in response.headers.get_list("set-cookie"):
            assert "httponly" in cookie.lower()
            assert cookie.endswith("; SameSite=Lax")
            # The one for TLS would not come back over plain HTTP.
            pair = re.match(r"([^=]+)=([^;]+)", cookie)
            assert pair is not None
            if "unsecure" in pair[1]:
                client.cookies.set(pair[1], pair[2])
        yield client


SEND = {"action": "send", "number": 0, "rest": ""}


def question_event(client: httpx.Client) -> int:
    config = client.get("config").json()
    boxes = {part["id"] for part in config["components"] if part["props"].get("elem_id") == "sources"}
    submits = [e["id"] for e in config["dependencies"] if any(t[0] in boxes and t[1] == "submit" for t in e["targets"])]
    return int(submits[0])


@pytest.mark.slow
def test_addresses_that_the_page_does_not_use(address: str) -> None:
    with signed_in(address, "anna", "secret one") as client:
        for path in (
            *("docs", "redoc", "openapi.json", "monitoring", "monitoring/summary", "gradio_api/openapi.json"),
            *(
                "gradio_api/run/ask",
                "gradio_api/call/ask",
                "gradio_api/api/ask",
                "gradio_api/runs",
                "gradio_api/vibe-code",
            ),
            *("gradio_api/proxy=http://evil.invalid", "gradio_api/deep_link", "gradio_api/dev/reload"),
            *("gradio_api/file=http://evil.invalid/a", "gradio_api/file=HTTPS://evil.invalid/a", "svelte/x"),
        ):
            assert client.get(path).status_code == 404, path
            assert client.post(path, json={}).status_code == 404, path
        assert client.put("/", content=b"").status_code == 405
        assert client.get("gradio_api/info").json().get("named_endpoints") == {}


@pytest.mark.slow
def test_no_file_of_the_machine_can_be_read(address: str, library: Path) -> None:
    secret = library / "users"
    tricks = [
        str(secret), f"//{secret}", f"/tmp/..{secret}", f"{library}/documents/../users",
        "../../../../../../../etc/passwd", "/etc/passwd", "/proc/self/environ", "%2Fetc%2Fpasswd",
        "..%2f..%2f..%2f..%2fetc%2fpasswd", "/etc/passwd%00.png",
        "....//....//etc/passwd", "..%5c..%5cetc%5cpasswd", "~/.bashrc", "file:///etc/passwd", "app.py", "./app.py",
        str(ROOT / "app.py"), str(library / "index" / "CURRENT"), str(library / "documents" / "zero.md"),
    ]  # fmt: skip
    with signed_in(address, "anna", "secret one") as client:
        for trick in tricks:
            for path in (f"gradio_api/file={trick}", f"gradio_api/file/{trick}", f"static/{trick}", f"assets/{trick}"):
                response = client.get(path)
                assert response.status_code >= 400, path
                assert b"root:" not in response.content, path
                assert b"secret" not in response.content, path


@pytest.mark.slow
def test_other_sites_ask_in_vain(address: str) -> None:
    with signed_in(address, "anna", "secret one") as client:
        body = {"data": [None], "event_data": SEND, "fn_index": question_event(client), "session_hash": "s"}
        for headers in (
            ELSEWHERE,
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ):
            assert client.post("gradio_api/queue/join", json=body, headers=headers).status_code == 403, headers
            assert client.get("config", headers=headers).status_code == 403, headers
        link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert client.get("/", headers=link).status_code == 200
        assert client.get("/", headers={"Host": "evil.invalid"}).status_code == 400


@pytest.mark.slow
def test_size_of_requests(address: str) -> None:
    with signed_in(address, "anna", "secret one") as client:
        assert client.post("gradio_api/queue/join", content=b"x" * 1_000_001).status_code == 413
        assert client.post("gradio_api/queue/join", content=iter([b"{", b"}"])).status_code == 411
        assert client.post("gradio_api/upload", files={"files": ("a.bin", b"x" * 1_300_000)}).status_code == 413


@pytest.mark.slow
def test_nobody_without_a_password_and_one_user_not_for_another(address: str) -> None:
    with httpx.Client(base_url=address, trust_env=False) as stranger:
        assert stranger.get("config").status_code == 401
        assert stranger.post("gradio_api/queue/join", json={"data": []}).status_code == 401
        assert "ZeRO" not in stranger.get("/").text
    with signed_in(address, "anna", "secret one") as anna, signed_in(address, "ben", "secret two") as ben:
        event, session = question_event(anna), uuid4().hex
        statuses = []
        for _ in range(61):
            body = {"data": [None], "event_data": SEND, "fn_index": event, "session_hash": session}
            response = anna.post("gradio_api/queue/join", json=body, headers={"Accept-Language": "en"})
            statuses.append(response.status_code)
            if response.status_code == 200:
                read_all(anna, session)
        assert statuses == [200] * 60 + [429]
        assert re.search(r"try again in \d+ s", response.json()["detail"])
        body = {"data": [None], "event_data": SEND, "fn_index": event, "session_hash": uuid4().hex}
        assert ben.post("gradio_api/queue/join", json=body).status_code == 200


def read_all(client: httpx.Client, session: str) -> None:
    with client.stream("GET", "gradio_api/queue/data", params={"session_hash": session}) as stream:
        assert any("process_completed" in line for line in stream.iter_lines())


@pytest.mark.slow
def test_wrong_passwords_run_out(address: str) -> None:
    """Last: from this address nobody signs in any more."""
    with httpx.Client(base_url=address, trust_env=False) as client:
        statuses = [
            client.post("login", data={"username": "anna", "password": f"guess {n}"}).status_code for n in range(11)
        ]
        assert statuses == [400] * 10 + [429]
        assert client.post("login", data={"username": "anna", "password": "secret one"}).status_code == 429
