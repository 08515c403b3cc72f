"""The tools, resources and prompts, called by the SDK's own client."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client, MCPError
from mcp.server import MCPServer
from mcp.types import ResourceLink, TextContent

from rag.practice.store import PracticeStore
from rag.server.mcp.library import Library
from rag.server.mcp.server import build_server
from tests.conftest import HashEmbedder
from tests.rag.library import library_settings
from tests.rag.practice.pages import CACHE_ID
from tests.rag.server.mcp.calling import call, read, text_of, values, with_client
from tests.rag.server.mcp.documents import ALL

TOOLS = ["search", "ask", "read_source", "practice_question", "grade_answer"]
ANSWER = "KV cache 把每一层已经算过的 Key 和 Value 存下来，解码的每一步只需为新 token 做一次前向。"
QUESTIONS = [
    "RoPE 为什么能外推？",
    "ZeRO-2 和 ZeRO-3 差在哪？",
    "Why loss scaling?",
    "LoRA 的秩怎么选？",
    "KV cache 是什么？",
]


def slices(value: Any) -> list[dict[str, Any]]:
    """Every slice in a result, wherever it stands."""
    if isinstance(value, dict):
        own = [value] if "quote" in value else []
        return own + [one for inner in value.values() for one in slices(inner)]
    return [one for inner in value for one in slices(inner)] if isinstance(value, list) else []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_is_offered(server: MCPServer, mode: str) -> None:
    async def work(client: Client) -> None:
        assert "call `ask` first" in (client.instructions or "")
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        for tool in tools:
            assert tool.description
            assert tool.output_schema
            assert tool.annotations
            assert tool.annotations.read_only_hint is True
            assert tool.annotations.destructive_hint is False
            assert "\n    " not in tool.description
        assert [one.uri for one in (await client.list_resources()).resources] == ["interview-rag://documents"]
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "interview-rag://source/{+document}{?start,end}"
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["mock_interview", "explain_with_sources"]

    with_client(server, work, mode)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_slice_is_byte_identical_with_its_source(server: MCPServer, question: str) -> None:
    async def work(client: Client) -> None:
        asked = await client.call_tool("ask", {"question": question})
        found = slices(values(asked))
        assert found
        for one in found:
            source = ALL[one["document"]]
            assert one["quote"].encode() == source[one["start"] : one["end"]].encode()
            assert (await read(client, one["uri"])).encode() == one["quote"].encode()
        links = [block.uri for block in asked.content if isinstance(block, ResourceLink)]
        assert links == list(dict.fromkeys(one["uri"] for one in found))
        searched = values(await client.call_tool("search", {"query": question, "k": 3}))
        assert [one["rank"] for one in searched["results"]] == [1, 2, 3]
        for one in searched["results"]:
            assert await read(client, one["uri"]) == ALL[one["document"]][one["start"] : one["end"]] or one["withheld"]

    with_client(server, work)


def test_results_keep_their_schemas_and_say_what_they_are(server: MCPServer) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "LoRA"}),
        ("ask", {"question": "LoRA 的秩怎么选？", "style": "short"}),
        ("ask", {"question": "怎么做红烧肉？"}),
        ("read_source", {"document": "rope.md"}),
        ("practice_question", {}),
        ("grade_answer", {"question_id": CACHE_ID, "answer": ANSWER}),
    ]

    async def work(client: Client) -> None:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            jsonschema.validate(values(result), schemas[name])
            assert "never instructions" in text_of(result)
            assert text_of(result).count("<material>") == 1 + text_of(result).count("between <material> and")

    with_client(server, work)


def test_only_some_documents(server: MCPServer) -> None:
    question = "ZeRO-2 和 ZeRO-3 差在哪？"

    async def work(client: Client) -> None:
        for tool, field in (("search", "query"), ("ask", "question")):
            given = values(await client.call_tool(tool, {field: question, "only": ["zero.md"]}))
            assert {one["document"] for one in slices(given) or given["results"]} == {"zero.md"}
            for only in (["gone.md"], ["../"], [""], "gone.md", [3], ["a.md"] * 101):
                result = await client.call_tool(tool, {field: question, "only": only})
                assert result.is_error, only
            wrong = await client.call_tool(tool, {field: question, "only": ["gone.md"]})
            assert "there is no document or folder 'gone.md' in the index" in text_of(wrong)
            assert "use the name of a document as in citations" in text_of(wrong)
        refused = values(await client.call_tool("ask", {"question": "GRPO 是什么？", "only": ["zero.md"]}))
        assert refused["refusal"]["only"] == ["zero.md"]
        whole = values(await client.call_tool("search", {"query": question}))
        assert len({one["document"] for one in whole["results"]}) > 1  # what was chosen holds for one call

    with_client(server, work)


def test_null_is_left_out_and_one_name_is_a_list_of_one(server: MCPServer) -> None:
    question = "ZeRO-2 和 ZeRO-3 差在哪？"

    async def work(client: Client) -> None:
        plain = values(await client.call_tool("search", {"query": question}))
        left_out: list[dict[str, Any]] = [
            {"k": None},
            {"only": None},
            {"only": ""},
            {"only": []},
            {"k": None, "only": None},
        ]
        for given in left_out:
            assert values(await client.call_tool("search", {"query": question, **given})) == plain, given
        for only in ("zero.md", '["zero.md"]', ["zero.md"]):
            one = values(await client.call_tool("search", {"query": question, "only": only}))
            assert {result["document"] for result in one["results"]} == {"zero.md"}, only
        nothing = {"history": None, "style": None, "only": None}
        assert values(await client.call_tool("ask", {"question": question, **nothing}))["citations"]
        read = values(await client.call_tool("read_source", {"document": "zero.md", "start": None, "end": None}))
        assert read["start"] == 0
        values(await client.call_tool("practice_question", {"topic": None, "without": None}))

    with_client(server, work)


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("search", {}, "`query` is missing"),
        ("search", {"query": None}, "`query` is missing"),
        ("search", {"query": ""}, "`query` should have at least 1 character"),
        ("search", {"query": "x", "k": 0}, "`k` should be greater than or equal to 1"),
        ("search", {"query": "x", "k": "many"}, "`k` should be a valid integer"),
        ("search", {"query": "x", "only": {}}, "`only` should be a valid list"),
        ("ask", {"question": "x", "history": [{"role": "user"}]}, "`history[0].text` is missing"),
        ("ask", {"question": "x", "history": [["user", "hi"]]}, "`history[0]` should be an object"),
        ("ask", {"question": "x", "style": "SHORT"}, "`style` should be 'short'"),
    ],
)
def test_what_is_wrong_with_arguments_is_told_in_plain_words(
    server: MCPServer, tool: str, arguments: dict[str, Any], told: str
) -> None:
    result = call(server, tool, arguments)
    assert result.is_error
    assert told in text_of(result)
    assert not any(word in text_of(result) for word in ("pydantic", "http", "validation", "input_value"))


def test_a_refusal_is_no_error(server: MCPServer) -> None:
    refused = values(call(server, "ask", {"question": "GRPO 是什么？"}))
    assert refused["kind"] == "refusal"
    assert refused["refused"] is True
    assert refused["refusal"]["reason"]
    assert refused["citations"] == []


def test_a_follow_up_leans_on_the_conversation(server: MCPServer) -> None:
    first = values(call(server, "ask", {"question": "LoRA 为什么能省显存？"}))["answer"]
    history = [{"role": "user", "text": "LoRA 为什么能省显存？"}, {"role": "assistant", "text": first}]
    asked = values(call(server, "ask", {"question": "那秩怎么选", "history": history}))
    assert "8 到 64" in asked["answer"]


def test_a_source_is_read_in_parts(server: MCPServer) -> None:
    async def work(client: Client) -> None:
        start, parts = 0, []
        while start is not None:
            part = values(
                await client.call_tool("read_source", {"document": "rope.md", "start": start, "end": start + 100})
            )
            parts.append(part["quote"])
            start = part["next_start"]
        assert "".join(parts) == ALL["rope.md"]
        assert part["characters"] == len(ALL["rope.md"])
        listed = json.loads(await read(client, "interview-rag://documents"))
        assert {row["document"]: row["characters"] for row in listed} == {name: len(text) for name, text in ALL.items()}

    with_client(server, work)


def test_practice_without_writes_leaves_nothing_behind(server: MCPServer, served: Path) -> None:
    async def work(client: Client) -> None:
        asked: list[str] = []
        total = None
        while True:
            result = await client.call_tool("practice_question", {"without": asked})
            if result.is_error:
                break
            question = values(result)
            total = sum(question["topics"].values())
            assert question["id"] not in asked
            asked.append(question["id"])
        assert len(asked) == total
        assert "no question left" in text_of(result)
        graded = values(await client.call_tool("grade_answer", {"question_id": CACHE_ID, "answer": ANSWER}))
        assert graded["kept"] is False
        assert graded["points"][0]["verdict"] == "found"
        assert ANSWER[slice(*graded["points"][0]["attempt"])] == ANSWER
        for one in slices(graded):
            assert one["quote"] == ALL[one["document"]][one["start"] : one["end"]]

    with_client(server, work)
    assert not (served / "user").exists()


def test_with_writes_the_attempt_is_kept_and_the_hint_says_so(
    library: Library, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    settings = library.settings.model_copy(update={"data": tmp_path / "user"})
    server = build_server(Library(settings, allow_writes=True))

    async def work(client: Client) -> None:
        hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        assert [name for name, hint in hints.items() if hint and not hint.read_only_hint] == ["grade_answer"]
        graded = values(await client.call_tool("grade_answer", {"question_id": CACHE_ID, "answer": ANSWER}))
        assert graded["kept"] is True
        empty = values(await client.call_tool("grade_answer", {"question_id": CACHE_ID, "answer": " "}))
        assert empty["kept"] is False

    with_client(server, work)
    store = PracticeStore(tmp_path / "user")
    assert [review.attempt for review in store.reviews("")] == [ANSWER]
    store.close()


def test_prompts(server: MCPServer) -> None:
    async def work(client: Client) -> None:
        prompt = await client.get_prompt("mock_interview", {"topic": "inference", "questions": "3"})
        [message] = prompt.messages
        assert isinstance(message.content, TextContent)
        assert "Ask 3 questions" in message.content.text
        for name, arguments, told in [
            ("mock_interview", {"questions": "300"}, "questions: Input should be less than or equal to 20"),
            ("explain_with_sources", {}, "question"),
            ("nonsense", {}, "Unknown prompt: nonsense"),
        ]:
            with pytest.raises(MCPError, match=told):
                await client.get_prompt(name, arguments)

    with_client(server, work)


def test_without_an_index_every_tool_says_how_to_make_one(library: Library, tmp_path: Path) -> None:
    server = build_server(Library(library_settings(tmp_path)))
    for name, arguments in [
        ("search", {"query": "LoRA"}),
        ("ask", {"question": "LoRA"}),
        ("read_source", {"document": "rope.md"}),
        ("practice_question", {}),
        ("grade_answer", {"question_id": "x", "answer": "y"}),
    ]:
        result = call(server, name, arguments)
        assert result.is_error
        assert "python -m ingest" in text_of(result)
        assert "[index_missing]" in text_of(result)


def test_an_error_of_a_tool_never_becomes_an_empty_result(server: MCPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **more: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(Library, "assistant", fail)
    for name, arguments in [("search", {"query": "LoRA"}), ("ask", {"question": "LoRA"})]:
        result = call(server, name, arguments)
        assert result.is_error
        assert text_of(result) == f"Error executing tool {name}"
        assert result.structured_content is None
