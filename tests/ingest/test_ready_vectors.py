"""Pages that come with vectors: searched at once, their tokens made when a question needs them or meanwhile, and in the
end no other than pages that were embedded."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ingest import ready_vectors as module
from ingest.ready_vectors import FILE, ready_vectors
from ingest.updates.auto_update import AutoUpdate
from ingest.updates.first_reading import AT_ONCE, READY_AT_ONCE, FirstReading
from ingest.updates.token_filling import fill_tokens
from ingest.workers import File
from rag.answer.answerability import read_features
from rag.answer.assistant import Assistant
from rag.embedding import Embedder
from rag.index import open_index
from rag.index.generation import DiskIndex
from rag.index.late_tokens import MADE_AT_ONCE, LateTokens, with_late_tokens
from rag.index.manifest import FORMAT, UNFILLED
from rag.paths import PROGRAM
from rag.search.retrieval import search
from rag.settings import Settings
from tests.ingest.library import TOPICS, Library
from tools.ready_vectors import write_ready_vectors

IDENTITY = "hash@1"


@pytest.fixture
def ready(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """A library that is not read yet, with ready vectors of all its pages."""
    whole = Settings(index=tmp_path / "whole")
    library.sync(library.root, settings=whole)
    with_vectors(whole.index, tmp_path / "ready.safetensors")
    monkeypatch.setattr(module, "FILE", tmp_path / "ready.safetensors")
    ready_vectors.cache_clear()
    library.loads = 0
    yield library
    ready_vectors.cache_clear()


def with_vectors(index_folder: Path, file: Path) -> None:
    index = open_index(index_folder)
    documents = index.storage.documents(with_passages=True)
    vectors = index.vectors.all()
    keys = {p.embedding_key: vectors[p.number] for d in documents for p in d.passages if p.number is not None}
    passage_tokens = Settings().passage_tokens
    write_ready_vectors(keys, [d.sha256 for d in documents], index.manifest.embedder, passage_tokens, file)
    index.close()


def missing(library: Library) -> int:
    with library.index() as index:
        assert index.tokens is not None
        return len(index.tokens.missing)


def assert_equal(one: DiskIndex, other: DiskIndex) -> None:
    assert one.tokens is not None
    assert other.tokens is not None
    assert np.array_equal(one.vectors.all(), other.vectors.all())
    for name in ("starts", "codes", "scales", "lengths", "token_ids", "vocabulary", "frequencies", "missing"):
        assert np.array_equal(getattr(one.tokens, name), getattr(other.tokens, name)), name


def test_vectors_come_back_as_good_as_they_were(ready: Library, tmp_path: Path) -> None:
    vectors = ready_vectors(IDENTITY, Settings().passage_tokens)
    index = open_index(tmp_path / "whole")
    for document in index.storage.documents(with_passages=True):
        for passage in document.passages:
            assert passage.number is not None
            assert vectors[passage.embedding_key] @ index.vectors.all()[passage.number] > 0.999
    assert len(vectors) == 3
    assert vectors.hold(ready.root / "lora.md")
    assert not vectors.hold(ready.page("rope"))
    assert not vectors.hold(ready.root / "nothing.md")


@pytest.mark.parametrize("other", [("hash@2", Settings().passage_tokens), (IDENTITY, 200)])
def test_vectors_of_another_model_or_of_other_passages_are_none(ready: Library, other: tuple[str, int]) -> None:
    vectors = ready_vectors(*other)
    assert len(vectors) == 0
    assert not vectors.hold(ready.root / "lora.md")


def test_ready_pages_are_searched_before_their_tokens_are_made(ready: Library) -> None:
    ready.page("rope")  # no vector of this one is ready
    report = ready.sync(complete=False)
    assert report.passages_embedded == 1
    assert missing(ready) == 3
    assistant = Assistant(ready.settings, ready.embedder)
    tokens = assistant.index.tokens
    assert isinstance(tokens, LateTokens)
    assert "低秩矩阵" in assistant.search("LoRA 训练什么？").hits[0].passage.text
    assert len(tokens.made) == MADE_AT_ONCE
    whole = Settings(index=ready.folder / "whole")
    ready.sync(ready.root, settings=whole)
    found, expected = (a.search("LoRA 训练什么？").hits for a in (assistant, Assistant(whole, ready.embedder)))
    assert [hit.passage.document for hit in found] == [hit.passage.document for hit in expected]


def test_a_comparison_makes_a_few_tokens_and_estimates_the_rest(ready: Library) -> None:
    for number in range(20):
        topic = ["rope", "norm", "lora"][number % 3]
        ready.write(f"{number}.md", f"# 第 {number} 页\n\n{TOPICS[topic]}第 {number} 次。\n")
    ready.sync()
    with ready.index() as index:
        whole = index.tokens
        assert whole is not None
        everything = np.arange(len(whole))
        unmade = replace(whole, missing=everything)
        assert not unmade.comparable(everything).any()
        bare = replace(index, tokens=unmade)
        late = with_late_tokens(bare, ready.embedder).tokens
        assert isinstance(late, LateTokens)
        assert late.comparable(everything).all()
        [question] = ready.embedder.encode_queries(["LoRA 训练什么？"])
        expected, scores = whole.scores(question, everything), late.scores(question, everything)
        made, others = [*late.made], np.setdiff1d(everything, [*late.made])
        cosines = index.vectors.rows(everything.tolist()) @ question.vector
        assert len(made) == MADE_AT_ONCE
        assert cosines[made].min() >= cosines[others].max()
        assert np.allclose(scores[made], expected[made], atol=1e-3)
        gap = (expected[made] - cosines[made]).mean()
        assert np.allclose(scores[others], cosines[others] + gap, atol=1e-3)
        halves = [np.asarray([[True, False], [False, True]])] * len(everything)
        parts = late.part_scores(question, everything.tolist(), halves)
        assert [part.shape for part in parts] == [(2,)] * len(everything)
        assert len(late.made) == 2 * MADE_AT_ONCE
        part = made[0]
        assert np.allclose(parts[part], whole.part_scores(question, [part], halves[:1])[0], atol=1e-3)
        assert len(late.scores(question, everything[:0])) == 0


@pytest.mark.slow
def test_a_question_is_refused_by_the_same_measure(tmp_path: Path, embedder: Embedder) -> None:
    """What the best passages are compared with is estimated on the scale of what they are compared by."""
    library = Library(tmp_path, embedder)
    for number in range(30):
        library.write(f"{number}.md", f"# 第 {number} 页\n\n{TOPICS['norm']}这是第 {number} 次。\n")
    library.sync(identity=embedder.identity)
    with library.index() as index:
        assert index.tokens is not None
        bare = replace(index, tokens=replace(index.tokens, missing=np.arange(len(index.tokens))))
        whole, late = (
            read_features(some, search(some, embedder, "红烧肉怎么做才不腻"), ())
            for some in (index, with_late_tokens(bare, embedder))
        )
        assert whole is not None
        assert late is not None
        assert abs(whole.lead - late.lead) < 0.02
        assert len(search(with_late_tokens(bare, embedder), embedder, "层归一化", k=25).hits) == 25


def test_earlier_versions_do_not_take_an_index_without_tokens_for_a_whole_one(ready: Library) -> None:
    ready.sync(complete=False)
    with ready.index() as index:
        assert index.manifest.format == UNFILLED
    ready.sync()
    with ready.index() as index:
        assert index.manifest.format == FORMAT


def test_a_run_without_changes_leaves_tokens_missing_and_the_next_whole_one_makes_them(
    ready: Library, tmp_path: Path
) -> None:
    ready.sync(complete=False)
    assert not ready.sync(complete=False).published
    assert ready.sync().passages_embedded == 3
    assert not ready.sync().published
    with ready.index() as index:
        assert_equal(index, open_index(tmp_path / "whole"))


def test_tokens_are_filled_in_parts(ready: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.updates.token_filling.AT_ONCE", 2)
    monkeypatch.setattr("ingest.updates.token_filling.TOGETHER", 1)
    ready.sync(complete=False)
    left: list[int] = []

    def told(done: int, total: int) -> None:
        left.append(missing(ready))
        assert (done, total) == (len(left), 3)

    fill_tokens(ready.settings, ready.embedder, wait=0, is_wanted=lambda: True, tell=told)
    assert left == [3, 3, 1]
    with ready.index() as index:
        assert_equal(index, open_index(tmp_path / "whole"))


def test_filling_ends_when_it_is_not_wanted(ready: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.updates.token_filling.TOGETHER", 1)
    ready.sync(complete=False)
    wanted = iter([True, True, False])
    fill_tokens(ready.settings, ready.embedder, wait=0, is_wanted=lambda: next(wanted), tell=lambda done, total: None)
    assert missing(ready) == 3


def test_while_an_answer_is_written_nothing_else_is_read_or_filled(
    ready: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready.page("rope")
    ended: list[bool] = []
    ready.sync(choose=lambda new, known: [file for file in new if file.relative == "rope.md"])
    with AutoUpdate(ready.settings, ready.embedder) as updates:
        looks: list[float | None] = []
        wait = updates._rests.wait

        def look(timeout: float | None = None) -> bool:
            looks.append(timeout)
            return wait(timeout)

        monkeypatch.setattr(updates._rests, "wait", look)
        with updates.resting():
            for most in ("REST", "REST_OF_A_STEP"):
                monkeypatch.setattr(f"ingest.updates.auto_update.{most}", 3_600.0)
            updates.run_once(then=lambda: ended.append(True))
            wait_until(lambda: len(looks) > 3)  # it looks again and again whether the answer is written
            assert updates.status().is_unfinished
            with ready.index() as index:
                assert index.manifest.documents == 1  # nothing is published meanwhile
        wait_until(lambda: bool(ended))
        wait_until(lambda: not updates.status().is_changing)
    assert missing(ready) == 0


def wait_until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_page_that_changes_meanwhile_is_read_whole(ready: Library) -> None:
    ready.sync(complete=False)
    ready.write("lora.md", f"# LoRA 是什么？\n\n{TOPICS['beam']}\n")
    assert ready.sync(complete=False).passages_embedded == 1
    assert missing(ready) == 2


def test_a_first_reading_begins_with_ready_pages_unless_others_are_asked_about(tmp_path: Path) -> None:
    files = [File(0, f"{number:02}.md", tmp_path / f"{number:02}.md") for number in range(5 * AT_ONCE)]
    for file in files:
        file.path.write_text(f"# step{file.path.stem}\n", encoding="utf-8")
    reading = FirstReading(lambda path: path.stem < "20")
    reading.wait_for("step30 怎么做", 0.01)  # before anything is known of the documents
    first = reading.choose(files, [])
    assert [file.relative for file in first] == [f"{number:02}.md" for number in range(20)]
    reading.wait_for("step30 怎么做", 0.01)
    second = reading.choose(files[20:], files[:20])
    assert [file.relative for file in second] == ["30.md"]
    third = reading.choose([file for file in files[20:] if file not in second], [*first, *second])
    assert [file.relative for file in third] == [f"{number:02}.md" for number in range(20, 20 + AT_ONCE)]


def test_a_run_of_ready_pages_reads_as_many_as_are_there(tmp_path: Path) -> None:
    files = [File(0, f"{number:03}.md", tmp_path / f"{number:03}.md") for number in range(6 * READY_AT_ONCE)]
    reading = FirstReading(lambda path: True)
    read: list[int] = []
    while reading.is_unfinished:
        done = sum(read)
        read.append(len(reading.choose(files[done:], files[:done])))
    assert [count // READY_AT_ONCE for count in read] == [1, 1, 2, 2]


def test_without_token_vectors_ready_ones_serve_every_run(ready: Library) -> None:
    settings = Settings(index=ready.folder / "bare", late_interaction=False)
    assert ready.sync(ready.root, settings=settings).passages_embedded == 0


@pytest.mark.slow
def test_the_vectors_that_are_shipped_are_those_of_the_pages(embedder: Embedder, tmp_path: Path) -> None:
    pages = sorted((PROGRAM / "corpus").glob("*/*.md"))
    vectors = ready_vectors(embedder.identity, Settings().passage_tokens)
    held = [page for page in pages if vectors.hold(page)]
    assert len(held) > 0.8 * len(pages), "make them anew: python -m tools.ready_vectors"
    library = Library(tmp_path, embedder)
    for page in held[:: len(held) // 2][:2]:
        library.write(page.name, page.read_text(encoding="utf-8"))
    library.sync(identity=embedder.identity)
    with library.index() as index:
        rows = index.vectors.all()
        for document in index.storage.documents(with_passages=True):
            for passage in document.passages:
                assert passage.number is not None
                assert vectors[passage.embedding_key] @ rows[passage.number] > 0.998


def test_the_file_is_small() -> None:
    assert FILE.stat().st_size < 6_000_000
