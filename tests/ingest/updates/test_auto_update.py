"""The switch: on, off, what it tells, and that it ends nothing when something goes wrong."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.sync import sync
from ingest.updates.auto_update import AutoUpdate, AutoUpdateStatus
from rag.answer.assistant import Assistant
from rag.settings import ChatModelName, Settings
from tests.conftest import HashEmbedder

SECONDS = 20.0


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "早停.md").write_text("# 早停是什么？\n\n早停在验证集不再变好时停止训练。\n", encoding="utf-8")
    return docs


@pytest.fixture
def settings(tmp_path: Path, docs: Path, hash_embedder: HashEmbedder) -> Settings:
    settings = Settings(index=tmp_path / "index", llm=ChatModelName.EXTRACTIVE)
    sync(settings, lambda: hash_embedder, [docs], identity=hash_embedder.identity)
    return settings


def wait_for(auto_update: AutoUpdate, reached: Callable[[AutoUpdateStatus], object]) -> AutoUpdateStatus:
    end = time.monotonic() + SECONDS
    while not reached(status := auto_update.status()):
        assert time.monotonic() < end, status
        time.sleep(0.02)
    return status


def test_a_change_is_answered_from_while_it_is_on(docs: Path, settings: Settings, hash_embedder: HashEmbedder) -> None:
    assistant = Assistant(settings, hash_embedder)
    with AutoUpdate(settings, hash_embedder) as auto_update:
        assert auto_update.status() == AutoUpdateStatus()
        auto_update.start()
        auto_update.start()  # once is enough
        status = wait_for(auto_update, lambda status: status.last)
        assert status.on
        assert status.last is not None
        assert status.last.documents.added == status.last.documents.changed == 0
        (docs / "预热.md").write_text("# 预热是什么？\n\n预热让学习率从零升起。\n", encoding="utf-8")
        wait_for(auto_update, lambda status: status.last and status.last.documents.added == 1)
        assert "预热让学习率从零升起" in assistant.search("预热是什么？").hits[0].passage.text
    assert not auto_update.status().on


def test_off_means_off(docs: Path, settings: Settings, hash_embedder: HashEmbedder) -> None:
    auto_update = AutoUpdate(settings, hash_embedder)
    auto_update.start()
    wait_for(auto_update, lambda status: status.last)
    auto_update.stop()
    auto_update.stop()
    (docs / "预热.md").write_text("# 预热是什么？\n\n预热让学习率从零升起。\n", encoding="utf-8")
    time.sleep(3)
    assert len(Assistant(settings, hash_embedder).index.storage.documents()) == 1
    auto_update.start()
    wait_for(auto_update, lambda status: status.last and status.last.documents.added == 1)
    auto_update.stop()


def test_what_is_in_the_way_is_told_until_it_goes(docs: Path, settings: Settings, hash_embedder: HashEmbedder) -> None:
    away = docs.rename(docs.with_name("away"))
    with AutoUpdate(settings, hash_embedder, retry_seconds=0.1) as auto_update:
        auto_update.start()
        status = wait_for(auto_update, lambda status: status.problem)
        assert "is missing" in str(status.problem)
        assert status.on
        away.rename(docs)
        assert wait_for(auto_update, lambda status: status.last).problem is None
        docs.rename(away)  # and again, while it is on
        wait_for(auto_update, lambda status: status.problem)
        away.rename(docs)
        wait_for(auto_update, lambda status: status.problem is None)
        docs.rename(away)
        wait_for(auto_update, lambda status: status.problem)
    assert auto_update.status() == AutoUpdateStatus()  # nobody is told of it any more


def test_a_document_that_cannot_be_read_is_counted(docs: Path, settings: Settings, hash_embedder: HashEmbedder) -> None:
    (docs / "bad.md").write_bytes(b"\x00")
    with AutoUpdate(settings, hash_embedder) as auto_update:
        auto_update.start()
        status = wait_for(auto_update, lambda status: status.last)
        assert status.last is not None
        assert (len(status.last.documents.failed), status.last.documents.files) == (1, 2)
        assert status.problem is None
        (docs / "bad.md").unlink()
        wait_for(auto_update, lambda status: status.last and not status.last.documents.failed)


def test_one_run_in_the_background(docs: Path, settings: Settings, hash_embedder: HashEmbedder) -> None:
    (docs / "预热.md").write_text("# 预热是什么？\n\n预热让学习率从零升起。\n", encoding="utf-8")
    done: list[bool] = []
    auto_update = AutoUpdate(settings, hash_embedder)
    before = time.monotonic()
    auto_update.run_once(then=lambda: done.append(True))
    assert before <= auto_update.status().began <= time.monotonic()
    status = wait_for(auto_update, lambda status: not status.is_changing)
    assert done == [True]
    assert not status.on
    assert status.last is not None
    assert status.last.documents.added == 1
    (docs / "早停.md").unlink()
    (docs / "预热.md").unlink()
    auto_update.run_once(then=lambda: done.append(False))
    status = wait_for(auto_update, lambda status: not status.is_changing)
    assert "suddenly empty" in str(status.problem)
    assert done == [True]
