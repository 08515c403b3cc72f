"""A question that stands alone -> what is searched for it."""

from dataclasses import dataclass

from rag.language.comparison import Comparison, compare
from rag.language.parts import parts
from rag.question.follow_ups import Standalone


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The question that stands alone and, where it compares, its sides, or where it asks several things, its parts:
    each is searched beside the whole."""

    standalone: Standalone
    comparison: Comparison | None = None
    parts: tuple[str, ...] = ()

    @property
    def queries(self) -> tuple[str, ...]:
        """What is searched, the whole question first."""
        return (self.standalone.query, *(self.comparison.questions if self.comparison else self.parts))


def plan_search(standalone: Standalone) -> SearchPlan:
    """The sides of a follow-up may be pronouns, and its subject would have to be put to each: it is searched whole."""
    if standalone.subject:
        return SearchPlan(standalone)
    asked = parts(standalone.question)
    return SearchPlan(standalone, None if asked else compare(standalone.question), asked)
