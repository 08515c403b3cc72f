"""How far an agent may go for one question."""

from dataclasses import dataclass

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
