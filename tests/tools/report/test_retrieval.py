"""Results into READMEs and a figure: the table, only between the markers, and the same bytes each time."""

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tools.report.retrieval import BEGIN, END, main

PAGE = f"# Title\n\n{BEGIN}\nold\n{END}\n\nThe end.\n"


def mean(value: float) -> dict[str, float]:
    return {"value": value, "low": round(value - 0.02, 6), "high": round(value + 0.01, 6)}


def result(dataset: str, values: dict[str, float], **more: Any) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "split": "all",
        "embedder": "e5@1",
        "queries": {"scored": 1_185},
        "systems": {name: {"ndcg@10": mean(value), "mrr@10": mean(value)} for name, value in values.items()},
        "differences": {
            name: {"ndcg@10": {"value": values["ours"] - value, "low": -0.01, "high": 0.05, "p": 0.2}}
            for name, value in values.items()
            if "ours" in values and name != "ours"
        },
        "recovered": {"measure": "ndcg@10", "against": "dense", "value": 0.25},
        **more,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    results = tmp_path / "results"
    results.mkdir()
    write(
        results / "b.json",
        result(
            "second", {"ours": 0.5, "dense": 0.52, "ours-without-tokens": 0.6, "ours-without-votes": 0.4}, split="test"
        ),
    )
    write(results / "a.json", result("first", {"ours": 0.9, "dense": 0.86, "rrf": 0.5194}))
    (tmp_path / "README.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "README.zh.md").write_text(PAGE.replace("Title", "题目"), encoding="utf-8")
    return tmp_path


def write(file: Path, value: object) -> None:
    file.write_text(json.dumps(value), encoding="utf-8")


def report(folder: Path, *more: str) -> int:
    figure = str(folder / "docs" / "retrieval.svg")
    return main([str(folder / "results"), "--figure", figure, *more])


def test_the_table(folder: Path) -> None:
    assert report(folder, "--readme", str(folder / "README.md"), str(folder / "README.zh.md")) == 0
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["# Title", "", BEGIN]
    assert lines[-3:] == [END, "", "The end."]
    head, rule, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[3:-3])
    assert head == ["system (nDCG@10)", "first", "second (test)", "mean"]
    assert set(rule) == {"---", "---:"}
    assert rows == [
        ["ours", "**.900**", ".500", ".700"],
        ["dense", ".860", "**.520**", ".690"],
        ["rrf", ".519", "–", "–"],
        ["ours − best baseline", "+.040 [-.010, +.050] (dense)", "-.020 [-.010, +.050] (dense)", ""],
        ["recovered", "25%", "25%", "25%"],
        ["queries", "1,185", "1,185", ""],
    ]
    chinese = (folder / "README.zh.md").read_text(encoding="utf-8").splitlines()
    assert chinese[0] == "# 题目"
    assert chinese[3].startswith("| 系统 (nDCG@10) | first |")
    assert chinese[4:8] == lines[4:8]


def test_variants_have_rows_where_they_are_asked_for(folder: Path) -> None:
    assert report(folder, "--variants", "--readme", str(folder / "README.md")) == 0
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert "| ours-without-tokens | – | **.600** | – |" in page
    assert "ours-without-votes" not in page, "a variant that the program no longer has"
    # A variant of ours may be best, but is no baseline.
    assert "| -.020 [-.010, +.050] (dense) |" in page


def test_the_figure(folder: Path) -> None:
    assert report(folder) == 0
    file = folder / "docs" / "retrieval.svg"
    before = file.read_bytes()
    texts = [element.text for element in ElementTree.fromstring(before).iter("{http://www.w3.org/2000/svg}text")]
    assert {"first", "second (test)", "ours", "dense", "rrf", "ours-without-tokens"} <= set(texts)
    assert report(folder) == 0
    assert file.read_bytes() == before
    assert (folder / "README.md").read_text(encoding="utf-8") == PAGE


def test_again_changes_nothing(folder: Path) -> None:
    page = folder / "README.md"
    assert report(folder, "--readme", str(page)) == 0
    before = page.read_bytes()
    assert report(folder, "--readme", str(page)) == 0
    assert page.read_bytes() == before


@pytest.mark.parametrize(
    "page", ["nothing", BEGIN, f"{END}\n{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}", f"{END}{BEGIN}{END}"]
)
def test_missing_markers(page: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "README.md").write_text(page, encoding="utf-8")
    assert report(folder, "--readme", str(folder / "README.zh.md"), str(folder / "README.md")) == 2
    shown = capsys.readouterr().err
    assert "README.md does not have the markers" in shown
    assert BEGIN in shown
    # Nothing is written where not all can be.
    assert "old" in (folder / "README.zh.md").read_text(encoding="utf-8")
    assert not (folder / "docs").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "is not a retrieval result"),
        ("oops", "is not a retrieval result"),
        (json.dumps(result("x", {}, systems={"ours": {"mrr@10": mean(0.5)}})), "has a system without ndcg@10"),
        (json.dumps(result("first", {"ours": 0.5})), "several results of first"),
    ],
)
def test_what_is_no_result(content: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "results" / "c.json").write_text(content, encoding="utf-8")
    assert report(folder, "--readme", str(folder / "README.md")) == 2
    assert message in capsys.readouterr().err


def test_an_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results").mkdir()
    assert report(tmp_path) == 2
    assert "python -m rag eval retrieval" in capsys.readouterr().err


def test_two_embedders_are_told_apart(folder: Path) -> None:
    write(folder / "results" / "c.json", result("first", {"ours": 0.95, "dense": 0.9}, embedder="gemma@2"))
    assert report(folder, "--readme", str(folder / "README.md")) == 0
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert "| first, e5 | second (test), e5 | first, gemma |" in page


def test_a_result_without_ours_or_baselines(folder: Path) -> None:
    write(folder / "results" / "a.json", result("first", {"dense": 0.9}, differences={}, recovered=None))
    write(folder / "results" / "b.json", result("second", {"ours": 1.0}, differences={}, recovered=None))
    assert report(folder, "--readme", str(folder / "README.md")) == 0
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert "| dense | **.900** | – | – |" in page
    assert "| ours | – | **1.000** | – |" in page
    assert "| recovered | – | – | – |" in page


def test_without_matplotlib(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert report(folder) == 2
    assert 'pip install "interview-rag[evaluation]"' in capsys.readouterr().err
