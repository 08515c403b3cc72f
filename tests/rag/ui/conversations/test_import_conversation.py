"""A conversation from a file: what was exported comes back as a new one, and a hostile file does nothing."""

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from rag.answer.assistant import MAX_QUESTION_CHARACTERS, Assistant
from rag.errors import UsageError, UserDataError
from rag.index.part import page_of
from rag.settings import Settings
from rag.types import Refusal, RefusalReason, Step, StepKind
from rag.ui.chat import exchange as chat
from rag.ui.chat.actions import ChatAction, ChatActionName, act, download
from rag.ui.chat.components import ChatComponents
from rag.ui.chat.handlers import ChatHandlers
from rag.ui.chat.messages import messages, panel
from rag.ui.conversations.export import as_json
from rag.ui.conversations.import_conversation import (
    MOST_BYTES,
    MOST_CITATIONS,
    PackedFile,
    read_conversation,
    read_packed,
)
from rag.ui.conversations.keeper import Keeper
from rag.ui.session.session import Session, State
from rag.ui.texts import TEXTS, Language
from tests.conftest import HashEmbedder
from tests.rag.ui.rooms import named

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
PARTS = named(ChatComponents)
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
ZH, EN = TEXTS[Language.ZH], TEXTS[Language.EN]
HOSTILE = '<img src=x onerror="window.ran = 1"><script>window.ran = 1</script> [a](javascript:window.ran=1) \ue000'


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    keeper = Keeper(tmp_path / "user")
    yield keeper
    keeper.close()


def export(assistant: Assistant, keeper: Keeper) -> str:
    """A follow-up, a refusal, and a question that was edited; with a tag."""
    session = Session(user="ann")
    for question, parent in ((QUESTION, None), ("通信量呢？", 1), ("今天天气怎么样？", 2), ("RoPE 为什么能外推？", 1)):
        assert list(chat.answer_after(assistant, session, question, parent, keeper))
    act(session, ChatAction(ChatActionName.TAG, session.conversation or 0, note="面试"), keeper)
    file = download(session, ChatAction(ChatActionName.JSON, session.conversation or 0), keeper, NOW)
    assert file is not None
    return file.text


@pytest.fixture(scope="module")
def file(library: Settings, hash_embedder: HashEmbedder, tmp_path_factory: pytest.TempPathFactory) -> str:
    with closing(Keeper(tmp_path_factory.mktemp("elsewhere"))) as keeper:
        return export(Assistant(library, hash_embedder), keeper)


@pytest.fixture
def exported(file: str) -> dict[str, Any]:
    return dict(json.loads(file))


def added(file: object, assistant: Assistant, keeper: Keeper, user: str = "bob") -> Session:
    session = Session(user=user)
    keeper.import_conversation(
        session, read_conversation(json.dumps(file).encode(), partial(page_of, assistant.index), ZH)
    )
    return session


def shown(session: Session) -> str:
    return "\n".join(message["content"] for message in messages(session))


def test_what_was_exported_comes_back(assistant: Assistant, keeper: Keeper) -> None:
    exported = json.loads(export(assistant, keeper))
    session = added(exported, assistant, keeper)
    assert [(item.title, item.tag) for item in keeper.list(session)] == [(QUESTION, "面试")]
    assert [item.title for item in keeper.list(Session(user="ann"))] == [QUESTION]  # that one stays as it was
    assert [exchange.question for exchange in session.exchanges] == [QUESTION, "RoPE 为什么能外推？"]
    assert {exchange.number: exchange.parent for exchange in session.all_exchanges.values()} == {
        1: None,
        2: 1,
        3: 2,
        4: 1,
    }
    again = download(session, ChatAction(ChatActionName.JSON, session.conversation or 0), keeper, NOW)
    assert again is not None

    def without_ids(file: Any) -> list[dict[str, Any]]:
        return [{name: row[name] for name in row if name not in ("id", "parent")} for row in file["exchanges"]]

    assert without_ids(json.loads(again.text)) == without_ids(exported)
    assert shown(session).count(ZH.imported) == 2
    session.show(1)
    assert "<mark" in panel(session)
    assert ZH.sources_changed not in panel(session)
    assert ZH.sources_gone not in panel(session)
    assert list(chat.answer(assistant, session, "通信量呢？", keeper))  # it goes on
    assert session.exchanges[-1].parent == 4
    assert not session.exchanges[-1].is_imported


