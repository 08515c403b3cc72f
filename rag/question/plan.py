"""A question that stands alone -> its search queries."""

from dataclasses import dataclass

from rag.language.comparison import Comparison, compare
from rag.language.parts import parts
from rag.question.follow_ups import Standalone


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The standalone question and its sides, if it compares, or its parts, if it asks several things: each is searched
    beside the whole."""

    standalone: Standalone
    comparison: Comparison | None = None
    parts: tuple[str, ...] = ()

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries, the whole question first."""
        return (self.standalone.query, *(self.comparison.questions if self.comparison else self.parts))


def plan_search(standalone: Standalone) -> SearchPlan:
    """A follow-up is searched whole: its sides may be pronouns, and each would need its subject."""
    if standalone.subject:
        return SearchPlan(standalone)
    asked = parts(standalone.question)
    return SearchPlan(standalone, None if asked else compare(standalone.question), asked)
