"""python -m rag search | ask | models: contracts, exit codes, and what is loaded when."""

import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag.__main__ import main
from rag.embedding import Embedder
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.paths import ROOT
from tests.rag.library import DOCUMENTS, ingest

HISTORY = [["user", "LoRA 为什么能省显存？"], ["assistant", "因为低秩。"]]


def run(*arguments: str, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`python -m rag …` in a process of its own, in an empty folder unless told otherwise."""
    return subprocess.run(
        [sys.executable, "-m", "rag", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.fixture
def command(
    library: Settings, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    """Runs a command here, with the fast embedder. Gives the exit code and the JSON lines on stdout."""
    monkeypatch.setattr("rag.answer.assistant.load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr("rag.answer.assistant.embedder_identity", lambda settings: hash_embedder.identity)

    def call(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
        code = main([*arguments, "--json", "--index", str(library.index)])
        return code, [json.loads(line) for line in capsys.readouterr().out.split("\n")[:-1]]

    return call


def lines(*rows: object) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)


def test_search(command: Any) -> None:
    code, [found] = command("search", "LoRA 的秩怎么选？", "-k", "3")
    assert code == 0
    assert list(found) == ["id", "query", "results"]
    assert found["id"] is None
    assert len(found["results"]) == 3


def test_text_for_people(
    library: Settings, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rag.answer.assistant.load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr("rag.answer.assistant.embedder_identity", lambda settings: hash_embedder.identity)
    assert main(["search", "LoRA 的秩怎么选？", "-k", "1", "--index", str(library.index)]) == 0
    assert capsys.readouterr().out.startswith("1. lora.txt > ")
    assert main(["ask", "LoRA 的秩怎么选？", "--index", str(library.index)]) == 0
    assert "\n[1] lora.txt " in capsys.readouterr().out


def test_ask(command: Any) -> None:
    code, [answer] = command("ask", "LoRA 的秩怎么选？")
    assert code == 0
    assert list(answer)[:3] == ["id", "question", "search_queries"]
    assert "8 到 64" in answer["answer"]


def test_a_style_and_an_inspection(command: Any) -> None:
    code, [answer] = command("ask", "LoRA 的秩怎么选？", "--style", "short")
    assert (code, answer["refused"]) == (0, False)
    code, [inspection] = command("inspect", "LoRA 的秩怎么选？", "--llm", "extractive")
    assert code == 0
    assert inspection["candidates"][0]["document"] == "lora.txt"
    assert inspection["judgement"]["refused"] is False


def test_a_refusal_is_a_good_answer(command: Any) -> None:
    code, [answer] = command("ask", "GRPO 是什么？")
    assert code == 0
    assert answer["refused"] is True


def test_only_some_documents(command: Any) -> None:
    code, [found] = command("search", "LoRA 的秩怎么选？", "--only", "zero.md", "--only", "rope.md")
    assert code == 0
    assert {result["document"] for result in found["results"]} == {"zero.md", "rope.md"}
    code, [answer] = command("ask", "LoRA 的秩怎么选？", "--only", "lora.txt")
    assert code == 0
    assert {citation["document"] for citation in answer["citations"]} == {"lora.txt"}
    code, [error] = command("ask", "LoRA 的秩怎么选？", "--only", "gone/")
    assert code == 2
    assert "gone/" in error["error"]["message"]


def test_ask_with_a_history(command: Any, tmp_path: Path) -> None:
    file = tmp_path / "history.json"
    file.write_text(json.dumps(HISTORY), encoding="utf-8-sig")
    code, [answer] = command("ask", "那秩怎么选", "--history", str(file))
    assert code == 0
    assert answer["search_queries"] == ["LoRA 为什么能省显存 那秩怎么选"]


@pytest.mark.parametrize("content", ["{}", '[["system", "x"]]', '[["user"]]', "[[1, 2]]", "nonsense", None])
def test_a_bad_history_is_wrong_usage(content: str | None, command: Any, tmp_path: Path) -> None:
    file = tmp_path / "history.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    code, [error] = command("ask", "那秩怎么选", "--history", str(file))
    assert code == 2
    assert error["error"]["code"] == "usage"


BAD_ROWS = ["not json", "[1]", {"id": "no text"}, {"id": "e", "question": "", "text": ""}, "[" * 100_000]


def test_a_bad_row_gives_an_error_row_and_the_others_go_on(command: Any, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    good = {"question": "LoRA 的秩怎么选？", "text": "LoRA 的秩怎么选？"}
    history = {"id": "h", "question": "那秩怎么选", "text": "x", "history": HISTORY}
    file.write_text(lines({"id": 1, **good}, *BAD_ROWS, "", {"id": None, **good}, history), encoding="utf-8-sig")
    for kind, option in (("search", "--queries"), ("ask", "--questions")):
        code, rows = command(kind, option, str(file))
        assert code == 1
        assert [row["id"] for row in rows] == [1, None, None, "no text", "e", None, None, "h"]
        assert ["error" in row for row in rows] == [False, True, True, True, True, True, False, False]
        for row in rows[1:6]:
            assert row["error"]["code"] == "usage"
            assert row["error"]["message"]
            assert row["error"]["hint"]
    assert rows[-1]["search_queries"] == ["LoRA 为什么能省显存 那秩怎么选"]


def test_a_bad_history_is_an_error_of_its_row(command: Any, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(
        lines({"id": 1, "question": "LoRA", "history": "x"}, {"id": 2, "question": "LoRA"}), encoding="utf-8"
    )
    code, rows = command("ask", "--questions", str(file))
    assert code == 1
    assert ["error" in row for row in rows] == [True, False]


def test_separators_inside_a_row_do_not_end_it(command: Any, tmp_path: Path) -> None:
    """U+2028 and U+0085 stand in JSON strings as they are; `str.splitlines` would cut there."""
    file = tmp_path / "rows.jsonl"
    file.write_text(
        lines({"id": "a\u2028b\u0085c", "text": "LoRA\u2028秩"}).replace("\n", "\r\n"), encoding="utf-8", newline=""
    )
    code, [row] = command("search", "--queries", str(file))
    assert code == 0
    assert row["id"] == "a\u2028b\u0085c"


def test_an_empty_batch_prints_nothing(command: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("\n", encoding="utf-8")
    assert command("search", "--queries", str(tmp_path / "rows.jsonl")) == (0, [])


@pytest.mark.parametrize(
    "arguments",
    [
        ["search"],
        ["ask", "a", "--questions", "b"],
        ["search", "--queries", "/no/such/file"],
        ["search", "a", "-k", "0"],
        ["ask", "a", "--config", "/no/such/file"],
    ],
)
def test_wrong_usage(arguments: list[str], command: Any) -> None:
    code, [error] = command(*arguments)
    assert code == 2
    assert set(error["error"]) == {"code", "message", "hint"}


def test_a_batch_that_is_not_utf_8_is_wrong_usage(command: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes('{"text": "中文"}'.encode("gb18030"))
    code, [error] = command("search", "--queries", str(tmp_path / "rows.jsonl"))
    assert code == 2
    assert "UTF-8" in error["error"]["message"]


@pytest.mark.parametrize("arguments", [["ask", "a", "--llm", "gpt"], ["nonsense"], [], ["search", "a", "-k", "many"]])
def test_the_parser_refuses_what_it_does_not_know(arguments: list[str], tmp_path: Path) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "--help" in done.stderr


def test_a_missing_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["ask", "LoRA", "--json"]) == 1
    told = capsys.readouterr()
    error = json.loads(told.out)["error"]
    assert error["code"] == "index_missing"
    assert "python -m ingest" in error["hint"]
    assert told.err == ""
    assert main(["search", "LoRA"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "error: there is no index" in told.err
    assert "hint: " in told.err
    assert list(tmp_path.iterdir()) == []


def test_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INTERVIEW_RAG_MODELS")
    (tmp_path / "interview-rag.toml").write_text(f'models = "{tmp_path / "models"}"\n', encoding="utf-8")
    assert main(["models", "list", "--json"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert "multilingual-e5-small" in [model["name"] for model in json.loads(told.out)["models"]]
    assert main(["models", "verify", "--json"]) == 0
    assert main(["models", "fetch", "no-such-model", "--json"]) in (1, 2)


@pytest.mark.slow
def test_the_real_thing(tmp_path: Path, embedder: Embedder, model_settings: Settings) -> None:
    """Its own process, the real embedder, questions on stdin, escaped nothing."""
    ingest(tmp_path, embedder, {name: text for name, text in DOCUMENTS.items() if name != "scaling.md"})
    config = tmp_path / "settings.toml"
    config.write_text(f'index = "{tmp_path / "index"}"\nmodels = "{model_settings.models}"\n', encoding="utf-8")
    rows = lines(
        {"id": "甲", "question": "LoRA 的秩怎么选？"},
        "oops",
        {"id": "丙", "question": "GRPO 是什么？"},
    )
    done = run("ask", "--questions", "-", "--llm", "extractive", "--config", str(config), stdin=rows, cwd=tmp_path)
    assert done.returncode == 1
    first, error, refused = (json.loads(line) for line in done.stdout.splitlines())
    assert [first["id"], error["id"], refused["id"]] == ["甲", None, "丙"]
    assert "8 到 64" in first["answer"]
    assert refused["refused"] is True
    assert "甲" in done.stdout
    assert done.stderr == ""


HEAVY = {"torch", "faiss", "gradio", "langchain_core", "langchain_openai", "sentence_transformers", "numpy", "sqlite3"}
HELP = """
import sys
from rag.__main__ import main
from tests.paths import ROOT
try:
    main(["--help"])
except SystemExit:
    print(" ".join(sys.modules), file=sys.stderr)
"""


def test_help_loads_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", HELP], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert "usage: python -m rag" in done.stdout
    assert set(done.stderr.split()) & HEAVY == set()


def test_help_comes_at_once() -> None:
    """In processor time, as a multiple of what `import asyncio` takes at that hour: the machine is not always as fast.
    It takes three times as long."""
    help_takes, asyncio_takes = [], []
    for _ in range(5):
        asyncio_takes.append(seconds_of(lambda: subprocess.run([sys.executable, "-c", "import asyncio"], check=True)))
        help_takes.append(seconds_of(lambda: run("--help").check_returncode()))
    assert statistics.median(help_takes) < 5 * statistics.median(asyncio_takes)


def seconds_of(work: Callable[[], object]) -> float:
    """The processor time of the processes that some work starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
