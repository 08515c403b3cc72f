"""The reader's choices about how questions are answered."""

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
    """How long an answer is. Without a chat model, at most `characters` are quoted, and `cut` divides how far a section
    may score below the best one. `evidence` scales the default amount of text that a model reads; `wish` is the
    instruction to it, in Chinese (True) and in English."""

    characters: int
    cut: float
    evidence: float
    wish: dict[bool, str]


# An answer of thirty seconds, of a minute or two, and most of the page.
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
    """How soon to refuse a question because the material does not seem to answer it."""

    BOLD = "bold"
    BALANCED = "balanced"
    CAUTIOUS = "cautious"


# How far the log odds against an answer may exceed the threshold before refusal. Of 219 answerable development
# questions 0, 1 and 9 were refused, of 108 near misses 58, 83 and 89; the fit saw all of them.
MARGINS = {Caution.BOLD: 1.5, Caution.BALANCED: 0.0, Caution.CAUTIOUS: -1.0}


@dataclass(frozen=True, slots=True)
class Choices:
    """Deviations from the settings; None keeps the setting. `only_supported` omits unsupported sentences of a chat
    model instead of marking them; `for_model` quotes no sentence that gives orders to a model, since one will read the
    answer; `only` names the documents and folders to answer from (see `rag.index.part`); `follows` is the reader's
    statement whether the question follows the talk before it; `begun` is the text that a chat model wrote before its
    reply broke off, and continues: None means that nobody can continue a broken reply, so quotes replace it; `language`
    is the reader's, if known: a bare name as a question reveals none."""

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
