"""Watching folders: changes are picked up within seconds, errors do not end it, readers see what is new."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest

from ingest.progress import Bars
from ingest.report import Report
from ingest.sync import sync
from ingest.updates.watch_folder import DEBOUNCE, QUIET, TICK, watch
from rag.answer.assistant import Assistant
from rag.embedding import Embedder
from rag.errors import RagError
from rag.settings import ChatModelName, Settings
from tests.conftest import HashEmbedder
from tests.paths import ROOT as HOUSE

PAGE = "# {0} 是什么？\n\n{0} 的第 {1} 版说明写在这里，用来测试更新。\n"
SECONDS = 60.0


class Watched:
    """A watch over `docs` in a thread, and what it told."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.docs = self.root = folder / "docs"
        self.docs.mkdir()
        self.settings = Settings(index=folder / "index", llm=ChatModelName.EXTRACTIVE)
        self.embedder = embedder
        self.reports: Queue[Report] = Queue()
        self.errors: Queue[RagError] = Queue()

    def write(self, name: str, version: int = 1) -> None:
        (self.docs / f"{name}.md").write_text(PAGE.format(name, version), encoding="utf-8")

    def told(self) -> dict[str, Any]:
        report = self.reports.get(timeout=SECONDS).as_dict()["documents"]
        return {name: count for name, count in report.items() if count}

    def told_of(self, name: str) -> int:
        """The count of the next report that has it."""
        while name not in (told := self.told()):
            pass
        return int(told[name])

    @contextmanager
    def watching(self, **more: Any) -> Iterator[None]:
        stop = threading.Event()

        def run() -> None:
            watch(
                self.settings, lambda: self.embedder, [self.root], identity=self.embedder.identity, progress=Bars,
                on_report=self.reports.put, on_error=self.errors.put, stop=stop, retry_seconds=0.3, **more,
            )  # fmt: skip

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(SECONDS)
            assert not thread.is_alive()


@pytest.fixture
def watched(tmp_path: Path, hash_embedder: HashEmbedder) -> Watched:
    watched = Watched(tmp_path, hash_embedder)
    watched.write("早停")
    return watched


def test_a_change_is_waited_for_some_seconds() -> None:
    """All that it waits by itself, after a change and before it looks again."""
    assert DEBOUNCE + QUIET + TICK < 10_000


@pytest.mark.parametrize("poll", [False, True])
def test_a_reader_gets_what_is_new_without_a_failed_request(
    watched: Watched, poll: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.updates.watch_folder.QUIET", 1_500)  # what is saved here is one burst on any machine
    failures: list[Exception] = []
    done = threading.Event()
    with watched.watching(poll=poll):
        assert watched.told() == {"added": 1}
        assistant = Assistant(watched.settings, watched.embedder)

        def ask() -> None:
            while not done.is_set():
                try:
                    assistant.ask("早停是什么？")
                except Exception as error:
                    failures.append(error)

        reader = threading.Thread(target=ask)
        reader.start()
        for version in range(2, 5):  # saved again and again within a moment: one run
            watched.write("早停", version)
            watched.write("预热", version)
        assert watched.told() == {"added": 1, "changed": 1}
        done.set()
        reader.join()  # whose question may be the one that opens the new generation
        answer = assistant.ask("预热是什么？")
        assert "第 4 版" in answer.text
        assert watched.reports.empty()
    assert not failures
    assert watched.errors.empty()


def test_errors_do_not_end_it(watched: Watched) -> None:
    with watched.watching():
        assert watched.told() == {"added": 1}
        (watched.docs / "bad.md").write_bytes(b"\x00")
        assert set(watched.told()) == {"unchanged", "failed"}
        moved = watched.docs.rename(watched.docs.with_name("elsewhere"))
        assert "is missing" in watched.errors.get(timeout=SECONDS).message
        with pytest.raises(Empty):  # tried again and again, told once
            watched.errors.get(timeout=1)
        moved.rename(watched.docs)
        (watched.docs / "bad.md").unlink()
        watched.write("预热")
        assert watched.told_of("added") == 1
        watched.write("早停", 2)
        assert watched.told_of("changed") == 1


def test_a_change_right_after_a_missing_folder_came_back_is_seen(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the folder is watched again."""
    elsewhere = watched.docs.with_name("elsewhere")

    def sync_of_what_returns(*parts: Any, **options: Any) -> Report:
        if returns := elsewhere.exists() and not watched.errors.empty():
            elsewhere.rename(watched.docs)
        report = sync(*parts, **options)
        if returns:
            watched.write("早停", 2)
        return report

    monkeypatch.setattr("ingest.updates.watch_folder.sync", sync_of_what_returns)
    with watched.watching():
        assert watched.told() == {"added": 1}
        watched.docs.rename(elsewhere)
        assert watched.told_of("changed") == 1


def test_a_root_that_is_a_file_and_is_replaced(watched: Watched) -> None:
    """As editors save: a new file is renamed over the old one, which is what was watched."""
    watched.root = watched.docs / "早停.md"
    with watched.watching():
        assert watched.told() == {"added": 1}
        for version in (2, 3):
            watched.write("预热", version)
            (watched.docs / "预热.md").replace(watched.root)
            assert watched.told() == {"changed": 1}


def test_what_is_not_foreseen_does_not_end_it_either(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched.watching():
        watched.told()
        with monkeypatch.context() as patch:

            def broken(*_: object, **__: object) -> None:
                raise ZeroDivisionError("broken")

            patch.setattr("ingest.updates.watch_folder.sync", broken)
            watched.write("预热")
            assert "broken" in watched.errors.get(timeout=SECONDS).message
        assert watched.told()["added"] == 1


COMMAND = """
import sys
import ingest.__main__, rag.embedding
from tests.conftest import HashEmbedder
from tests.paths import ROOT as HOUSE
rag.embedding.load_embedder = lambda settings: HashEmbedder()
rag.embedding.embedder_identity = lambda settings: HashEmbedder.identity
sys.exit(ingest.__main__.main())
"""


def test_the_command(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text(PAGE.format("早停", 1), encoding="utf-8")
    command = [sys.executable, "-c", COMMAND, "docs", "--watch", "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(HOUSE)}, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
    ) as process:  # fmt: skip
        assert process.stdout is not None
        read: Callable[[], str] = process.stdout.readline
        assert '"added": 1' in read()
        (docs / "b.md").write_text(PAGE.format("预热", 1), encoding="utf-8")
        assert '"added": 1' in read()
        (docs / "a.md").write_text(PAGE.format("早停", 2), encoding="utf-8")
        assert '"changed": 1' in read()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert (process.wait(SECONDS), rest) == (130, "")
