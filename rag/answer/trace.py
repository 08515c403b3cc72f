"""All data about one question while it is answered: stages add to it, front ends read it. And the events while an
answer is written, in this order: the evidence, an agent's steps, growing text, the finished answer; and the writers'
protocol.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rag.answer.choices import Choices
from rag.answer.decide import Decision
from rag.answer.evidence import QuestionResults
from rag.answer.quoted.paragraphs import Paragraph
from rag.answer.quoted.ranking import SectionRanking
from rag.chat_models.model import ChatModel
from rag.embedding import Embedder
from rag.errors import ChatModelProblem
from rag.index import Index
from rag.language.courtesy import Courtesy
from rag.language.language import Language, language_of
from rag.question.follow_ups import Standalone
from rag.question.question import UserQuestion
from rag.reader.reading import Reader
from rag.search.retrieval import Evidence
from rag.search.searcher import Searcher
from rag.settings import ChatModelName, Settings
from rag.types import Answer, AnswerKind, Citation, Claim, Step, Turn


@dataclass(frozen=True, slots=True)
class AnswerResources:
    """The stages' resources: one generation of the index, the reader and the chat model. Without a chat model quotes
    answer; without a reader likeness decides alone."""

    searcher: Searcher
    settings: Settings
    choices: Choices
    chat_model: ChatModel | None = None
    reader: Reader | None = None

    @property
    def index(self) -> Index:
        return self.searcher.index

    @property
    def embedder(self) -> Embedder:
        return self.searcher.embedder

    @property
    def llm(self) -> ChatModelName:
        return self.chat_model.name if self.chat_model is not None else ChatModelName.EXTRACTIVE

    @property
    def is_small(self) -> bool:
        """Whether the chat model needs a shorter prompt, and quotes beside its text."""
        return self.chat_model is not None and self.chat_model.is_small

    @property
    def may_decline(self) -> bool:
        """Whether the chat model may find that its evidence answers nothing. A small model would do so wrongly."""
        return self.chat_model is not None and not self.chat_model.is_small


@dataclass(frozen=True, slots=True)
class Selection:
    """The text to quote, or to give to a chat model; `prompt` holds its messages as (role, text)."""

    paragraphs: tuple[Paragraph, ...] = ()
    prompt: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Exploration:
    """An agent's actions and finds beyond the first search.

    `paragraphs` are those it read, `evidence` the results of its searches, `calls` counts the calls of its model.
    `reply` is its unchecked answer, None if it reached none. `asks` is its question to the reader.
    """

    steps: tuple[Step, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    reply: str | None = None
    asks: str = ""
    calls: int = 0


# The trace's values for stages that have not run.
NO_QUESTION = UserQuestion(Standalone(""))
NO_RESULT = QuestionResults(NO_QUESTION, "", Evidence("", ()))
NO_DECISION = Decision(None, NO_RESULT)
NO_SELECTION = Selection()
NO_EXPLORATION = Exploration()


@dataclass(frozen=True, slots=True)
class Trace:
    """One message on its way to an answer: read -> search -> judge -> write.

    `courtesy` is set if the message asks nothing of the material; it is answered without any stage. `rankings` are
    those of the sections for the question and for each side of a comparison. `verdict` says whether to answer, to point
    to the nearest or to refuse. `started` is on the clock of `time.perf_counter`; `milliseconds` maps each finished
    stage to its time.
    """

    resources: AnswerResources = field(repr=False)
    message: str
    history: tuple[Turn, ...] = ()
    courtesy: Courtesy | None = None
    question: UserQuestion = NO_QUESTION
    result: QuestionResults = NO_RESULT
    decision: Decision = NO_DECISION
    rankings: tuple[SectionRanking, ...] = ()
    verdict: AnswerKind = AnswerKind.ANSWER
    selection: Selection = NO_SELECTION
    exploration: Exploration = NO_EXPLORATION
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @property
    def language(self) -> Language:
        """The language of the message, and of our own words in the answer."""
        return language_of(self.message)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The agent's steps; none if it did not run."""
        return self.exploration.steps

    @property
    def seconds(self) -> float:
        """Since the question arrived."""
        return time.perf_counter() - self.started


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
class WrittenAnswer:
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

    def write(self, trace: Trace) -> Iterator[Event | WrittenAnswer]:
        """Text as it is checked; last, all of it as `Written`."""
