"""Everything that is known about one question while it is answered. Stages add to it; front ends read it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from rag.answer.choices import Choices
from rag.answer.decide import Decision
from rag.answer.evidence import SearchResult
from rag.answer.quoted.paragraphs import Paragraph
from rag.answer.quoted.ranking import Ranking
from rag.chat_models.model import ChatModel
from rag.embedding import Embedder
from rag.index import Index
from rag.question.follow_ups import Standalone
from rag.question.plan import SearchPlan
from rag.reader.reading import Reader
from rag.search.retrieval import Evidence
from rag.settings import ChatModelName, Settings
from rag.types import Courtesy, Step, Turn


@dataclass(frozen=True, slots=True)
class Resources:
    """What the stages work with: one generation of the index, who reads and who may write. Without a chat model quotes
    answer; without a reader likeness decides alone."""

    index: Index
    embedder: Embedder
    settings: Settings
    choices: Choices
    chat_model: ChatModel | None = None
    reader: Reader | None = None

    @property
    def llm(self) -> ChatModelName:
        return self.chat_model.name if self.chat_model is not None else ChatModelName.EXTRACTIVE

    @property
    def is_small(self) -> bool:
        """Whether the chat model needs a shorter prompt, and quotes beside what it writes."""
        return self.chat_model is not None and self.chat_model.is_small

    @property
    def may_decline(self) -> bool:
        """Whether who writes may find that nothing it was given answers. A small model would where it should not."""
        return self.chat_model is not None and not self.chat_model.is_small


@dataclass(frozen=True, slots=True)
class Selection:
    """What is quoted, or given to a chat model to read; `prompt` holds its messages as (role, text). `is_nearest` says
    that an answer is doubtful, and that the nearest material alone is quoted."""

    paragraphs: tuple[Paragraph, ...] = ()
    prompt: tuple[tuple[str, str], ...] = ()
    is_nearest: bool = False


@dataclass(frozen=True, slots=True)
class Exploration:
    """What an agent did and found beyond the first search.

    `paragraphs` are those that it was given to read, `evidence` that of its searches, `calls` how often its model was
    asked. `reply` is what it wrote, not checked yet; None where it came to none. `asks` is what it asks the reader.
    """

    steps: tuple[Step, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    reply: str | None = None
    asks: str = ""
    calls: int = 0


# What a trace holds of the stages that have not run.
NO_PLAN = SearchPlan(Standalone(""))
NO_RESULT = SearchResult(NO_PLAN, "", Evidence("", ()))
NO_DECISION = Decision(None, NO_RESULT)
NO_SELECTION = Selection()
NO_EXPLORATION = Exploration()


@dataclass(frozen=True, slots=True)
class Trace:
    """One question on its way: resolve -> search -> decide -> rank -> select -> explore -> write.

    `rankings` are those of the sections for the question and for each side of a comparison. `courtesy` is set where
    nothing is asked of the material; then no other stage runs. `started` is on the clock of `time.perf_counter`;
    `milliseconds` maps each stage that has run to what it took.
    """

    resources: Resources = field(repr=False)
    question: str
    history: tuple[Turn, ...] = ()
    courtesy: Courtesy | None = None
    plan: SearchPlan = NO_PLAN
    result: SearchResult = NO_RESULT
    decision: Decision = NO_DECISION
    rankings: tuple[Ranking, ...] = ()
    selection: Selection = NO_SELECTION
    exploration: Exploration = NO_EXPLORATION
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Those of the agent; none where it was not at work."""
        return self.exploration.steps

    @property
    def seconds(self) -> float:
        """Since the question was asked."""
        return time.perf_counter() - self.started
