"""A question as it was read, before anything is searched for it as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag.language.asking import asks, names_its_subject, parts
from rag.language.comparison import Comparison, compare
from rag.question.follow_ups import Standalone


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """The standalone question and its sides, if it compares, or its parts, if it is about several subjects: each is
    searched beside the whole. `asks` are the several things that it asks; a later one about the same subject, or that
    names too little, is a follow-up of those before it."""

    standalone: Standalone
    comparison: Comparison | None = None
    parts: tuple[str, ...] = ()
    asks: tuple[Standalone, ...] = ()

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries, the whole question first."""
        return (self.standalone.query, *(self.comparison.questions if self.comparison else self.parts))

    @property
    def compared(self) -> tuple[str, ...]:
        """The sides of a comparison; none if it compares nothing."""
        return self.comparison.sides if self.comparison else ()


def question_of(standalone: Standalone) -> UserQuestion:
    """A follow-up is searched whole: its sides may be pronouns, and each would need its subject."""
    subjects: tuple[str, ...] = ()
    comparison = None
    things: list[Standalone] = []
    if not standalone.subject:
        subjects = parts(standalone.question)
        comparison = None if subjects else compare(standalone.question)
        for part in subjects or (standalone.question,):
            before = "" if names_its_subject(part) else " ".join(ask.question for ask in things)
            things += _asks_of(part, before)
    elif not standalone.restates and not standalone.replaces:
        things = _asks_of(standalone.question, standalone.subject)
    return UserQuestion(standalone, comparison, subjects, tuple(things) if len(things) > 1 else ())


def _asks_of(part: str, before: str = "") -> list[Standalone]:
    """Each thing asked about one subject, as a follow-up of those before it and of `before`."""
    asked: Sequence[str] = asks(part) or (part,)
    return [Standalone(ask, " ".join(filter(None, (before, *asked[:place])))) for place, ask in enumerate(asked)]
