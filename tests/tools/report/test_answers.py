"""Results of answers into READMEs: answerers side by side, each with its own targets."""

import json
from pathlib import Path
from typing import Any

import pytest

from tools.report.answers import BEGIN, END, main

PAGE = f"# Title\n\n{BEGIN}\nold\n{END}\n\nThe end.\n"


def result(llm: str, *, model: str | None = None, recall: float = 0.92, met: bool = True) -> dict[str, Any]:
    return {
        "llm": llm,
        "model": model,
        "dataset": "gold",
        "split": "test",
        "questions": {"asked": 1_316},
        "measures": {
            "citation_recall": {"value": recall, "low": recall - 0.02, "high": recall + 0.03, "of": 204},
            "answer_characters": {"value": 734.4, "low": 703, "high": 764, "of": 204},
        },
        "seconds": {
            "first_evidence": {"p50": {"value": 0.071}, "p95": {"value": 0.13}},
            "first_text": {"p50": {}, "p95": {}},
            "end": {"p50": {"value": 31.0}, "p95": {"value": 52.25}},
        },
        "gates": {"citation_recall": {"at_least": 0.9, "met": met}, "end_p50": {"at_most": 45, "met": True}},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    write(tmp_path / "results" / "b.json", result("local", model="qwen", recall=0.7, met=False))
    write(tmp_path / "results" / "a.json", result("extractive"))
    for name in ("README.md", "README.zh.md"):
        (tmp_path / name).write_text(PAGE, encoding="utf-8")
    return tmp_path


def write(file: Path, value: object) -> None:
    file.write_text(json.dumps(value), encoding="utf-8")


def report(folder: Path, *pages: str) -> int:
    return main([str(folder / "results"), "--readme", *(str(folder / page) for page in pages)])


def test_the_table(folder: Path) -> None:
    assert report(folder, "README.md", "README.zh.md") == 0
    page = (folder / "README.md").read_text(encoding="utf-8")
    lines = page.splitlines()
    assert lines[:3] == ["# Title", "", BEGIN]
    assert lines[-3:] == [END, "", "The end."]
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[3:-3])
    assert head == ["answers", "extractive, gold (test)", "local (qwen), gold (test)"]
    assert rows == [
        ["gold evidence covered by citations", ".920 [.900, .950] ✓", ".700 [.680, .730] ✗"],
        ["characters of an answer", "734 [703, 764]", "734 [703, 764]"],
        ["seconds to the evidence, median (95%)", "0.07 (0.13)", "0.07 (0.13)"],
        ["seconds to the first text, median (95%)", "–", "–"],
        ["seconds to the end, median (95%)", "31.00 (52.25) ✓", "31.00 (52.25) ✓"],
        ["questions", "1,316", "1,316"],
    ]
    assert "| 引用覆盖的标准证据 | .920" in (folder / "README.zh.md").read_text(encoding="utf-8")
    assert report(folder, "README.md") == 0
    assert (folder / "README.md").read_text(encoding="utf-8") == page


def test_missing_markers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "README.md").write_text("nothing", encoding="utf-8")
    assert report(folder, "README.zh.md", "README.md") == 2
    assert BEGIN in capsys.readouterr().err
    assert (folder / "README.zh.md").read_text(encoding="utf-8") == PAGE


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "it has no llm, model"),
        ("[]", "is not a result of answers"),
        ("oops", "is not a result of answers"),
        (json.dumps(result("extractive")), "several results of extractive, gold (test)"),
    ],
)
def test_what_is_no_result(content: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "results" / "c.json").write_text(content, encoding="utf-8")
    assert report(folder, "README.md") == 2
    assert message in capsys.readouterr().err


def test_an_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results").mkdir()
    assert report(tmp_path, "README.md") == 2
    assert "python -m rag eval answers" in capsys.readouterr().err
