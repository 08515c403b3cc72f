"""Our answers beside those of LangChain's plain chain, over a real index and a server that says what it is told."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag.answer.assistant import Assistant
from rag.errors import UsageError
from rag.evaluation.answers.asked import AskedRow
from rag.evaluation.datasets import Split
from rag.language.language import Language
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.answer.written.asked import QUESTION, SUPPORTED, UNSUPPORTED, connected
from tests.rag.chat_models.chat_server import ChatServer
from tools.bench import side_by_side
from tools.bench.answerers import DECLINE, PIECES, Reply, ours, plain_chain, sentences_of, sources
from tools.bench.side_by_side import choose, judged, main, markdown, measures

PAGES = {"t.md": "# T\n\n## A\n\n秩决定可训练参数的数量。\n\n## B\n\n合并之后没有额外开销。\n"}


def row(**changes: Any) -> AskedRow:
    given = {
        "id": "q", "split": "test", "style": "plain", "question": "秩有什么用？", "answerable": "yes",
        "open": [["t.md", "A"]], "belong": [], "needles": ["可训练 参数", "开销"],
    }  # fmt: skip
    return AskedRow.model_validate(given | changes)


def replied(text: str, *read: str) -> Reply:
    return Reply(text, sentences_of(text), read, declined=False)


def test_what_an_answer_says_is_judged() -> None:
    good = judged(row(), replied("**秩**决定可训练参数的数量。它由 OpenAI 在 2015 年提出。", PAGES["t.md"]), 1.0, PAGES)
    assert (good.opening, good.needles, good.supported) == (True, 0.5, 1)
    beside = judged(row(), replied("合并之后没有额外开销。", PAGES["t.md"]), 1.0, PAGES)
    assert (beside.opening, beside.needles, beside.supported) == (False, 0.5, 1)
    empty = judged(row(), replied(""), 1.0, PAGES)
    assert (empty.opening, empty.needles, empty.supported) == (False, 0.0, 0)
    found = measures([good, beside])
    assert found["opening"]["value"] == 0.5
    assert found["supported"]["value"] == pytest.approx(2 / 3, abs=1e-3)
    assert "precise" not in found


def test_questions_that_stand_alone_are_chosen() -> None:
    rows = [
        row(id="a"),
        row(id="talk", after="LoRA 是什么？"),
        row(id="dev", split="dev"),
        row(id="miss", style="near-miss", answerable="no", open=[], needles=[]),
        row(id="off", style="off-subject", answerable="no", open=[], needles=[]),
    ]
    assert [chosen.id for chosen in choose(rows, Split.TEST, 5, 5)] == ["a", "miss"]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer().running() as server:
        yield server


@pytest.fixture
def writing(server: ChatServer, library: Settings, hash_embedder: HashEmbedder) -> Assistant:
    return connected(server, library, hash_embedder)


def test_ours_and_the_chain_answer_in_one_form(writing: Assistant, server: ChatServer) -> None:
    server.reply = SUPPORTED
    mine = ours(writing)(QUESTION)
    assert not mine.declined
    assert mine.sentences[0] == SUPPORTED
    assert mine.precise == mine.pairs > 0
    theirs = plain_chain(writing)(QUESTION)
    assert theirs.sentences == (SUPPORTED,)
    assert len(theirs.sources) == PIECES
    assert not theirs.declined
    prompt = server.prompt
    assert QUESTION in prompt
    assert DECLINE[Language.ZH] in prompt
    server.reply = DECLINE[Language.ZH]
    assert plain_chain(writing)("Mamba 的状态有多大？").declined


def test_a_chain_needs_a_chat_model(assistant: Assistant) -> None:
    with pytest.raises(UsageError, match="no chat model writes here"):
        plain_chain(assistant)


def test_the_command_fills_the_readme(
    writing: Assistant,
    assistant: Assistant,
    server: ChatServer,
    tmp_path: Path,
    library: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.reply = SUPPORTED + UNSUPPORTED
    monkeypatch.setattr(Assistant, "open", lambda settings: assistant if settings.llm == "extractive" else writing)
    document = next(name for name in sources(assistant.index) if "lora" in name)
    asked, readme, out = tmp_path / "asked.jsonl", tmp_path / "README.md", tmp_path / "out.json"
    rows = [
        row(question=QUESTION, open=[[document, ""]]),
        row(id="n", question="GRPO 的优势函数？", style="near-miss", answerable="no", open=[], needles=[]),
    ]
    asked.write_text("".join(each.model_dump_json() + "\n" for each in rows), encoding="utf-8")
    readme.write_text(f"{side_by_side.BEGIN}\n{side_by_side.END}\n", encoding="utf-8")
    older = tmp_path / "older.json"
    reply = {"text": "不知道。", "sentences": [], "sources": [], "declined": True}
    replies = {"name": "older", "replies": {"q": reply}, "seconds": {"q": 1.0, "n": 1.0}}
    older.write_text(json.dumps(replies), encoding="utf-8")
    command = [str(asked), "--llm", "endpoint", "--index", str(library.index), "--out", str(out)]
    command += ["--questions", "1", "--near-misses", "1", "--readme", str(readme), "--beside", str(older)]
    assert main(command) == 2
    assert "has no reply to 1 questions: n" in capsys.readouterr().err
    older.write_text(json.dumps(replies | {"replies": {"q": reply, "n": reply}}), encoding="utf-8")
    assert main(command) == 0
    result = json.loads(out.read_text(encoding="utf-8"))
    table = markdown(result)
    assert capsys.readouterr().out == table
    assert table in readme.read_text(encoding="utf-8")
    assert result["measures"]["local"]["supported"]["value"] == 1.0
    assert result["measures"]["langchain"]["near_misses_answered"]["value"] == 1.0
    assert result["measures"]["quotes"]["near_misses_answered"]["value"] == 0.0
    assert result["measures"]["older"]["declined"]["value"] == 1.0
    assert "开头就是答案" in markdown(result, "zh")
