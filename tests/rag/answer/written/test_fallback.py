"""Whatever a chat model does wrong, the question is answered with quotes, and the reason is kept."""

import logging

import pytest

from rag.answer.assistant import Assistant
from rag.answer.choices import Choices
from rag.answer.trace import Finished, TextAdded, TextDiscarded
from rag.answer.written.prompts import GO_ON
from rag.errors import ChatModelProblem
from rag.settings import Settings
from rag.types import Answer, Role, Turn
from tests.conftest import HashEmbedder
from tests.rag.answer.quoted.test_selection import check
from tests.rag.answer.written.asked import QUESTION, SUPPORTED, UNSUPPORTED, connected
from tests.rag.chat_models.chat_server import ChatServer


def test_where_nothing_is_supported_quotes_answer(
    chat: Assistant, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply = UNSUPPORTED
    answer = falls_back(chat, caplog, ChatModelProblem.UNSUPPORTED, "nothing that the chat model wrote")
    assert "2015" not in answer.text


def falls_back(
    chat: Assistant, caplog: pytest.LogCaptureFixture, problem: ChatModelProblem, reason: str = ""
) -> Answer:
    caplog.set_level(logging.WARNING)
    answer = chat.ask(QUESTION)
    check(answer, chat.index)
    assert answer.llm == "extractive"
    assert answer.fallback == problem
    assert not answer.refused
    assert "低秩矩阵" in answer.text
    warnings = [record.getMessage() for record in caplog.records if record.name.startswith("rag")]
    assert len(warnings) == 1
    assert reason in warnings[0]
    assert "sk-test" not in caplog.text
    return answer


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (400, ChatModelProblem.BROKEN),
        (401, ChatModelProblem.UNAUTHORIZED),
        (403, ChatModelProblem.UNAUTHORIZED),
        (404, ChatModelProblem.UNKNOWN),
        (429, ChatModelProblem.BUSY),
        (500, ChatModelProblem.BROKEN),
    ],
)
def test_an_error_of_the_endpoint_falls_back_to_quotes(
    status: int, problem: ChatModelProblem, chat: Assistant, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.status = status
    falls_back(chat, caplog, problem, f"status {status}")


def test_no_connection_falls_back_to_quotes(
    library: Settings, hash_embedder: HashEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    with ChatServer().running() as server:
        pass
    falls_back(connected(server, library, hash_embedder), caplog, ChatModelProblem.UNREACHABLE, "did not answer")


@pytest.mark.parametrize(
    "raw",
    [
        b"data: {not json}\n\n",
        b'data: {"choices": null}\n\n',
        b'data: {"choices": [{"delta": {"content": 3}}]}\n\n',
        b'data: {"choices": [{}]}\n\n',
        b"data: [1, 2]\n\n",
        b'data: {"error": {"message": "overloaded"}}\n\n',
        b"data: \xff\xfe\n\n",
        b"<html>a proxy says hello</html>",
    ],
)
def test_a_malformed_stream_falls_back_to_quotes(
    raw: bytes, chat: Assistant, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.raw = raw
    falls_back(chat, caplog, ChatModelProblem.BROKEN)


def test_a_stream_cut_in_the_middle_falls_back_to_quotes(
    chat: Assistant, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply, server.cut_after = SUPPORTED + UNSUPPORTED, len(SUPPORTED) + 5
    answer = falls_back(chat, caplog, ChatModelProblem.BROKEN)
    assert answer.text == Assistant(chat.settings, chat.embedder).ask(QUESTION).text


def test_after_a_cut_what_was_streamed_is_discarded(chat: Assistant, server: ChatServer) -> None:
    server.reply, server.cut_after = SUPPORTED * 3, len(SUPPORTED) + 5
    events = list(chat.stream(QUESTION))
    last = events[-1]
    assert isinstance(last, Finished)
    after = events[events.index(TextDiscarded()) + 1 :]
    assert "".join(event.text for event in after if isinstance(event, TextAdded)).strip() == last.answer.text


@pytest.mark.parametrize("reply", ["", "  \n"])
def test_an_empty_reply_falls_back_to_quotes(
    reply: str, chat: Assistant, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply = reply
    falls_back(chat, caplog, ChatModelProblem.BROKEN, "is empty")


@pytest.mark.parametrize(
    ("reply", "piece"),
    [
        (f"{SUPPORTED}\n", 5),
        (f"{SUPPORTED}{UNSUPPORTED}合并之后推理没有额外开销。\n", 30),
        ("低秩矩阵，", 3),
        ("和", 1),
    ],
)
def test_a_model_that_loops_is_stopped_and_falls_back_to_quotes(
    reply: str, piece: int, chat: Assistant, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply, server.piece, server.endless = reply, piece, True
    falls_back(chat, caplog, ChatModelProblem.LOOPS, "repeats itself")
    assert server.gone.wait(30)


ENGLISH = "LoRA freezes the original weights and trains two small low-rank matrices only, so it saves memory. "


def test_a_reply_in_another_language_falls_back_to_quotes(
    chat: Assistant, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply = ENGLISH
    falls_back(chat, caplog, ChatModelProblem.LANGUAGE, "another language instead of Chinese")


def test_chinese_for_an_english_question_falls_back_to_quotes(
    chat: Assistant, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply = "梯度太小会在 FP16 里下溢，所以先把损失乘以一个大的系数，再在更新之前除回来。"
    answer = chat.ask("Why do small gradients underflow without loss scaling?")
    assert answer.llm == "extractive"
    assert "underflow" in answer.text
    assert "Chinese instead of English" in caplog.text


def test_terms_and_code_do_not_make_another_language(chat: Assistant, server: ChatServer) -> None:
    code = "```python\nweight = weight + scale * lora_b @ lora_a  # merged before inference\n```"
    server.reply = f"{SUPPORTED}\n\n{code}\n"
    assert chat.ask(QUESTION).llm == "endpoint"


def test_a_time_out_falls_back_to_quotes(
    server: ChatServer, library: Settings, hash_embedder: HashEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    server.wait = 60
    falls_back(
        connected(server, library, hash_embedder, endpoint_timeout=0.1), caplog, ChatModelProblem.TIMED_OUT, "timed out"
    )


def test_a_time_out_in_the_middle_falls_back_to_quotes(
    server: ChatServer, library: Settings, hash_embedder: HashEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply, server.cut_after, server.pause = SUPPORTED * 2, len(SUPPORTED) + 3, 60.0
    falls_back(
        connected(server, library, hash_embedder, endpoint_timeout=0.3), caplog, ChatModelProblem.TIMED_OUT, "timed out"
    )


def test_a_conversation_goes_on_after_every_failure(chat: Assistant, server: ChatServer) -> None:
    history: list[Turn] = []
    for status, reply in ((500, ""), (200, ""), (200, ENGLISH), (200, SUPPORTED)):
        server.status, server.reply = status, reply
        answer = chat.ask(QUESTION, history)
        assert not answer.refused
        history += [Turn(Role.USER, QUESTION), Turn(Role.ASSISTANT, answer.text)]
    assert answer.llm == "endpoint"


@pytest.mark.parametrize("told", [True, False])
def test_what_breaks_off_can_be_gone_on_with(told: bool, chat: Assistant, server: ChatServer) -> None:
    """It is kept without its last sentence; then the model is given it, and all of it is checked and cited anew."""
    server.reply, server.cut_after = SUPPORTED + "它还" + ("把" if told else ""), len(SUPPORTED) + 2 if told else None
    server.raw = b"data: [DONE]\n\n"  # an end that nobody told
    cut = chat.choosing(Choices(begun="")).ask(QUESTION)
    assert cut.fallback is ChatModelProblem.CUT
    assert cut.claims
    assert all(claim.supported for claim in cut.claims)
    assert "它还" not in cut.text
    server.reply, server.cut_after, server.raw = SUPPORTED, None, b""
    answer = chat.choosing(Choices(begun=cut.text)).ask(QUESTION)
    begun, wish = (message["content"] for message in server.requests[-1]["messages"][-2:])
    assert (begun, wish) == (SUPPORTED.strip(), GO_ON[True])
    assert answer.fallback is None
    assert [claim.text for claim in answer.claims][: 2 * len(cut.claims)] == [claim.text for claim in cut.claims] * 2
