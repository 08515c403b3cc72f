"""Quality, without a browser: results that are shown, runs that are started, kept and stopped."""

import json
import re
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from markupsafe import escape

from ingest.sync import sync
from rag.answer.assistant import Assistant
from rag.errors import ModelError
from rag.evaluation.retrieval.systems import OURS, is_baseline
from rag.index import open_index
from rag.settings import Settings, load_settings
from rag.ui.quality.results import own, shipped
from rag.ui.quality.runner import (
    FILE,
    EvaluationKind,
    Measured,
    Progress,
    Runner,
    as_environment,
    prefixed,
    read_measured,
    write_measured,
)
from rag.ui.texts import QUALITY_TEXTS, Language
from tests.conftest import HashEmbedder
from tests.paths import ROOT
from tests.rag.library import DOCUMENTS, ingest, library_settings

REAL_PYTHON = sys.executable


@pytest.mark.parametrize("language", Language)
def test_the_results_of_the_repository_are_shown(language: Language) -> None:
    texts = QUALITY_TEXTS[language]
    html = shipped(ROOT / "docs" / "results", texts, language)
    assert "problem" not in html
    recorded = json.loads((ROOT / "docs/results/retrieval/gold.json").read_text(encoding="utf-8"))
    assert f"{recorded['systems']['ours']['ndcg@10']['value']:.3f}" in html
    assert html.count('class="dots"') >= 7
    assert 'class="target"' in html
    for file in (ROOT / "docs/results/retrieval").glob("*.json"):
        result = json.loads(file.read_text(encoding="utf-8"))
        assert f'<h4 title="{file.stem} (test)">{escape(getattr(texts, f"set_{file.stem}"))}' in html
        shown = {name for name in result["systems"] if is_baseline(name) or name == OURS}
        assert all(hasattr(texts, f"system_{name}") for name in shown)
    assert 'title="rrf"' in html
    assert f'<td title="rrf">{texts.system_rrf}</td>' in html
    seen = re.sub(r"<[^>]*>", " ", html)
    assert not re.search(r"\b(rrf|ours|extractive)\b|hans2hant", seen)
    sets = [file.stem for file in (ROOT / "docs/results/retrieval").glob("*.json")]
    assert min(sets, key=lambda name: html.index(f'title="{name} ')) == "gold"
    assert texts.ndcg in html


def test_no_results_and_broken_ones(tmp_path: Path) -> None:
    texts = QUALITY_TEXTS[Language.EN]
    assert "There are no results" in shipped(tmp_path, texts, Language.EN)
    (tmp_path / "retrieval").mkdir()
    (tmp_path / "retrieval" / "a.json").write_text("{", encoding="utf-8")
    assert "cannot be read" in shipped(tmp_path, texts, Language.EN)


GOLD = [
    {"id": "a", "question": "ZeRO-2 和 ZeRO-3 差在哪？", "split": "dev",
     "evidence": [{"document": "zero.md", "quote": "ZeRO-3 还切分模型参数"}]},
    {"id": "b", "question": "今天星期几？", "split": "test", "evidence": []},
]  # fmt: skip


def write_gold(folder: Path) -> Path:
    file = folder / "gold.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in GOLD), encoding="utf-8")
    return file


def test_gold_rows_name_documents_as_the_index_does(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    ingest(tmp_path, hash_embedder, {"zero.md": DOCUMENTS["zero.md"]})
    settings, gold = library_settings(tmp_path), write_gold(tmp_path)
    index = open_index(settings.index)
    assert prefixed(index, gold) is None
    index.close()
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "zero.md").write_text("# 别的\n\n别的内容。\n", encoding="utf-8")
    settings = settings.model_copy(update={"index": tmp_path / "both"})
    roots = [tmp_path / "documents", tmp_path / "more"]
    sync(settings, lambda: hash_embedder, roots, identity=hash_embedder.identity)
    index = open_index(settings.index)
    assert '"document": "documents/zero.md"' in (prefixed(index, gold) or "")
    index.close()


def test_the_child_measures_what_the_page_answers_from(tmp_path: Path) -> None:
    settings = Settings(index=tmp_path / "index", top_k=7)
    environment = as_environment(settings)
    read = load_settings(environment=environment)
    assert (read.index, read.top_k, read.embedder) == ((tmp_path / "index").resolve(), 7, settings.embedder)
    assert not any("KEY" in name for name in environment)


