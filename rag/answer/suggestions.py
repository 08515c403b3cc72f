"""Questions that the material does answer, to replace one that it does not, or may not."""

from collections.abc import Callable
from dataclasses import replace

from rag.index import Index
from rag.language.terms import terms
from rag.question.names import find_names
from rag.question.rare_terms import named_in
from rag.search.retrieval import Evidence

SUGGESTIONS = 3
# More than this share of a question's plain named terms makes its subject: an incidental word (今天) is in many a
# heading.
SUBJECT = 1 / 3


def suggest(index: Index, evidence: Evidence) -> tuple[str, ...]:
    """The nearest questions that the material answers, if they share the question's subject: every question has a
    nearest one, even one about dinner."""
    headings = (
        next((name for name in (*hit.passage.section[::-1], hit.passage.title) if name.endswith(("?", "？"))), None)
        for hit in evidence.hits
    )
    return tuple(filter(_is_of(index, evidence.query), dict.fromkeys(filter(None, headings))))[:SUGGESTIONS]


def near(index: Index, evidence: Evidence) -> Evidence:
    """The evidence for an unanswered question, reduced to the passages that share its subject."""
    is_of = _is_of(index, evidence.query)
    texts = ("\n".join((hit.passage.title, *hit.passage.section, hit.passage.text)) for hit in evidence.hits)
    return replace(evidence, hits=tuple(hit for hit, text in zip(evidence.hits, texts, strict=True) if is_of(text)))


def _is_of(index: Index, question: str) -> Callable[[str], bool]:
    """Whether a text shares a name with a question, or the subject made of its plain words."""
    forms = [set(form) for name in find_names(index.keywords, question) for form in name.forms]
    named = set(named_in(question))

    def is_of(text: str) -> bool:
        spoken_of = set(terms(text))
        return any(form <= spoken_of for form in forms) or len(named & spoken_of) > SUBJECT * len(named)

    return is_of
