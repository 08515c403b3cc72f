"""Which questions an agent is for."""

from dataclasses import replace

import pytest

from rag.answer.assistant import Assistant
from rag.answer.verdict import wants_agent
from rag.chat_models.model import ChatModel
from rag.evaluation.agent.planner import ScriptedPlanner
from rag.settings import AgentMode, ChatModelName

SEVERAL = "LoRA 的秩怎么选？另外 W4A16 是什么意思"


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("LoRA 的秩怎么选？", False),
        (SEVERAL, True),
        ("ZeRO-2 和 ZeRO-3 差在哪", True),
        ("Zorblax 怎么装？", False),  # what is refused stays refused
        ("你好", False),
    ],
)
def test_several_searches_are_work_for_an_agent(question: str, wanted: bool, assistant: Assistant) -> None:
    trace = assistant.prepare(question)
    model = ChatModel(ChatModelName.ENDPOINT, "planner", ScriptedPlanner())
    settings = trace.resources.settings.model_copy(update={"agent": AgentMode.AUTO})
    allowed = replace(trace, resources=replace(trace.resources, settings=settings, chat_model=model))
    assert wants_agent(allowed) is wanted
    assert not wants_agent(trace)
    assert not wants_agent(replace(allowed, resources=replace(allowed.resources, chat_model=None)))
