"""The JSON forms, key by key: others program against them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from rag.answer.assistant import Assistant
from rag.commands.output import answer_as_text, search_as_text
from rag.types import Step, StepKind
from rag.wire import answer_as_dict, search_as_dict


def kinds(value: object) -> object:
    """Keys in their order, with the types of their values; of a list its first item."""
    if isinstance(value, dict):
        return {key: kinds(item) for key, item in value.items()}
    if isinstance(value, list):
        return [kinds(value[0])] if value else []
    return type(value).__name__


def through_json(value: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(json.dumps(value, ensure_ascii=False))
    assert result == value
    return result


FOUND = {"rank": "int", "score": "float"}


def test_search(assistant: Assistant) -> None:
    found = through_json(search_as_dict(assistant.search("W4A16 权重 4 位整数", k=100)))
    assert list(found) == ["query", "results"]
    first = found["results"][0]
    assert kinds(first) == {
        "rank": "int",
        "score": "float",
        "document": "str",
        "title": "str",
        "section": ["str"],
        "start": "int",
        "end": "int",
        "spans": [["int"]],
        "text": "str",
        "also_in": [{"document": "str", "start": "int", "end": "int"}],
        "found_by": {"dense": FOUND, "keyword": FOUND},
    }
    assert [row["rank"] for row in found["results"]] == list(range(1, len(found["results"]) + 1))
    for row in found["results"]:
        assert row["spans"][0][0] == row["start"]
        assert row["spans"][-1][1] == row["end"]
        assert set(row["found_by"]) <= {"dense", "keyword"}
    assert "keyword" not in search_as_dict(assistant.search("zzz"))["results"][0]["found_by"]


def test_answer(assistant: Assistant) -> None:
    answer = through_json(answer_as_dict(assistant.ask("LoRA 的秩怎么选？")))
    assert kinds(answer) == {
        "question": "str",
        "search_queries": ["str"],
        "answer": "str",
        "kind": "str",
        "nearest": [],
        "courtesy": "NoneType",
        "refused": "bool",
        "refusal": "NoneType",
        "llm": "str",
        "claims": [{"text": "str", "citations": ["int"], "supported": "bool"}],
        "citations": [
            {
                "marker": "int",
                "document": "str",
                "title": "str",
                "start": "int",
                "end": "int",
                "quote": "str",
                "page": "NoneType",
                "section": ["str"],
            }
        ],
        "steps": [],
        "seconds": {"retrieve": "float", "first_text": "float", "total": "float"},
        "read_as": {"question": "str", "follows": "NoneType"},
    }
    assert answer["refused"] is False
    assert answer["llm"] == "extractive"


def test_the_steps_of_an_agent(assistant: Assistant) -> None:
    step = Step(StepKind.SEARCH, "秩", documents=("lora.txt",))
    answer = replace(assistant.ask("LoRA 的秩怎么选？"), steps=(step,))
    assert kinds(through_json(answer_as_dict(answer))["steps"]) == [
        {"kind": "str", "request": "str", "result": "str", "documents": ["str"], "failed": "bool", "seconds": "float"}
    ]
    assert "\n1. search: 秩 → lora.txt\n" in answer_as_text(answer)


def test_refusal(assistant: Assistant) -> None:
    answer = through_json(answer_as_dict(assistant.ask("GRPO 用的 LoRA 秩是多少？")))
    assert answer["refused"] is True
    assert kinds(answer["refusal"]) == {"reason": "str", "missing": ["str"], "suggestions": ["str"]}
    assert answer["refusal"]["missing"] == ["GRPO"]
    assert (answer["claims"], answer["citations"]) == ([], [])


@pytest.mark.parametrize("question", ["LoRA 的秩怎么选？", "GRPO 是什么？"])
def test_text_for_people(question: str, assistant: Assistant) -> None:
    answer = assistant.ask(question)
    text = answer_as_text(answer)
    assert text.startswith(answer.text)
    assert text.count("lora.txt") == len(answer.citations)
    evidence = assistant.search(question)
    assert search_as_text(evidence).count("\n1. ") + search_as_text(evidence).startswith("1. ") == 1
