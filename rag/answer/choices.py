"""What a reader can choose about how questions are answered."""

from dataclasses import dataclass
from enum import StrEnum

from rag.language.language import Language
from rag.settings import ChatModelName


class StyleName(StrEnum):
    SHORT = "short"
    STANDARD = "standard"
    DEEP = "deep"


@dataclass(frozen=True, slots=True)
class AnswerStyle:
    """How much is said. Where no model writes, at most `characters` are quoted, and how far a section may be below the
    best one is divided by `cut`. `evidence` is what a model is given to read, as a share of what it is given by
    default; `wish` is what it is told in Chinese (True) and in English."""

    characters: int
    cut: float
    evidence: float
    wish: dict[bool, str]


# What can be said in thirty seconds, in a minute or two, and most of what the page has.
STYLES = {
    StyleName.SHORT: AnswerStyle(350, 4.0, 0.6, {True: "只用两三句话回答。", False: "Use two or three sentences."}),
    StyleName.STANDARD: AnswerStyle(1_200, 1.0, 1.0, {True: "", False: ""}),
    StyleName.DEEP: AnswerStyle(
        3_000,
        0.5,
        1.5,
        {True: "分点展开：原理、细节、数字、取舍。", False: "Go into detail: how, why, with numbers."},
    ),
}


class Caution(StrEnum):
    """How soon a question is refused because the material does not seem to answer it."""

    BOLD = "bold"
    BALANCED = "balanced"
    CAUTIOUS = "cautious"


# What the odds against an answer, as a logarithm, may be above the threshold before it is refused. Of 219 development
# questions that have an answer 0, 1 and 9 were refused, of 108 near misses 58, 83 and 89, all seen in the fit.
MARGINS = {Caution.BOLD: 1.5, Caution.BALANCED: 0.0, Caution.CAUTIOUS: -1.0}


@dataclass(frozen=True, slots=True)
class Choices:
    """What differs from the settings; None is as they say. `only_supported` leaves out the sentences of a chat model
    that nothing supports, instead of marking them; `for_model` quotes no sentence that gives orders to a model, since
    one will read the answer; `only` names the documents and folders to answer from (see `rag.index.scope`); `follows`
    says, where a reader does, whether the question follows the talk before it; `begun` is what a chat model wrote
    before its reply broke off, which it goes on from: where that is None nobody could go on, and quotes take its
    place; `language` is that of the reader, where it is known: a bare name that is asked about tells none."""

    llm: ChatModelName | None = None
    style: StyleName = StyleName.STANDARD
    caution: Caution = Caution.BALANCED
    only_supported: bool = True
    top_k: int | None = None
    for_model: bool = False
    only: tuple[str, ...] = ()
    follows: bool | None = None
    begun: str | None = None
    language: Language | None = None

    @property
    def answer_style(self) -> AnswerStyle:
        return STYLES[self.style]

    @property
    def margin(self) -> float:
        return MARGINS[self.caution]
