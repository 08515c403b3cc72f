"""Answers that a chat model writes, through langchain-openai from a real server on a loopback port."""

import re
import time
from dataclasses import fields, replace

import pytest

from rag.answer.answerability import CALIBRATIONS, AnswerabilityFeatures, Calibration
from rag.answer.assistant import Assistant
from rag.answer.choices import Choices
from rag.answer.running import Run
from rag.answer.trace import EvidenceFound, Finished, TextAdded
from rag.answer.written.checked_text import UNSUPPORTED_MARK, CheckedText
from rag.answer.written.writer import ALSO
from rag.chat_models.select import open_chat_model
from rag.index import Index
from rag.language.language import Language
from rag.settings import ChatModelName
from tests.conftest import HashEmbedder
from tests.rag.answer.quoted.test_selection import check
from tests.rag.answer.written.asked import QUESTION, SUPPORTED, UNSUPPORTED
from tests.rag.chat_models.chat_server import ChatServer


def test_supported_sentences_get_markers(chat: Assistant, server: ChatServer) -> None:
    server.reply = f"{SUPPORTED}合并之后推理没有额外开销。"
    answer = chat.ask(QUESTION)
    check(answer, chat.index)
    assert answer.llm == "endpoint"
    assert not answer.refused
    assert [claim.supported for claim in answer.claims] == [True, True]
    assert UNSUPPORTED_MARK not in answer.text
    assert answer.text.startswith(f"{SUPPORTED} [1]")
    assert {citation.document for citation in answer.citations} == {"lora.txt"}
    assert server.keys == ["Bearer sk-test"]


def test_quotes_take_the_place_of_what_nothing_supports(chat: Assistant, server: ChatServer) -> None:
    server.reply = SUPPORTED + UNSUPPORTED
    answer = chat.ask(QUESTION)
    check(answer, chat.index)
    assert [claim.supported for claim in answer.claims] == [True, True]
    assert UNSUPPORTED not in answer.text
    assert UNSUPPORTED_MARK not in answer.text


def test_unsupported_sentences_are_marked_where_they_are_wanted(chat: Assistant, server: ChatServer) -> None:
    server.reply = SUPPORTED + UNSUPPORTED
    answer = chat.choosing(Choices(only_supported=False)).ask(QUESTION)
    check(answer, chat.index)
    written, _, quoted = answer.text.partition(ALSO[Language.ZH])
    assert f"{UNSUPPORTED} {UNSUPPORTED_MARK}" in written
    # What else the material says follows; nothing that was cited is said again.
    assert [claim.supported for claim in answer.claims] == [True, False, True]
    assert "没有额外开销" in quoted
    assert UNSUPPORTED_MARK not in quoted


def test_where_all_is_supported_no_quotes_follow(chat: Assistant, server: ChatServer) -> None:
    server.reply = SUPPORTED
    assert ALSO[Language.ZH] not in chat.ask(QUESTION).text


def with_a_small_model(chat: Assistant) -> Assistant:
    opened = open_chat_model(chat.settings)
    assert opened is not None
    local = replace(opened, name=ChatModelName.LOCAL, is_small=True, evidence_tokens=600)
    return Assistant(chat.settings, chat.embedder, chat_model=local, index=chat.index)


def test_a_small_model_is_followed_by_quotes_and_never_declines(chat: Assistant, server: ChatServer) -> None:
    small = with_a_small_model(chat)
    server.reply = SUPPORTED
    answer = small.ask(QUESTION)
    check(answer, chat.index)
    assert ALSO[Language.ZH] in answer.text
    assert "NO_ANSWER" not in server.prompt
    for reply in ("NO_ANSWER", UNSUPPORTED):
        server.reply = reply
        answer = small.ask(QUESTION)
        assert answer.llm == "extractive"
        assert "低秩矩阵" in answer.text
        assert reply not in answer.text