def test_the_longest_question_comes_back(assistant: Assistant, keeper: Keeper) -> None:
    """As it is, in names that the material lacks, in a follow-up, and in the steps of an agent."""
    plain = f"{QUESTION * 400}"[:MAX_QUESTION_CHARACTERS]
    names = " ".join(f"Qwz{number}" for number in range(1_000))[:MAX_QUESTION_CHARACTERS]
    session = Session(user="ann")
    for question in (plain, "那为什么通信量也变了？", names):
        assert list(chat.answer(assistant, session, question, keeper))
    first = session.all_exchanges[1]
    assert first.answer is not None
    steps = tuple(Step(kind, plain, plain, failed=True) for kind in StepKind)
    refusal = Refusal(RefusalReason.MISSING_TERMS, (plain,), (plain,), (plain,))
    long = replace(first.answer, search_queries=(plain, f"{plain} {plain}"), steps=steps, refusal=refusal)
    with_steps = session.begin(plain, parent=3)
    with_steps.state, with_steps.answer = State.DONE, long
    assert len(plain) == len(names) == MAX_QUESTION_CHARACTERS
    file = as_json(1, "", list(session.all_exchanges.values()), NOW)
    assert (
        as_json(1, "", read_conversation(file.encode(), partial(page_of, assistant.index), ZH).exchanges, NOW) == file
    )


def test_what_leaves_the_page_says_that_it_came_from_a_file(
    exported: dict[str, Any], assistant: Assistant, keeper: Keeper
) -> None:
    session = added(exported, assistant, keeper)
    assert list(chat.answer(assistant, session, QUESTION, keeper))

    def file_of(name: ChatActionName, rest: str = "") -> str:
        file = download(session, ChatAction(name, session.conversation or 0, rest), keeper, NOW)
        return file.text if file is not None else ""

    markdown = file_of(ChatActionName.MARKDOWN)
    assert markdown.count(f"*{ZH.imported}*") == 2
    assert ZH.imported not in markdown[markdown.rindex(f"## {ZH.asked}") :]
    for exchange in session.exchanges:
        act(session, ChatAction(ChatActionName.LIKE, exchange.number), keeper)
    opinions = [json.loads(line) for line in file_of(ChatActionName.FEEDBACK, "opinions-jsonl").splitlines()]
    assert [row["imported"] for row in opinions] == ["yes", "yes", "no"]
    assert len(file_of(ChatActionName.FEEDBACK, "sft-jsonl").splitlines()) == 1


def test_sources_that_are_gone_or_changed_are_marked(
    exported: dict[str, Any], assistant: Assistant, keeper: Keeper
) -> None:
    first = exported["exchanges"][0]
    quote = first["citations"][0]["quote"]
    first["citations"] = [
        {**first["citations"][0], "marker": 1, "document": "../../etc/passwd", "section": ["甲"]},
        {**first["citations"][0], "marker": 2, "quote": "改" * len(quote), "section": ["乙"]},
    ]
    session = added(exported, assistant, keeper)
    session.show(1)
    html = panel(session)
    assert html.index(ZH.sources_gone) < html.index("乙") < html.index(ZH.sources_changed)
    assert "root:" not in html
    assert "../../etc/passwd" in html


