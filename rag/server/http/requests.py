"""Requests from clients. Of OpenAI's fields without effect here only the type is checked; unknown ones are ignored, as
by OpenAI's servers."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag.answer.assistant import MAX_QUESTION_CHARACTERS, check_question
from rag.answer.choices import StyleName
from rag.server.http.problems import Problem
from rag.settings import ChatModelName
from rag.types import Role, Turn

MODEL = "interview-rag"
# Messages kept before the question; the last twelve decide what a follow-up builds on.
HISTORY = 24


class Body(BaseModel):
    """`strict`: "1" is no number, and "yes" does not switch anything on."""

    model_config = ConfigDict(extra="ignore", strict=True)


class ContentPart(Body):
    type: str = Field(description="`text`; other types are not supported")
    text: str | None = None


class Message(Body):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text or "" for part in self.content)
        return self.content or ""


class StreamOptions(Body):
    include_usage: bool | None = None


class ResponseFormat(Body):
    type: str


Only = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=1_000)]],
    Field(max_length=100, description="search only these documents, and folders with a slash at the end"),
]


class ChatRequest(Body):
    """The last message is the question; the messages of user and assistant before it are the conversation. Messages of
    other roles are ignored: they cannot change what is searched or what an answer may say."""

    model: str = Field(max_length=200, description=f"`{MODEL}`, or another that GET /v1/models lists")
    messages: list[Message] = Field(min_length=1, max_length=2_000)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(1, description="must be 1")
    tools: list[Any] | None = Field(None, description="not supported")
    functions: list[Any] | None = Field(None, description="not supported")
    response_format: ResponseFormat | None = Field(None, description="only `text`")
    modalities: list[str] | None = Field(None, description="only `text`")
    logprobs: bool | None = Field(False, description="not supported")
    temperature: float | None = Field(None, description="ignored, as are the fields from `top_p` to `user`")
    top_p: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    user: str | None = None
    only: Only = Field([], description="not OpenAI's: as in POST /v1/ask; OpenAI's client sends it in `extra_body`")

    @property
    def with_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage is True

    def check(self) -> None:
        """Raises Problem for options that cannot be honoured."""
        refused = {
            "n": self.n not in (None, 1),
            "tools": bool(self.tools),
            "functions": bool(self.functions),
            "response_format": self.response_format is not None and self.response_format.type != "text",
            "modalities": self.modalities not in (None, [], ["text"]),
            "logprobs": bool(self.logprobs),
        }
        for name, is_refused in refused.items():
            if is_refused:
                raise Problem(400, f"{name}: {_unsupported(name)}", code="unsupported_parameter", param=name)
        for place, message in enumerate(self.messages):
            parts = message.content if isinstance(message.content, list) else []
            for number, part in enumerate(parts):
                if part.type != "text" or part.text is None:
                    param = f"messages.{place}.content.{number}"
                    raise Problem(400, f"{param}: only parts of type 'text'", code="unsupported_content", param=param)


class SearchRequest(Body):
    query: str = Field(description="what to search for")
    k: int | None = Field(None, ge=1, le=100, description="number of passages to return; by default as in the settings")
    history: list[list[str]] = Field([], max_length=2_000, description='[["user", "…"], ["assistant", "…"]]')
    only: Only = []


class AskRequest(Body):
    question: str
    id: str | int | None = Field(None, description="returned with the answer")
    history: list[list[str]] = Field([], max_length=2_000, description='[["user", "…"], ["assistant", "…"]]')
    llm: Literal["auto", "extractive", "local", "ollama", "endpoint"] | None = Field(
        None, description="who writes the answer; by default as in the settings"
    )
    style: Literal["short", "standard", "deep"] = "standard"
    only: Only = []
    follows: bool | None = Field(None, description="whether the question is a follow-up; null to detect it")

    @property
    def answerer(self) -> ChatModelName | None:
        return None if self.llm in (None, "auto") else ChatModelName(self.llm)

    @property
    def style_name(self) -> StyleName:
        return StyleName(self.style)


def _unsupported(name: str) -> str:
    return {
        "n": "there is only one answer to a question",
        "tools": "this server answers from its documents and calls no tools",
        "functions": "this server answers from its documents and calls no functions",
        "response_format": "only text; for an answer as JSON use POST /v1/ask",
        "modalities": "only text",
        "logprobs": "answers are quoted, or checked against quotes, and have none",
    }[name]


def conversation(messages: Sequence[Message]) -> tuple[str, list[Turn]]:
    """The question, and the turns before it. Raises Problem or UsageError if there is no question."""
    if messages[-1].role != "user":
        raise Problem(400, "messages: the last one must be the user's question", code="no_question", param="messages")
    said = [message for message in messages[:-1] if message.role in list(Role) and message.text.strip()]
    turns = [Turn(Role(message.role), message.text) for message in said]
    return check_question(messages[-1].text), bounded(turns)


def turns_of(history: Sequence[Sequence[str]]) -> list[Turn]:
    """Raises Problem."""
    turns = []
    for place, turn in enumerate(history):
        if len(turn) != 2 or turn[0] not in list(Role):
            param = f"history.{place}"
            raise Problem(400, f'{param} is not ["user" or "assistant", text]', code="invalid_type", param=param)
        turns.append(Turn(Role(turn[0]), turn[1]))
    return bounded(turns)


def bounded(turns: Sequence[Turn]) -> list[Turn]:
    """The newest turns, each cut to a question's maximum length, so a long conversation costs no more."""
    return [Turn(turn.role, turn.text[:MAX_QUESTION_CHARACTERS]) for turn in turns[-HISTORY:]]
