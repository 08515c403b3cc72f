"""A message and the talk before it -> the question, read once for all stages after."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag.index import Index
from rag.question.follow_ups import Standalone, names_something, recent, stand_alone
from rag.question.question import UserQuestion, question_of
from rag.question.rewriting import rewrite
from rag.question.wording import in_the_materials_words
from rag.search.searcher import Searcher
from rag.types import Role, Turn

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


def read(
    searcher: Searcher,
    message: str,
    history: Sequence[Turn],
    *,
    is_refused: Callable[[UserQuestion], bool],
    follows: bool | None = None,
    rewriter: "BaseChatModel | None" = None,
) -> UserQuestion:
    """The question in the material's words, made to stand alone by rules; if these are in doubt, the `rewriter` does
    it. If a message can be read in two ways, `is_refused` tells which of them the material can answer. `follows` is
    the reader's statement whether the message follows the talk."""
    index = searcher.index
    words = in_the_materials_words(index, message)
    asked = stand_alone(searcher, words, _in_the_materials_words(index, recent(history)), follows=follows)
    if asked.in_doubt and rewriter is not None:
        rewritten = rewrite(rewriter, asked.question, _in_the_materials_words(index, history))
        asked = Standalone(rewritten) if rewritten else asked
    in_talk = question_of(asked)
    if not asked.subject or follows is not None:
        return in_talk
    alone = question_of(Standalone(words))
    if not asked.leans:
        # Words that need not lean on the talk are read alone if the material is silent about them.
        return alone if is_refused(alone) else in_talk
    # The material may lack the subject leant on, but have the question's names.
    return alone if names_something(words) and is_refused(in_talk) and not is_refused(alone) else in_talk


def _in_the_materials_words(index: Index, turns: Sequence[Turn]) -> list[Turn]:
    """What the reader said; answers stay as they are."""
    return [
        replace(turn, text=in_the_materials_words(index, turn.text)) if turn.role is Role.USER else turn
        for turn in turns
    ]
