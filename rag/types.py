"""The values passed between the stages. Imports nothing of ours but text, language and the kinds of failures."""

from dataclasses import dataclass, field
from enum import StrEnum

from rag.errors import ChatModelProblem
from rag.language.courtesy import Courtesy
from rag.language.language import Language
from rag.text.blocks import Block, BlockKind
from rag.text.mapped import MappedText
from rag.text.page import PageSection


class Role(StrEnum):
    """A speaker in a conversation."""

    USER = "user"
    ASSISTANT = "assistant"


class RefusalReason(StrEnum):
    """Why a question was not answered."""

    NOTHING_RELEVANT = "nothing_relevant"
    MISSING_TERMS = "missing_terms"
    NO_SUPPORTED_CLAIM = "no_supported_claim"


class AnswerKind(StrEnum):
    """Kind of reply: an answer, a pointer to the nearest material, a refusal, or a question back to the reader."""

    ANSWER = "answer"
    NEAREST = "nearest"
    REFUSAL = "refusal"
    CLARIFICATION = "clarification"


class StepKind(StrEnum):
    """An agent's step towards an answer. A `MISTAKE` is a call that reached no tool; after a `FALLBACK` the answer is
    written as without an agent, from everything retrieved."""

    SEARCH = "search"
    READ = "read"
    CALCULATE = "calculate"
    ASK = "ask"
    MISTAKE = "mistake"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch `source[start:end]` of a document."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that is embedded and found as one.

    `content.text` is the cleaned text; `content` maps it back to the source. `number` is its row in the vector and
    keyword indexes of one generation. `section` is the path of headings above it, outermost first. `blocks`
    are those of its text; blocks of one list have the same number in all passages of a document. `sections` are those
    of the blocks, in parallel.
    """

    number: int
    document: str
    title: str
    section: tuple[str, ...]
    content: MappedText
    also_in: tuple[Place, ...] = ()
    blocks: tuple[Block, ...] = ()
    sections: tuple[PageSection, ...] = field(default=(), hash=False)

    @property
    def text(self) -> str:
        return self.content.text

    @property
    def is_code(self) -> bool:
        """Whether most of it is code."""
        code = sum(block.end - block.start for block in self.blocks if block.kind is BlockKind.CODE)
        return 2 * code > len(self.text)

    @property
    def translated_into(self) -> Language | None:
        """The language of the translation that all of it belongs to; None for the page's own language, or several."""
        languages = {section.language for section in self.sections}
        return languages.pop() if len(languages) == 1 else None

    @property
    def start(self) -> int:
        return self.content.spans[0][0]

    @property
    def end(self) -> int:
        return self.content.spans[-1][1]


@dataclass(frozen=True, slots=True)
class RankAndScore:
    """A passage's rank in one search, from 1, and its raw score (higher is better)."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved passage. `score` is the fused score, about 0..1; `dense` and `keyword` say which search found it."""

    rank: int
    score: float
    passage: Passage
    dense: RankAndScore | None = None
    keyword: RankAndScore | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """One exact slice: `quote == source[start:end]`. `marker` is its number, written in the answer as [marker];
    `section` is the path of headings above the quote, outermost first."""

    marker: int
    document: str
    title: str
    start: int
    end: int
    quote: str
    page: int | None = None
    section: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer and the markers of the citations that support it."""

    text: str
    citations: tuple[int, ...]
    supported: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer, which names in the question the material lacks, and what it can answer instead; `only` is
    the searched part of the material, empty for all of it."""

    reason: RefusalReason
    missing: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seconds:
    """Time from the question to the end of retrieval, to the first showable text, and to the end."""

    retrieve: float = 0.0
    first_text: float = 0.0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an agent: its request, a short result, and the documents that it got to read. `result` of one that
    `failed` says why."""

    kind: StepKind
    request: str
    result: str = ""
    documents: tuple[str, ...] = ()
    failed: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ReadAs:
    """How a question was understood: in the material's words, and the earlier question that it follows, or None."""

    question: str
    follows: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply with its evidence.

    `left_out` counts a chat model's unsupported sentences, which are not shown; `fallback` is why quotes replaced its
    answer, or that this broke off. `courtesy` is set if the message did not ask about the material; `nearest` names
    questions that the material does answer, if it has no direct answer to this one. `steps` are the agent's, if one was
    used. `read_as` is None for a courtesy, and in answers stored before the field existed.
    """

    question: str
    search_queries: tuple[str, ...]
    text: str
    llm: str
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    refusal: Refusal | None = None
    seconds: Seconds = field(default_factory=Seconds)
    left_out: int = 0
    fallback: ChatModelProblem | None = None
    kind: AnswerKind = AnswerKind.ANSWER
    courtesy: Courtesy | None = None
    nearest: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    read_as: ReadAs | None = None

    @property
    def refused(self) -> bool:
        return self.refusal is not None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation. `refused` says that the assistant did not answer: nothing builds on a refusal."""

    role: Role
    text: str
    refused: bool = False
