"""Questions that the material does answer, in place of one that it does not, or may not."""

from collections.abc import Iterable

from rag.index import Index
from rag.question.names import find_names
from rag.question.unheard import named_in
from rag.search.retrieval import Evidence
from rag.text.terms import terms

SUGGESTIONS = 3
# Of what a question names in plain words, more than this share makes its subject: a word by the way (今天) is in
# many a heading.
SUBJECT = 1 / 3


def suggest(index: Index, evidence: Evidence) -> tuple[str, ...]:
    """The nearest questions that the material answers, of those that speak of what was asked about: something is the
    nearest to any question, to one about dinner too."""
    headings = (
        next((name for name in (*hit.passage.section[::-1], hit.passage.title) if name.endswith(("?", "？"))), None)
        for hit in evidence.hits
    )
    return _of_its_subject(index, evidence.query, dict.fromkeys(filter(None, headings)))[:SUGGESTIONS]


def _of_its_subject(index: Index, question: str, others: Iterable[str]) -> tuple[str, ...]:
    """Those questions that share a name with this one, or the subject that its plain words make."""
    forms = [set(form) for name in find_names(index.keywords, question) for form in name.forms]
    named = set(named_in(question))

    def shares(other: str) -> bool:
        spoken_of = set(terms(other))
        return any(form <= spoken_of for form in forms) or len(named & spoken_of) > SUBJECT * len(named)

    return tuple(filter(shares, others))