def hostile(value: Any) -> Any:
    """Every text of a file with HTML in it, but for those that are one of a few."""
    if isinstance(value, dict):
        closed = {"id", "parent", "state", "kind", "courtesy", "reason", "exported"}
        return {name: inner if name in closed else hostile(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [hostile(inner) for inner in value]
    return HOSTILE + value if isinstance(value, str) else value


def test_nothing_in_it_is_markup(exported: dict[str, Any], assistant: Assistant, keeper: Keeper) -> None:
    file = hostile(exported)
    for row in file["exchanges"]:
        for citation in row["citations"]:
            citation["end"] = citation["start"] + len(citation["quote"])
    session = added(file, assistant, keeper)
    session.turn_to(3)
    assert len(session.exchanges) == 3
    for number in session.all_exchanges:
        session.show(number)
        markdown, html = shown(session), panel(session) + ChatHandlers(assistant, PARTS).list(session)
        assert not re.search(r"<(img|script)|href=\"?javascript", markdown + html, re.IGNORECASE)
        assert "](javascript" not in markdown
        assert "\ue000" not in markdown


Change = Callable[[dict[str, Any]], object]
FIRST = "第 1 问"
WRONG: dict[str, tuple[Change, str]] = {
    "no exchanges": (lambda file: file.pop("exchanges"), ZH.import_no_conversation),
    "none of them": (lambda file: file["exchanges"].clear(), ZH.import_no_conversation),
    "no title": (lambda file: file.pop("title"), ZH.import_no_conversation),
    "a long title": (lambda file: file.update(title="长" * 20_001), ZH.import_no_conversation),
    "a tag of numbers": (lambda file: file.update(tag=3), ZH.import_no_conversation),
    "too many": (lambda file: file.update(exchanges=file["exchanges"] * 400), ZH.import_no_conversation),
    "no object": (lambda file: file.update(exchanges=["a"]), FIRST),
    "no question": (lambda file: file["exchanges"][0].pop("question"), "第 1 问缺少 question"),
    "an empty question": (lambda file: file["exchanges"][0].update(question=""), "第 1 问的 question "),
    "a long question": (lambda file: file["exchanges"][0].update(question="长" * 4_001), "第 1 问的 question "),
    "a number for a text": (lambda file: file["exchanges"][1].update(answer=3), "第 2 问的 answer "),
    "an unknown state": (lambda file: file["exchanges"][0].update(state="hacked"), "第 1 问的 state "),
    "an unknown kind": (lambda file: file["exchanges"][0].update(kind="hacked"), "第 1 问的 kind "),
    "a later parent": (lambda file: file["exchanges"][0].update(parent=file["exchanges"][1]["id"]), "的 parent "),
    "an id twice": (lambda file: file["exchanges"][1].update(id=file["exchanges"][0]["id"]), "第 2 问的 id "),
    "a negative start": (lambda file: file["exchanges"][0]["citations"][0].update(start=-4), "citations.0.start "),
    "a wrong end": (lambda file: file["exchanges"][0]["citations"][0].update(end=10**9), "第 1 问的 citations.0 "),
    "a marker twice": (lambda file: file["exchanges"][0].update(citations=2 * file["exchanges"][0]["citations"]), "1"),
    "a large marker": (lambda file: file["exchanges"][0]["citations"][0].update(marker=10**30), "citations.0.marker "),
    "a marker of text": (lambda file: file["exchanges"][0]["claims"][0].update(citations=["1"]), "claims.0.citat"),
    "time without end": (lambda file: file["exchanges"][0]["seconds"].update(total=float("inf")), FIRST),
    "half a character": (lambda file: file["exchanges"][0].update(question="\ud800"), ZH.import_no_json),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name: str, exported: dict[str, Any], assistant: Assistant, keeper: Keeper) -> None:
    change, told = WRONG[name]
    change(exported)
    with pytest.raises(UsageError) as error:
        added(exported, assistant, keeper)
    assert told in error.value.message
    assert not keeper.list(Session(user="bob"))


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 5_000 + b"1" + b"}" * 5_000, b"PK\x03\x04", b"\x00"]
)
def test_what_is_no_json(data: bytes, assistant: Assistant) -> None:
    with pytest.raises(UsageError) as error:
        read_conversation(data, partial(page_of, assistant.index), EN)
    assert error.value.message == EN.import_no_json


@pytest.mark.parametrize(
    "wrong",
    [
        {"claims": [{}] * 500},
        {"citations": [{}] * 500},
        {"steps": [{}] * 100},
        {"claims": [{"text": "", "citations": [""] * 100, "supported": True}] * 20},
        {"search_queries": [1] * 100},
        {"refusal": {"reason": "", "missing": [1] * 100, "suggestions": [1] * 100, "only": [1] * 100}},
    ],
)
def test_a_file_that_is_wrong_everywhere_costs_little(wrong: dict[str, Any], assistant: Assistant) -> None:
    """Every error that is kept costs a thousand times what it takes in the packed file."""
    row = {"id": "1", "parent": None, "state": "done", "question": "q", "answer": "", "llm": "", **wrong}
    data = json.dumps({"title": "", "exchanges": [row] * 1_000}).encode()
    with pytest.raises(UsageError) as error:
        read_conversation(data, partial(page_of, assistant.index), ZH)
    cause = error.value.__cause__
    assert isinstance(cause, ValidationError)
    assert cause.error_count() < 10
    assert error.value.message.startswith(FIRST)


def packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data)).decode()


def problem_of(sent: str, assistant: Assistant) -> str:
    with pytest.raises(UsageError) as error:
        read_packed(PackedFile.read({"rest": "a.json", "packed": sent}), partial(page_of, assistant.index), EN)
    before, after = EN.import_failed.format(name="a.json", problem="\0").split("\0")
    return error.value.message.removeprefix(before).removesuffix(after)


BROKEN = {
    "no base64": "no base64!",
    "no gzip": base64.b64encode(b"no gzip").decode(),
    "no ASCII": "中",
    "cut": packed(b"{}")[:-12],
    "as large as may be": packed(b" " * MOST_BYTES),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_transfer_that_broke_is_not_too_large(name: str, assistant: Assistant) -> None:
    assert problem_of(BROKEN[name], assistant) == EN.import_no_json


def test_too_much_is_not_unpacked(exported: dict[str, Any], assistant: Assistant) -> None:
    bomb = packed(b" " * (MOST_BYTES + 1))
    assert len(bomb) < 20_000
    for sent in (bomb, ""):
        assert problem_of(sent, assistant) == EN.import_large.format(most=MOST_BYTES // 10**6)
    citation = exported["exchanges"][0]["citations"][0]
    rows = [
        {**exported["exchanges"][0], "id": str(row), "citations": [{**citation, "marker": n} for n in range(1, 501)]}
        for row in range(MOST_CITATIONS // 500 + 1)
    ]
    with pytest.raises(UsageError, match="5,000"):
        read_conversation(json.dumps({"title": "", "exchanges": rows}).encode(), partial(page_of, assistant.index), EN)


def test_the_page_imports_it(exported: dict[str, Any], assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("gradio.Warning", lambda message, **_: told.append(message))
    handlers, session = ChatHandlers(assistant, PARTS), Session(user="")

    def import_conversation(data: object) -> None:
        handlers.import_conversation(session, SimpleNamespace(_data=data))  # type: ignore[arg-type]

    import_conversation({"rest": "a.json", "packed": packed(json.dumps(exported).encode())})
    first = session.conversation
    assert first
    assert told == []
    import_conversation({"rest": "a.json", "packed": packed(json.dumps(exported).encode())})
    assert session.conversation not in (None, first)  # another one
    wrong: tuple[object, ...] = (None, 3, [], {}, {"rest": ["<b>"], "packed": 3})
    for data in (*wrong, {"rest": "<b>.json", "packed": packed(b"{}")}):
        import_conversation(data)
    assert len(told) == 6
    assert "&lt;b&gt;.json" in told[-1]
    assert len(session.all_exchanges) == 4


@pytest.mark.parametrize("user", [None, ""])
def test_what_cannot_be_kept_is_told_by_name(
    user: str | None, exported: dict[str, Any], assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a page that has not greeted, and where nothing can be written."""

    def fails(*_: object) -> int:
        raise UserDataError("the disk is full")

    told: list[str] = []
    monkeypatch.setattr("gradio.Warning", lambda message, **_: told.append(message))
    monkeypatch.setattr("rag.ui.conversations.store.Conversations.add", fails)
    handlers, session = ChatHandlers(assistant, PARTS), Session(user=user)
    session.begin("问", parent=None)
    sent = {"rest": "<b>.json", "packed": packed(json.dumps(exported).encode())}
    handlers.import_conversation(session, SimpleNamespace(_data=sent))  # type: ignore[arg-type]
    (only,) = told
    assert only == escape(ZH.import_failed.format(name="<b>.json", problem=ZH.import_unkept))
    assert [exchange.question for exchange in session.exchanges] == ["问"]


def test_one_that_was_stopped_has_what_was_said(assistant: Assistant, keeper: Keeper) -> None:
    row = {"id": "1-1", "parent": None, "state": "writing", "question": "问", "answer": "说到一半", "llm": "", "new": 1}
    session = added({"title": " ", "exchanges": [row]}, assistant, keeper)
    assert session.exchanges[0].state is State.STOPPED
    assert session.exchanges[0].reply == "说到一半"
    assert [item.title for item in keeper.list(session)] == ["问"]
