"""The events while an answer is written, in this order: the evidence, an agent's steps, growing text, the finished
answer; and the writers' protocol."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from rag.answer.trace import Selection, Trace
from rag.errors import ChatModelProblem
from rag.search.retrieval import Evidence
from rag.settings import ChatModelName
from rag.types import Answer, Citation, Claim, Step


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """Retrieval is done; the passages can be shown during the writing."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class ModelLoading:
    """The local chat model is being loaded at its first question, which takes seconds."""


@dataclass(frozen=True, slots=True)
class StepTaken:
    """An agent has taken one more step."""

    step: Step


@dataclass(frozen=True, slots=True)
class TextAdded:
    """More checked text of the answer, markers included."""

    text: str


@dataclass(frozen=True, slots=True)
class TextDiscarded:
    """The chat model failed halfway: what follows replaces the text shown so far."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The whole answer and its trace. Always the last event."""

    answer: Answer
    trace: Trace


Event = EvidenceFound | ModelLoading | StepTaken | TextAdded | TextDiscarded | Finished


@dataclass(frozen=True, slots=True)
class Written:
    """`chunks` are the pieces of the text as shown, `left_out` counts the omitted sentences, and `fallback` is why
    quotes replaced a chat model, or why it broke off."""

    chunks: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    left_out: int = 0
    llm: ChatModelName = ChatModelName.EXTRACTIVE
    fallback: ChatModelProblem | None = None

    @property
    def text(self) -> str:
        return "".join(self.chunks).strip()

    @property
    def is_supported(self) -> bool:
        return any(claim.supported for claim in self.claims)


class AnswerWriter(Protocol):
    """Writes the answer. `select` comes before `write`, so that an inspector can stop in between."""

    def select(self, trace: Trace) -> Selection:
        """The text to quote, or to give to a chat model."""

    def write(self, trace: Trace) -> Iterator[Event | Written]:
        """Text as it is checked; last, all of it as `Written`."""
