"""The anchors of refusals: measured without labels at ingest, kept in the manifest, measured anew when much changed."""

import json
from pathlib import Path

import pytest

from ingest import anchors
from ingest.anchors import anchors_of, questions_from_elsewhere
from rag.answer.assistant import Assistant
from rag.embedding import Embedder
from rag.index import open_index
from rag.index.manifest import Anchor, Anchors, Manifest
from rag.language.language import has_chinese
from rag.types import AnswerKind
from tests.ingest.library import TOPICS, Library
from tests.rag.library import ingest, library_settings


def test_the_questions_are_many_and_each_is_one() -> None:
    chinese, other = (questions_from_elsewhere(chinese=flag) for flag in (True, False))
    assert len(chinese) + len(other) >= 500
    assert len({*chinese, *other}) == len(chinese) + len(other)
    assert min(len(chinese), len(other)) >= anchors.ASKED
    assert all(map(has_chinese, chinese))


def test_a_small_index_has_none(library: Library) -> None:
    library.page("lora")
    library.sync()
    with library.index() as index:
        assert index.manifest.anchors is None


def test_anchors_are_measured_once_and_again_when_much_changed(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchors, "FEWEST_PASSAGES", 5)
    monkeypatch.setattr(anchors, "ASKED", 30)
    for number in range(20):
        library.write(f"{number}.md", f"# 第 {number} 页\n\n{TOPICS['lora']}编号是 {number}。\n")
    library.sync()
    with library.index() as index:
        first = index.manifest.anchors
        total = index.manifest.passages
    assert first is not None
    assert (first.passages, first.changed) == (total, 0)
    assert (first.writes_chinese, first.writes_other) == (True, False)
    assert 0 < first.chinese.spread < 1
    assert not library.sync().published
    library.write("0.md", f"# 第 0 页\n\n{TOPICS['rope']}\n")
    library.sync()
    with library.index() as index:
        assert index.manifest.anchors == first.model_copy(update={"changed": 2})
    library.write("one_more.md", f"# 又一页\n\n{TOPICS['beam']}\n")
    library.sync()
    with library.index() as index:
        again = index.manifest.anchors
    assert again is not None
    assert (again.passages, again.changed) == (total + 1, 0)


def test_a_manifest_from_before_there_were_anchors(library: Library) -> None:
    library.page("lora")
    library.sync()
    with library.index() as index:
        manifest = index.manifest
    old = json.loads(manifest.model_dump_json())
    del old["anchors"]
    assert Manifest.model_validate(old) == manifest
    full = manifest.model_copy(
        update={"anchors": Anchors(chinese=Anchor(median=0.8, spread=0.05), other=Anchor(median=0.7, spread=0.05))}
    )
    assert Manifest.model_validate_json(full.model_dump_json()) == full


def test_an_older_generation_is_measured_when_it_next_changes(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.page("lora")
    library.page("beam")
    library.sync()
    with library.index() as index:
        monkeypatch.setattr(anchors, "FEWEST_PASSAGES", 1)
        monkeypatch.setattr(anchors, "ASKED", 30)
        assert anchors_of(index, None, 1, lambda: library.embedder) is not None


@pytest.mark.slow
def test_a_small_index_with_the_real_embedder(
    tmp_path: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One real run: what the pages say is answered, what they do not is refused."""
    monkeypatch.setattr(anchors, "FEWEST_PASSAGES", 5)
    monkeypatch.setattr(anchors, "ASKED", 30)
    ingest(tmp_path, embedder)
    assistant = Assistant(library_settings(tmp_path), embedder)
    measured = open_index(library_settings(tmp_path).index).manifest.anchors
    assert measured is not None
    assert measured.chinese.median > measured.other.median - 0.05
    assert assistant.ask("LoRA 的秩一般取多少？").kind is AnswerKind.ANSWER
    assert assistant.ask("蒙古的首都在哪里").kind is AnswerKind.REFUSAL
