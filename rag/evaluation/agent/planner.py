"""A planner without a model: it searches for each part of a question that asks something on its own.

It stands in for a chat model when the agent's searches are measured. It gets what a model would get, uses only the text
of the question, and writes nothing. Unlike a model, it cannot tell what a result lacks, and searches only once;
questions whose parts are separate clauses suit it (docs/results/agent.md).
"""

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable

from rag.answer.assistant import Assistant
from rag.answer.written.prompts import NO_ANSWER
from rag.chat_models.model import ChatModel
from rag.language.asking import ASKS
from rag.language.lexicon import either
from rag.language.terms import LATIN_TERM
from rag.settings import ChatModelName, Settings

MOST_SEARCHES = 4
# Splits more often than `rag.language.asking`: a model may try more searches than the program would.
CLAUSE_END = re.compile(rf"[，,；;。？！?!\n]+\s*|{either('parts', 'goes_on')}", re.IGNORECASE)
QUESTION = re.compile(r"</material>\s*Question: (.*)\n[^\n]*\Z", re.DOTALL)


class ScriptedPlanner(BaseChatModel):
    """Calls `search` for the parts of the question, then declines to write."""

    @property
    def _llm_type(self) -> str:
        return "scripted-planner"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        asked = next((str(message.text) for message in messages if message.type == "human"), "")
        found = QUESTION.search(asked)
        queries = plan(found[1]) if found and not any(message.type == "ai" for message in messages) else []
        calls = [
            {"name": "search", "args": {"query": query}, "id": f"search-{place}"} for place, query in enumerate(queries)
        ]
        message = AIMessage(content="" if calls else NO_ANSWER, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def open_planned(settings: Settings) -> Assistant:
    """An assistant whose chat model plans; the scripted planner if the settings name no chat model."""
    assistant = Assistant.open(settings)
    if assistant.llm is ChatModelName.EXTRACTIVE:
        script = ChatModel(ChatModelName.ENDPOINT, "scripted-planner", ScriptedPlanner())
        assistant.write_with(settings, script)
    return assistant


def plan(question: str) -> list[str]:
    """The queries: the parts that ask something, each with the preceding clauses that ask nothing. A part without a
    name takes the names of the part before it. Empty for a question of one part.

    >>> plan("GRPO 的优势怎么算，KL 项加在哪里？")
    ['GRPO 的优势怎么算', 'KL 项加在哪里']
    """
    parts: list[str] = []
    lead: list[str] = []
    for clause in filter(None, (clause.strip() for clause in CLAUSE_END.split(question))):
        lead.append(clause)
        if ASKS.search(clause):
            parts.append("，".join(lead))
            lead = []
    if lead and parts:
        parts[-1] = "，".join((parts[-1], *lead))
    if len(parts) < 2:
        return []
    queries, names = [], ""
    for part in parts[:MOST_SEARCHES]:
        own = " ".join(name for name in re.findall(LATIN_TERM, part, re.IGNORECASE) if not name[0].isdigit())
        queries.append(part if own or not names else f"{names} {part}")
        names = own or names
    return queries
