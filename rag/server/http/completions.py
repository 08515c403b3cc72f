"""Responses of POST /v1/chat/completions, in OpenAI's format."""

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from rag.server.http.annotations import Annotation
from rag.text.tokens import count_tokens
from rag.types import Answer, Turn


class About(BaseModel):
    """Fields that OpenAI's format has no place for; they are those of POST /v1/ask."""

    kind: Literal["answer", "nearest", "refusal", "clarification"]
    refused: bool
    refusal: dict[str, Any] | None = None
    nearest: list[str] = []
    courtesy: str | None = None
    llm: str
    search_queries: list[str]
    read_as: dict[str, str | None]
    seconds: dict[str, float]


class Usage(BaseModel):
    """Token counts in cl100k_base: of the question with its conversation, and of the answer. They do not include what a
    chat model was given to read and billed for."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class AnswerMessage(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = Field(None, description="always null: a refusal is in `content`; see `interview_rag.kind`")
    annotations: list[Annotation]


class Choice(BaseModel):
    index: Literal[0] = 0
    message: AnswerMessage
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


class Completion(BaseModel):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    system_fingerprint: str = Field(description="the generation of the index that answered")
    choices: list[Choice]
    usage: Usage
    interview_rag: About


class Delta(BaseModel):
    role: Literal["assistant"] | None = None
    content: str | None = None
    annotations: list[Annotation] | None = Field(None, description="all of them, with the last delta")


class ChunkChoice(BaseModel):
    index: Literal[0] = 0
    delta: Delta
    logprobs: None = None
    finish_reason: Literal["stop"] | None = None


class Chunk(BaseModel):
    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: Usage | None = None
    system_fingerprint: str | None = None
    interview_rag: About | None = Field(None, description="with the last delta")

    def event(self, *, with_usage: bool) -> bytes:
        """As a server-sent event. Has `usage`, null except at the end, only if requested."""
        unset = {"usage"} if not with_usage else None
        data = self.model_dump(mode="json", exclude=unset)
        for choice in data["choices"]:
            choice["delta"] = {name: value for name, value in choice["delta"].items() if value is not None}
        for name in ("interview_rag", "system_fingerprint"):
            if data[name] is None:
                del data[name]
        return event_of(data)


def event_of(data: object) -> bytes:
    # No line end of any kind inside: a client may split at U+2028 too.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for separator in "\x85\u2028\u2029":
        text = text.replace(separator, f"\\u{ord(separator):04x}")
    return f"data: {text}\n\n".encode()


def about(answer: dict[str, Any]) -> About:
    """From the JSON of an answer."""
    return About(**{name: answer[name] for name in About.model_fields})


def usage_of(question: str, history: Sequence[Turn], answer: Answer) -> Usage:
    prompt = sum(map(count_tokens, [question, *(turn.text for turn in history)]))
    completion = count_tokens(answer.text)
    return Usage(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)
