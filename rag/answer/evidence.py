"""The search results for a question: as a whole and for each of its sides."""

from dataclasses import dataclass, replace

import numpy as np

from rag.question.follow_ups import Standalone
from rag.question.question import UserQuestion
from rag.search.retrieval import Evidence, merge
from rag.search.searcher import Searcher


@dataclass(frozen=True, slots=True)
class QuestionResults:
    """The search results for a question.

    `selection_query` selects the quotes: of a follow-up, its own words. `sides` holds the evidence for each side of a
    comparison, or each part of a question that asks several things; `evidence` includes all of it. The material says
    nothing about the `silent` sides. `subject_page` is the document about the subject that a follow-up leans on.
    """

    question: UserQuestion
    selection_query: str
    evidence: Evidence
    sides: tuple[Evidence, ...] = ()
    silent: tuple[str, ...] = ()
    subject_page: str = ""

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(side for side in self.question.compared or self.question.parts if side not in self.silent)

    @property
    def asks(self) -> tuple[Standalone, ...]:
        """The several asks about which the material says something; empty if only one is left."""
        known = tuple(ask for ask in self.question.asks if not any(ask.question in side for side in self.silent))
        return known if len(known) > 1 else ()

    @property
    def for_decision(self) -> Evidence:
        """The evidence that decides about a refusal. The subject of a follow-up was answered before, so its own words
        count; if they only ask for another form, the subject."""
        standalone = self.question.standalone
        if standalone.restates:
            return replace(self.evidence, query=standalone.subject)
        return replace(self.evidence, query=self.selection_query) if standalone.said else self.evidence


def run_search(searcher: Searcher, question: UserQuestion) -> QuestionResults:
    """Search the question, and each side separately, so that the first hits cover all sides."""
    standalone = question.standalone
    before = standalone.subject
    whole, *sides = searcher.search([*question.queries, before] if before else question.queries)
    whole = replace(whole, query=standalone.text)
    if not sides or before:
        if not before:
            return QuestionResults(question, standalone.text, whole)
        hits = sides[0].hits
        page = hits[0].passage.document if hits else ""
        return QuestionResults(question, standalone.own_words, whole, subject_page=page)
    return QuestionResults(question, standalone.question, merge((whole, *sides), searcher.k), tuple(sides))


def selection_evidence(searcher: Searcher, result: QuestionResults) -> Evidence:
    """The evidence with the query that selects the quotes."""
    return _by_own_words(searcher, result.evidence, result.selection_query)


def ask_evidence(searcher: Searcher, ask: Standalone) -> Evidence:
    """The evidence for one of several things that a question asks."""
    [evidence] = searcher.search([ask.query])
    return _by_own_words(searcher, evidence, ask.own_words)


def _by_own_words(searcher: Searcher, evidence: Evidence, question: str) -> Evidence:
    """The evidence with the query that selects the quotes. For a follow-up the user's words weigh 2, the resolved
    subject 1."""
    whole = evidence.encoded
    selecting = replace(evidence, query=question)
    if question == evidence.query or whole is None:
        return selecting
    own = searcher.encode(question)
    tokens = np.concatenate([whole.tokens, own.tokens, own.tokens])
    token_ids = np.concatenate([whole.token_ids, own.token_ids, own.token_ids])
    return replace(selecting, encoded=replace(whole, tokens=tokens, token_ids=token_ids))
