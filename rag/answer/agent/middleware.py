"""The limits of an agent, and the middleware between it and its model that keeps them."""

from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelCallLimitMiddleware, ToolCallLimitMiddleware
from langchain.agents.middleware.types import hook_config
from langchain_core.messages import AIMessage, ToolMessage

from rag.chat_models.model import ChatModel

# Characters of a question that the agent asks back.
MOST_ASKED_BACK = 200


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """`step_tokens` limits the text that one search or page gives it, `seconds` the time from its first call to its
    reply."""

    model_calls: int
    tool_calls: int
    seconds: float
    step_tokens: int


LARGE = AgentLimits(model_calls=6, tool_calls=8, seconds=60.0, step_tokens=700)
# A small model forgets its task in a long conversation, and reads some 50 tokens a second.
SMALL = AgentLimits(model_calls=3, tool_calls=3, seconds=180.0, step_tokens=250)


def limits_for(model: ChatModel) -> AgentLimits:
    return SMALL if model.is_small else LARGE


class ToldOfBadArguments(AgentMiddleware):
    """Answers calls whose arguments are not JSON. LangChain sets them aside, and would take the turn for the reply."""

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        last = state["messages"][-1]
        if not isinstance(last, AIMessage) or not last.invalid_tool_calls:
            return None
        told = [
            ToolMessage(
                "Error: the arguments are not JSON. Call the tool again.",
                tool_call_id=call["id"] or "",
                name=call["name"] or "",
                status="error",
            )
            for call in last.invalid_tool_calls
        ]
        return {"messages": told} if last.tool_calls else {"messages": told, "jump_to": "model"}


def middleware_for(limits: AgentLimits) -> list[Any]:
    """Tool calls beyond the limit are refused, so that the model answers with what it has; a model call beyond its
    limit ends the run."""
    return [
        ToldOfBadArguments(),
        ToolCallLimitMiddleware(run_limit=limits.tool_calls, exit_behavior="continue"),
        ModelCallLimitMiddleware(run_limit=limits.model_calls, exit_behavior="error"),
    ]
