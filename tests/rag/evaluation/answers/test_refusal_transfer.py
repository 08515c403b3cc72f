"""Refusals on materials that the decision was not fitted to: what is asked of which, and what is counted."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ingest import anchors
from ingest.sync import sync
from rag.evaluation.answers import refusal_transfer
from rag.evaluation.answers.refusal_transfer import Verdict, figures, half_of, main
from rag.evaluation.datasets import load_dataset
from rag.evaluation.retrieval import indexing
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.evaluation.made_up_set import write_beir

SUBJECTS = {
    "tea": ("茶树生长在云南的山坡上", "最嫩的茶叶在春天采摘"),
    "bell": ("青铜钟在祭祀时敲响", "最大的编钟有六十五件"),
    "whale": ("鲸鱼在海面上呼吸", "鲸鱼的幼崽靠吃奶长大"),
    "bridge": ("石拱桥跨过赵州的河", "桥面用二十八道拱券"),
}


def beir(folder: Path, names: Mapping[str, tuple[str, ...]]) -> Path:
    texts = {f"{name}-{place}": text for name, some in names.items() for place, text in enumerate(some)}
    return write_beir(
        folder,
        documents=texts,
        queries={f"q-{id}": f"{text}吗？" for id, text in texts.items()},
        qrels=[(f"q-{id}", id, 1) for id in texts],
    )


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    others = {f"x{number}": (f"第{number}号机床加工齿轮", f"第{number}号机床每天都要上油") for number in range(4)}
    return [beir(tmp_path / "first", SUBJECTS), beir(tmp_path / "second", others)]


def test_half_of_the_sources_and_the_other_half(folders: list[Path]) -> None:
    dataset = load_dataset(folders[0])
    one, other = (half_of(dataset, 100, other=flag) for flag in (False, True))
    assert one | other == {document.id for document in dataset.documents or ()}
    assert not {id.rpartition("-")[0] for id in one} & {id.rpartition("-")[0] for id in other}
    assert len(half_of(dataset, 1, other=False)) == 2


def test_figures() -> None:
    def verdict(kind: str, odds: float, *, known: bool = False) -> Verdict:
        return Verdict("q", kind, known, {"after": odds > 0}, {"after": odds})

    found = figures(
        [
            verdict("present", -2.0),
            verdict("present", 1.0),
            verdict("absent", 3.0),
            verdict("absent", -1.0, known=True),
            verdict("held out", 2.0, known=True),
        ],
        "after",
    )
    shares = {name: value["value"] for name, value in found.items() if name != "auc"}
    assert shares == {"false_refusals": 0.5, "absent": 0.5, "held_out": 1.0, "known_words": 0.5}
    # Of six pairs of a present and another question, 1 > -2, 3 > both, 2 > both and -1 > -2 are in order: five.
    assert found["auc"] == round(5 / 6, 4)


def test_the_command(
    folders: list[Path],
    tmp_path: Path,
    hash_embedder: HashEmbedder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ingest_folder(folder: Path, settings: Settings) -> None:
        sync(settings, lambda: hash_embedder, [folder], identity=hash_embedder.identity)

    for module in (indexing, refusal_transfer):
        monkeypatch.setattr(module, "ingest_folder", ingest_folder)
    monkeypatch.setattr(indexing, "embedder_identity", lambda settings: hash_embedder.identity)
    monkeypatch.setattr(refusal_transfer, "load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr(anchors, "FEWEST_PASSAGES", 2)
    out = tmp_path / "rows.jsonl"
    assert main([*map(str, folders), "--json", "--work", str(tmp_path / "work"), "--out", str(out)]) == 0
    results = json.loads(capsys.readouterr().out)
    assert list(results) == ["first", "second"]
    for result in results.values():
        assert result["anchors"]["passages"] == result["passages"] == 4
        # Nothing is known of this embedder before: no question holds a name, so none is refused.
        assert result["before"]["absent"]["value"] == 0.0
        assert result["before"]["auc"] is None
        assert result["after"]["absent"]["value"] > 0.5
        assert result["after"]["false_refusals"]["value"] == 0.0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert {row["kind"] for row in rows} == {"present", "absent", "held out"}


def test_one_material_is_too_few(folders: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folders[0])]) == 2
    assert "two datasets" in capsys.readouterr().err