def test_a_run_that_fails_says_why_and_one_can_be_stopped(
    library: Settings, assistant: Assistant, tmp_path: Path
) -> None:
    runner = Runner(library, write_gold(tmp_path))  # its embedder is none that a child could load
    assert runner.start(assistant.index, EvaluationKind.RETRIEVAL, 1)
    assert not runner.start(assistant.index, EvaluationKind.RETRIEVAL, 1)
    assert runner.progress().total == 4  # systems, of a question each: counted before anything is loaded
    ended = finished(runner)
    assert isinstance(ended.problem, ModelError)  # as the child says it, and not its exit code
    assert "'hash'" in ended.problem.message
    assert not ended.has_result
    assert runner.measured() == {}
    assert runner.start(assistant.index, EvaluationKind.ANSWERS, 1)
    runner.stop()
    ended = finished(runner)
    assert ended.stopped
    assert ended.problem is None
    assert not Runner(library, None).start(assistant.index, EvaluationKind.ANSWERS, 1)


def test_a_gold_file_that_is_wrong_is_told_and_the_next_run_starts(
    library: Settings, assistant: Assistant, tmp_path: Path
) -> None:
    gone = b'{"id": "a", "question": "q", "split": "dev", "evidence": [{"document": "gone.md", "quote": "x"}]}'
    wrong: list[tuple[bytes | None, str]] = [
        (None, "cannot be read"), (b"\xff\xfe", "cannot be read"), (b"{", "gold.jsonl line 1"),
        (b"[]\n", "gold.jsonl line 1"), (gone, "gone.md"),
    ]  # fmt: skip
    file = tmp_path / "gold.jsonl"
    runner = Runner(library, file)
    for gold, told in wrong:
        if gold is not None:
            file.write_bytes(gold)
        assert runner.start(assistant.index, EvaluationKind.ANSWERS, 1), gold
        ended = finished(runner)
        assert told in str(ended.problem), gold
        assert not ended.under_way, gold


def test_what_nobody_foresaw_does_not_end_measuring(
    library: Settings, assistant: Assistant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(library, write_gold(tmp_path))
    for command in ("print('no JSON', flush=True); import time; time.sleep(60)", "import os; os._exit(7)"):
        monkeypatch.setattr(sys, "executable", str(script(tmp_path, command)))
        assert runner.start(assistant.index, EvaluationKind.ANSWERS, 1)
        assert finished(runner).problem is not None


def script(folder: Path, code: str) -> Path:
    """Something to run in place of Python."""
    file = folder / "python"
    file.write_text(f"#!{REAL_PYTHON}\n{code}\n", encoding="utf-8")
    file.chmod(0o700)
    return file


def finished(runner: Runner) -> Progress:
    deadline = time.monotonic() + 100
    while runner.progress().under_way:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return runner.progress()


def test_results_of_a_run_are_kept_and_shown_with_their_date(tmp_path: Path) -> None:
    texts = QUALITY_TEXTS[Language.EN]
    settings = Settings(data=tmp_path / "user")
    assert own(Runner(settings, None).measured(), texts, Language.EN) == ""
    measured = {}
    for day, (kind, file) in enumerate(
        ((EvaluationKind.RETRIEVAL, "retrieval/gold.json"), (EvaluationKind.ANSWERS, "answers/extractive.json")),
        start=1,
    ):
        result = json.loads((ROOT / "docs/results" / file).read_text(encoding="utf-8"))
        measured[kind] = Measured(datetime(2026, 1, day, 10, 23).astimezone(), result)
    write_measured(settings.data, measured)
    assert [file.name for file in settings.data.iterdir()] == [FILE]
    after_restart = Runner(settings, None)
    assert after_restart.measured() == measured
    html = own(after_restart.measured(), texts, Language.EN)
    scored = measured[EvaluationKind.RETRIEVAL].result["queries"]["scored"]
    assert f"Measured here: retrieval ({scored} questions, 2026-01-01 10:23)" in html
    assert html.index("2026-01-02 10:23") < html.index("2026-01-01 10:23")
    assert html.count('class="dots"') == 3


@pytest.mark.parametrize("kept", ["{", "[]", '{"retrieval": {}}', '{"other": {"at": "2026-01-01", "result": {}}}'])
def test_kept_results_that_cannot_be_read_are_none(tmp_path: Path, kept: str) -> None:
    (tmp_path / FILE).write_text(kept, encoding="utf-8")
    assert read_measured(tmp_path) == {}
    strange = {EvaluationKind.ANSWERS: Measured(datetime.now(UTC), {"questions": {"asked": 1}})}
    assert "cannot be read" in own(strange, QUALITY_TEXTS[Language.EN], Language.EN)