def test_where_nothing_is_supported_a_doubtful_question_is_refused(
    chat: Assistant, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsure = Calibration(-0.5, AnswerabilityFeatures(*[0.0] * len(fields(AnswerabilityFeatures))))
    monkeypatch.setitem(CALIBRATIONS, chat.index.manifest.embedder_name, unsure)
    server.reply = UNSUPPORTED
    answer = chat.ask(QUESTION)
    assert answer.refusal is not None
    assert answer.refusal.reason == "no_supported_claim"
    assert (answer.claims, answer.citations) == ((), ())
    server.reply = SUPPORTED
    assert not chat.ask(QUESTION).refused


def test_a_doubtful_question_is_pointed_to_the_nearest_by_a_small_model(
    chat: Assistant, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which never declines, so it is not asked."""
    unsure = Calibration(-0.5, AnswerabilityFeatures(*[0.0] * len(fields(AnswerabilityFeatures))))
    monkeypatch.setitem(CALIBRATIONS, chat.index.manifest.embedder_name, unsure)
    server.reply = SUPPORTED
    answer = with_a_small_model(chat).ask(QUESTION)
    check(answer, chat.index)
    assert (answer.kind, answer.llm) == ("nearest", "extractive")
    assert answer.nearest
    assert not server.requests
    assert chat.ask(QUESTION).kind == "answer"


def test_a_sentence_that_is_left_out_brings_quotes_but_none_twice(chat: Assistant, server: ChatServer) -> None:
    server.reply = SUPPORTED + UNSUPPORTED
    answer = chat.ask(QUESTION)
    check(answer, chat.index)
    assert answer.left_out == 1
    assert ALSO[Language.ZH] in answer.text
    places = [(citation.document, citation.start) for citation in answer.citations]
    assert len(set(places)) == len(places) > 1


@pytest.mark.parametrize("reply", ["NO_ANSWER", "NO_ANSWER.", " NO_ANSWER\n", "`NO_ANSWER`", "NO_ANSWER\n因为没有。"])
@pytest.mark.parametrize("piece", [1, 100])
def test_the_model_may_say_that_there_is_no_answer(reply: str, piece: int, chat: Assistant, server: ChatServer) -> None:
    server.reply, server.piece = reply, piece
    events = list(chat.stream(QUESTION))
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.answer.refused
    assert "NO_ANSWER" not in last.answer.text


@pytest.mark.parametrize(
    "written",
    [
        f"{SUPPORTED}[7][8]",
        "LoRA【1】只训练两个低秩矩阵 [2]。",
        "LoRA 只训练[两个低秩矩阵](http://evil.example/?q=1)。",
        "LoRA 只训练两个低秩矩阵。![图](http://evil.example/a.png?secret=1)",
        "LoRA 只训练两个低秩矩阵。![图](//evil.example/a.png?b=1)",
        "LoRA 只训练两个低秩矩阵。<img src='http://evil.example/a.png'>",
        "LoRA 只训练两个低秩矩阵。<img\nsrc=http://evil.example/a.png>",
        "LoRA 只训练两个低秩矩阵。![图][x]\n\n[x]: //evil.example/a.png",
        "LoRA 只训练两个低秩矩阵。见 https://evil.example/a?b=c!d 。",
        "<b>LoRA</b> 只训练两个低秩矩阵。<!-- evil.example -->",
    ],
)
@pytest.mark.parametrize("piece", [1, 3, 1_000])
def test_markers_links_and_images_of_the_model_are_removed(
    written: str, piece: int, chat: Assistant, server: ChatServer
) -> None:
    server.reply, server.piece = written, piece
    answer = chat.ask(QUESTION)
    check(answer, chat.index)
    assert "evil" not in answer.text
    assert "](" not in answer.text
    assert "![" not in answer.text
    assert "<img" not in answer.text
    written, _, _ = answer.text.partition(ALSO[Language.ZH])
    assert re.findall(r"\[(\d+)\]", written) == ["1"]
    assert "低秩矩阵" in written


def test_signs_of_formulas_are_not_taken_for_tags_or_ends(chat: Assistant, server: ChatServer) -> None:
    server.reply = f"{SUPPORTED}\n若 a < b 且 c > d，则 a != d；复杂度是 O(1)。\n"
    answer = chat.choosing(Choices(only_supported=False)).ask(QUESTION)
    assert "若 a < b 且 c > d，则 a != d；" in answer.text
    assert "O(1)" in answer.text


def test_code_stays_whole(chat: Assistant, server: ChatServer) -> None:
    code = "```python\nx = a[0]  # 第一个!\nreturn x\n```"
    server.reply = f"{SUPPORTED}\n\n{code}\n\n{SUPPORTED}"
    answer = chat.choosing(Choices(only_supported=False)).ask(QUESTION)
    assert code in answer.text
    assert [claim.text for claim in answer.claims][:3] == [SUPPORTED, code, SUPPORTED]


def test_text_comes_sentence_by_sentence_as_it_is_written(chat: Assistant, server: ChatServer) -> None:
    server.reply = SUPPORTED * 3
    events = list(chat.stream(QUESTION))
    assert isinstance(events[0], EvidenceFound)
    texts = [event.text for event in events if isinstance(event, TextAdded)]
    last = events[-1]
    assert isinstance(last, Finished)
    assert len(texts) == 3
    assert "".join(texts).strip() == last.answer.text


@pytest.mark.parametrize("piece", [1, 2, 5, 1_000])
def test_how_the_text_is_cut_changes_nothing(piece: int, library_index: Index, hash_embedder: HashEmbedder) -> None:
    text = f"# 标题\n\n1. {SUPPORTED}\n2. {UNSUPPORTED} 然后 a.b 与 3.5。\n\n```\nx!\n```\n尾巴"
    passages = library_index.storage.passages(list(range(library_index.manifest.passages)))
    sources = {p.document: library_index.storage.source(p.document) or "" for p in passages}
    results = []
    for size in (piece, len(text)):
        writer = CheckedText(library_index, passages, sources, llm=ChatModelName.ENDPOINT)
        for start in range(0, len(text), size):
            list(writer.feed(text[start : start + size]))
        list(writer.finish())
        results.append((writer.written.text, writer.written.claims, writer.written.citations))
    assert results[0] == results[1]


def test_the_prompt_fences_the_material_and_the_follow_up_stands_alone(chat: Assistant, server: ChatServer) -> None:
    server.reply = SUPPORTED
    chat.ask(QUESTION)
    assert server.requests[-1]["stream"] is True
    before, _, rest = server.prompt.partition("\n<material>\n")
    quoted, _, after = rest.partition("\n</material>\n")
    assert "NO_ANSWER" in before
    assert "只训练两个低秩矩阵" in quoted
    assert after.strip() == f"Question: {QUESTION}\n请用中文回答。"


def test_braces_in_the_material_are_text(chat: Assistant, server: ChatServer) -> None:
    server.reply = "RoPE 旋转不改变向量长度。"
    assert not chat.ask("RoPE 旋转不改变向量长度吗 {}").refused
    assert "e^{i m" in server.prompt


def test_stopping_hangs_up_while_the_model_is_silent(chat: Assistant, server: ChatServer) -> None:
    server.reply, server.cut_after, server.pause = SUPPORTED, 4, 60.0
    run = Run(chat.stream(QUESTION))
    assert isinstance(next(iter(run)), EvidenceFound)
    while not server.requests:
        time.sleep(0.01)
    run.stop()
    assert run.join(30)  # of the 60 seconds that the model would be silent
    server.let_go.set()


def test_closing_the_stream_hangs_up(chat: Assistant, server: ChatServer) -> None:
    server.reply, server.endless = f"{SUPPORTED}\n", True
    events = chat.stream(QUESTION)
    assert isinstance(next(events), EvidenceFound)
    assert isinstance(next(events), TextAdded)
    events.close()  # type: ignore[attr-defined]
    assert server.gone.wait(30)
    server.endless = False
