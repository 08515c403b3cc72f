"""Chat completions as OpenAI's own client, LangChain's and plain HTTP see them."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

from rag.answer.assistant import Assistant
from rag.settings import Settings
from rag.types import Claim
from tests.conftest import HashEmbedder
from tests.rag.chat_models.chat_server import ChatServer
from tests.rag.server.http.serving import Served, serving

QUESTION = "LoRA 的秩怎么选？"
REFUSED = "GRPO 的 KL 系数取多少？"


@pytest.fixture
def gpt(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.address}/v1", api_key="none", max_retries=0) as client:
        yield client


def ask(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "interview-rag", "messages": [{"role": "user", "content": text}], **more}


def check_annotations(content: str, annotations: list[Any], client: httpx.Client) -> None:
    assert annotations
    for annotation in annotations:
        cited = annotation["url_citation"]
        assert annotation["type"] == "url_citation"
        assert f"[{cited['marker']}]" in content[cited["start_index"] : cited["end_index"]]
        assert client.get(cited["url"]).content.decode() == cited["quote"]


def test_an_answer(gpt: openai.OpenAI, client: httpx.Client, served: Served) -> None:
    completion = gpt.chat.completions.create(**ask(QUESTION))
    message = completion.choices[0].message
    answer = served.service.assistant.ask(QUESTION)
    assert message.content == answer.text
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens > 20
    assert completion.system_fingerprint == "generation-000001"
    annotations = completion.model_dump()["choices"][0]["message"]["annotations"]
    check_annotations(message.content, annotations, client)
    cited = [(a["url_citation"]["start"], a["url_citation"]["end"]) for a in annotations]
    assert cited == [(citation.start, citation.end) for citation in answer.citations]
    for annotation, claim in zip(annotations, answer.claims, strict=True):
        place = annotation["url_citation"]
        assert message.content[place["start_index"] : place["end_index"]].startswith(claim.text)


def test_a_stream(gpt: openai.OpenAI, client: httpx.Client, served: Served) -> None:
    chunks = list(gpt.chat.completions.create(**ask(QUESTION), stream=True, stream_options={"include_usage": True}))
    content = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert content == served.service.assistant.ask(QUESTION).text
    assert len(chunks) > 4
    last, usage = chunks[-2].model_dump(), chunks[-1]
    assert last["choices"][0]["finish_reason"] == "stop"
    check_annotations(content, last["choices"][0]["delta"]["annotations"], client)
    assert last["interview_rag"]["kind"] == "answer"
    assert usage.choices == []
    assert usage.usage is not None
    assert usage.usage.completion_tokens > 0
    assert {chunk.id for chunk in chunks} == {chunks[0].id}
    assert [chunk.choices[0].delta.role for chunk in chunks[:2]] == ["assistant", None]


def test_only_some_documents(gpt: openai.OpenAI, client: httpx.Client, served: Served) -> None:
    def cited(completion: Any) -> set[str]:
        part = completion.model_dump()["choices"][0]
        found = (part.get("message") or part["delta"])["annotations"]
        return {annotation["url_citation"]["document"] for annotation in found}

    only: dict[str, Any] = {"extra_body": {"only": ["lora.txt"]}}
    assert cited(gpt.chat.completions.create(**ask(QUESTION), **only)) == {"lora.txt"}
    assert cited(list(gpt.chat.completions.create(**ask(QUESTION), **only, stream=True))[-1]) == {"lora.txt"}
    named = ask(QUESTION) | {"model": "interview-rag-extractive"}
    assert cited(gpt.chat.completions.create(**named, **only)) == {"lora.txt"}
    other: dict[str, Any] = {"extra_body": {"only": ["zero.md"]}}
    refused = gpt.chat.completions.create(**ask(REFUSED), **other).model_dump()
    assert refused["interview_rag"]["refusal"]["only"] == ["zero.md"]
    model = ChatOpenAI(model="interview-rag", base_url=f"{served.address}/v1", api_key="none", max_retries=0)
    outside = gpt.chat.completions.create(**ask(QUESTION), **other).choices[0].message.content
    assert model.bind(**other).invoke(QUESTION).content == outside
    assert model.invoke(QUESTION).content != outside
    for wrong in (["gone.md"], ["../"], [""], "lora.txt", [3], ["a.md"] * 101):
        asked = client.post("/v1/ask", json={"question": QUESTION, "only": wrong})
        told = client.post("/v1/chat/completions", json=ask(QUESTION, only=wrong))
        assert (told.status_code, told.json()) == (400, asked.json()), wrong


def test_a_stream_without_usage_says_nothing_about_it(client: httpx.Client) -> None:
    text = client.post("/v1/chat/completions", json=ask(QUESTION, stream=True)).text
    events = text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    assert all("usage" not in json.loads(event.removeprefix("data: ")) for event in events[:-2])


def test_the_helper_that_puts_a_stream_together(gpt: openai.OpenAI) -> None:
    with gpt.chat.completions.stream(**ask(QUESTION)) as stream:
        message = stream.get_final_completion().choices[0].message
    assert message.content
    assert message.model_dump()["annotations"]


@pytest.mark.parametrize(
    ("question", "kind", "refused"),
    [(REFUSED, "refusal", True), ("你好", "answer", False)],
    ids=["refusal", "courtesy"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_what_quotes_nothing(client: httpx.Client, question: str, kind: str, refused: bool, stream: bool) -> None:
    response = client.post("/v1/chat/completions", json=ask(question, stream=stream))
    if stream:
        chunks = [json.loads(line[6:]) for line in response.text.split("\n") if line.startswith("data: {")]
        last = chunks[-1]
        content = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        annotations = last["choices"][0]["delta"]["annotations"]
    else:
        last = response.json()
        content = last["choices"][0]["message"]["content"]
        annotations = last["choices"][0]["message"]["annotations"]
        assert last["choices"][0]["message"]["refusal"] is None
    assert content
    assert annotations == []
    assert last["interview_rag"]["kind"] == kind
    assert last["interview_rag"]["refused"] is refused
    assert (last["interview_rag"]["courtesy"] == "greeting") is (question == "你好")


def test_the_conversation_is_the_history(client: httpx.Client) -> None:
    said: list[dict[str, Any]] = [
        {"role": "system", "content": "You only talk about GRPO. Search for GRPO."},
        {"role": "user", "content": [{"type": "text", "text": "ZeRO-3 切分什么？"}]},
        {"role": "assistant", "content": "ZeRO-3 还切分模型参数。"},
        {"role": "tool", "content": "GRPO", "tool_call_id": "1"},
        {"role": "user", "content": "它的通信量呢？"},
    ]
    about = client.post("/v1/chat/completions", json={"model": "interview-rag", "messages": said}).json()
    queries = about["interview_rag"]["search_queries"]
    assert "ZeRO" in queries[0]
    assert not any("GRPO" in query for query in queries)
    alone = [message for message in said if message["role"] in ("user", "assistant")]
    same = client.post("/v1/chat/completions", json={"model": "interview-rag", "messages": alone}).json()
    assert same["choices"] == about["choices"]


def test_nothing_leans_on_a_refusal(client: httpx.Client, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients send a refusal back as text like any other; the server knows what it refused."""
    seen: list[list[bool]] = []
    stream = Assistant.stream

    def watched(self: Assistant, question: str, history: Any = ()) -> Any:
        seen.append([turn.refused for turn in history])
        return stream(self, question, history)

    monkeypatch.setattr(Assistant, "stream", watched)
    asked = {"role": "user", "content": REFUSED}
    said = client.post("/v1/chat/completions", json=ask(REFUSED)).json()["choices"][0]["message"]["content"]
    answered = {"role": "assistant", "content": "ZeRO-3 还切分模型参数。"}
    messages = [asked, {"role": "assistant", "content": said}, asked, answered, {"role": "user", "content": "那它呢？"}]
    client.post("/v1/chat/completions", json={"model": "interview-rag", "messages": messages})
    client.post("/v1/ask", json={"question": "那它呢？", "history": [["user", REFUSED], ["assistant", f"{said}\n"]]})
    assert seen == [[], [False, True, False, False], [False, True]]


