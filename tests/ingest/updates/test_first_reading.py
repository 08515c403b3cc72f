"""A first reading: a few documents at once, first those that are asked about, and to its end whatever happens."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest.updates.auto_update import AutoUpdate
from ingest.updates.first_reading import AT_ONCE, FirstReading, spread
from ingest.workers import File
from rag.answer.assistant import Assistant
from rag.settings import ChatModelName, Settings
from rag.ui.chat import exchange as chat
from rag.ui.session.session import Session
from tests.conftest import HashEmbedder
from tests.ingest.library import Library

COUNT = 5 * AT_ONCE
LAST = COUNT - 1
SECONDS = 60.0


@pytest.fixture
def files(tmp_path: Path) -> list[File]:
    names = [f"{number:02}.md" for number in range(COUNT)]
    for number, name in enumerate(names):
        (tmp_path / name).write_text(f"---\nasked_as: [step{number}]\n---\n# 第 {number} 步\n", encoding="utf-8")
    return [File(0, name, tmp_path / name) for name in names]


def wait_for(reading: FirstReading, question: str) -> threading.Thread:
    """A thread that waits for ever where no event ends it."""
    waiting = threading.Thread(target=reading.wait_for, args=(question, threading.TIMEOUT_MAX), daemon=True)
    waiting.start()
    return waiting


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def names(files: Iterator[File] | list[File]) -> list[str]:
    return [file.relative for file in files]


def test_at_most_so_many_from_all_over(files: list[File]) -> None:
    assert names(list(spread(files, 4))) == ["00.md", "10.md", "20.md", "30.md"]
    assert spread(files, 1_000) == files
    assert list(spread([], 4)) == []


def test_what_is_asked_about_is_read_next(files: list[File]) -> None:
    reading = FirstReading()
    waiting = wait_for(reading, f"step{LAST} 怎么做")
    until(lambda: reading.is_awaited)  # before anything is known of the documents
    first = reading.choose(files, [])
    assert f"{LAST}.md" not in names(list(first))
    until(lambda: reading._wanted)
    left = [file for file in files if file not in first]
    chosen = reading.choose(left, list(first))
    assert names(list(chosen)) == [f"{LAST}.md"]
    left = [file for file in left if file not in chosen]
    assert waiting.is_alive()  # it is being read
    reading.choose(left, [file for file in files if file not in left])
    waiting.join(SECONDS)
    assert not waiting.is_alive()
    assert reading.is_unfinished


def test_a_run_ends_for_what_is_asked_about_and_the_next_takes_up_its_documents(files: list[File]) -> None:
    reading = FirstReading()
    cut_short = reading.choose(files, [])
    assert not reading.ends_early()
    wait_for(reading, f"step{LAST} 怎么做")
    until(lambda: reading._wanted)
    assert reading.ends_early()
    wanted = reading.choose(files, [])
    assert names(list(wanted)) == [f"{LAST}.md"]
    for number in range(LAST - AT_ONCE, LAST):
        wait_for(reading, f"step{number} 怎么做")
    until(lambda: len(reading._wanted) > AT_ONCE)
    assert not reading.ends_early()  # or runs for many questions would cut each other short
    left = [file for file in files if file not in wanted]
    asked = reading.choose(left, list(wanted))
    assert names(list(asked)) == [f"{number:02}.md" for number in range(LAST - AT_ONCE, LAST)]
    assert reading.choose([file for file in left if file not in asked], [*wanted, *asked]) == cut_short


def test_an_interrupted_run_publishes_what_it_has_read(library: Library) -> None:
    for number in range(COUNT):
        library.write(f"{number:02}.md", f"# step{number} 是什么？\n\nstep{number} 写下编号 {number}。\n")
    asked: list[None] = []

    def is_interrupted() -> bool:
        asked.append(None)
        return len(asked) > AT_ONCE

    report = library.sync(choose=lambda new, known: new, is_interrupted=is_interrupted)
    assert report.documents.added == AT_ONCE
    assert len(library.names()) == AT_ONCE
    library.write("00.md", "# 改了\n")
    report = library.sync(is_interrupted=lambda: True)
    assert (report.documents.added, report.documents.changed) == (0, 1)
    assert library.sync().documents.added == len(list(library.root.iterdir())) - AT_ONCE


@pytest.mark.parametrize("question", ["step0 怎么做", "那呢？", "今天下雨吗"])
def test_what_is_read_or_nowhere_said_is_not_waited_for(files: list[File], question: str) -> None:
    reading = FirstReading()
    reading.choose(files[1:], files[:1])
    waiting = wait_for(reading, question)
    waiting.join(SECONDS)
    assert not waiting.is_alive()


def test_nobody_waits_for_a_reading_that_ended_or_for_ever(files: list[File]) -> None:
    reading = FirstReading()
    reading.choose(files, [])
    began = time.monotonic()
    reading.wait_for(f"step{LAST}", 0.2)  # although nothing was read meanwhile
    assert time.monotonic() - began >= 0.2
    waiting = wait_for(reading, f"step{LAST}")
    until(lambda: reading.is_awaited)
    reading.end()
    for thread in (waiting, wait_for(reading, f"step{LAST}")):
        thread.join(SECONDS)
        assert not thread.is_alive()


@pytest.fixture
def begun(library: Library) -> Library:
    """An index of the first of many documents."""
    for number in range(COUNT):
        library.write(f"{number:02}.md", f"# step{number} 是什么？\n\nstep{number} 写下编号 {number}。\n")
    library.sync(choose=lambda new, known: spread(new, AT_ONCE))
    return library


def test_all_is_read_in_the_end_and_counted(begun: Library, hash_embedder: HashEmbedder) -> None:
    new = len(list(begun.root.iterdir())) - AT_ONCE
    begun.write("bad.md", "\0")
    done: list[bool] = []
    auto_update = AutoUpdate(begun.settings, hash_embedder)
    auto_update.run_once(then=lambda: done.append(True))
    assert auto_update.reading is not None
    seen = set()
    end = time.monotonic() + SECONDS
    while auto_update.status().is_changing:
        assert time.monotonic() < end
        seen.add((auto_update.status().done, auto_update.status().total))
        time.sleep(0.01)
    last = auto_update.status().last
    assert last is not None
    counts = last.documents
    assert (counts.added, counts.unchanged, len(counts.failed)) == (new, AT_ONCE, 1)
    assert done == [True]
    assert auto_update.reading is None
    assert len(begun.names()) == new + AT_ONCE
    assert len(seen) > 2  # one sees how far it is
    assert all(done <= total <= new + 1 for done, total in seen)


def test_a_question_waits_for_what_it_asks_about(begun: Library, hash_embedder: HashEmbedder) -> None:
    settings = Settings(index=begun.settings.index, llm=ChatModelName.EXTRACTIVE)
    assistant = Assistant(settings, hash_embedder)
    reading = FirstReading()
    reading.choose([File(0, f"{LAST}.md", begun.root / f"{LAST}.md")], [])
    session = Session()
    steps = chat.answer_after(assistant, session, f"step{LAST} 是什么？", None, early=True, reading=reading)
    next(steps)
    assert session.exchanges[0].state == "awaiting"
    begun.sync()
    reading.end()
    for _ in steps:
        pass
    answer = session.exchanges[0].answer
    assert answer is not None
    assert answer.citations[0].document == f"{LAST}.md"