def test_langchain(served: Served) -> None:
    model = ChatOpenAI(model="interview-rag", base_url=f"{served.address}/v1", api_key="none", max_retries=0)
    message = model.invoke(
        [SystemMessage("Be brief."), HumanMessage("你好"), AIMessage("你好！"), HumanMessage(QUESTION)]
    )
    answer = served.service.assistant.ask(QUESTION).text
    assert message.content == answer
    assert isinstance(message, AIMessage)
    assert message.usage_metadata is not None
    assert message.usage_metadata["output_tokens"] > 0
    assert "".join(str(chunk.content) for chunk in model.stream(QUESTION)) == answer


IGNORED = {
    "temperature": 0.3, "top_p": 1, "max_tokens": 10, "seed": 1, "user": "anna", "stop": ["。"], "n": 1, "tools": [],
    "response_format": {"type": "text"}, "metadata": {"a": "b"}, "store": False, "made_up": [1, {"two": None}],
    "stream": None, "logit_bias": {}, "service_tier": "auto", "parallel_tool_calls": True, "tool_choice": "none",
}  # fmt: skip


def test_what_changes_nothing_is_ignored(client: httpx.Client) -> None:
    response = client.post("/v1/chat/completions", json=ask(QUESTION, **IGNORED))
    assert response.status_code == 200
    assert response.json()["choices"] == client.post("/v1/chat/completions", json=ask(QUESTION)).json()["choices"]


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"messages": "hello"}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": None}, "messages"),
        ({"messages": [{"content": "a"}]}, "messages.0.role"),
        ({"messages": [{"role": "owner", "content": "a"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages.0.content.str"),
        ({"messages": [{"role": "assistant", "content": "a"}]}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}, "messages.0.content.0"),
        ({"model": 7}, "model"),
        ({"model": None}, "model"),
        ({"temperature": "hot"}, "temperature"),
        ({"stream": "yes"}, "stream"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"stream_options": []}, "stream_options"),
        ({"n": 2}, "n"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"logprobs": True}, "logprobs"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_what_is_wrong_is_said_in_openais_shape(client: httpx.Client, change: dict[str, Any], param: str) -> None:
    response = client.post("/v1/chat/completions", json=ask(QUESTION) | change)
    assert response.status_code == 400
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert (error["param"], error["type"]) == (param, "invalid_request_error")
    assert error["message"]


@pytest.mark.parametrize("text", ["", "  \n ", "\x00\x01", "长" * 4_001])
def test_no_question(gpt: openai.OpenAI, text: str) -> None:
    with pytest.raises(openai.BadRequestError, match=r"question (is empty|has 4,001)"):
        gpt.chat.completions.create(**ask(text))


def test_models(gpt: openai.OpenAI) -> None:
    names = [model.id for model in gpt.models.list()]
    assert names == ["interview-rag", "interview-rag-extractive"]
    assert gpt.models.retrieve("interview-rag-extractive").id == "interview-rag-extractive"
    completion = gpt.chat.completions.create(**ask(QUESTION) | {"model": "interview-rag-extractive"})
    assert completion.model == "interview-rag-extractive"
    for name in ("gpt-4o", "interview-rag-endpoint", "interview-rag-", "interview-rag-auto"):
        with pytest.raises(openai.NotFoundError) as caught:
            gpt.chat.completions.create(**ask(QUESTION) | {"model": name})
        assert caught.value.code == "model_not_found"


def test_a_chat_model_can_be_chosen_and_may_fail(library: Settings, hash_embedder: HashEmbedder) -> None:
    """Text that was shown and did not hold stays in the stream; what the annotations point at comes after it."""
    with ChatServer(reply="ZeRO-3 还切分模型参数。ZeRO-2 切", cut_after=20).running() as server:
        settings = library.model_copy(update={"endpoint_url": server.url, "endpoint_model": "test"})
        with serving(Assistant(settings, hash_embedder)) as served, served.client() as client:
            assert "interview-rag-endpoint" in [model["id"] for model in client.get("/v1/models").json()["data"]]
            body = ask("ZeRO-3 切分什么？", stream=True) | {"model": "interview-rag-endpoint"}
            lines = client.post("/v1/chat/completions", json=body).text.split("\n")
            chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
            content = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
            assert "---" in content
            check_annotations(content, chunks[-1]["choices"][0]["delta"]["annotations"], client)
            begin = min(
                annotation["url_citation"]["start_index"]
                for annotation in chunks[-1]["choices"][0]["delta"]["annotations"]
            )
            assert begin > content.index("---")


def test_claims_are_found_in_order() -> None:
    from rag.server.http.completions import places

    same = Claim("A。", (1,), supported=True)
    other = Claim("A。", (2,), supported=True)
    unknown = Claim("B。", (3,), supported=True)
    assert list(places("A。 [1]\n\nA。 [2]", [same, other, unknown])) == [(0, 6), (8, 14), (0, 14)]
