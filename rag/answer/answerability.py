"""Features that tell whether the retrieved passages answer the question; none depends on the subject of the material.

The score of the best passages says little by itself: everyday words match everywhere, and a long question matches less
than a short one. So the score is compared with that of arbitrary passages for the same question. Other features concern
names: whether the material knows the question's names, and whether the best passages contain them.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index import Index
from rag.language.language import has_chinese
from rag.language.terms import terms
from rag.question.names import Name, NameKind, rarity, stands_in
from rag.question.unheard import named_in
from rag.search.fusion import DEFAULT
from rag.search.retrieval import Evidence

# The best passages are compared token by token with background passages spread evenly over the index.
BEST = 5
# Pages whose written questions are searched, besides the best passages, for what is named.
PAGES = 5
# The question's names should occur in one of the first passages.
FIRST = 3


@dataclass(frozen=True, slots=True)
class AnswerabilityFeatures:
    """`match` is the best passage score, some 0.7..1, from late interaction (without token vectors, the cosine) and
    keyword share; `lead` is its margin in similarity over background passages, 0..0.3. `unknown_…` is 1 if the question
    contains a name of that kind that the material lacks, else 0. `uncovered` is the rarity, 0..1, of the rarest name
    that the material has but the first passages lack. `chinese` is 1 for a question in Chinese: other questions match
    less."""

    match: float
    lead: float
    unknown_name: float
    unknown_word: float
    unknown_capital: float
    uncovered: float
    chinese: float

    def row(self) -> NDArray[np.float64]:
        return np.asarray(astuple(self), np.float64)


def read_features(index: Index, evidence: Evidence, names: Sequence[Name]) -> AnswerabilityFeatures | None:
    """The features, given the names in the question; None if nothing was found or nothing asked."""
    question = evidence.encoded
    if question is None or not evidence.hits or (index.tokens is not None and not len(question.tokens)):
        return None
    best = np.asarray([hit.passage.number for hit in evidence.hits[:BEST]], np.int64)
    numbers = np.concatenate([best, index.vectors.background()])
    if index.tokens is not None:
        likeness = index.tokens.scores(question, numbers)
    else:
        likeness = index.vectors.rows(numbers.tolist()) @ question.vector
    found, others = likeness[: len(best)], likeness[len(best) :]
    asked = terms(evidence.query)
    shares = index.keywords.match(asked).of(best) / max(index.keywords.ceiling(asked), 1e-6)
    unknown = {name.kind for name in names if not name.forms}
    return AnswerabilityFeatures(
        match=float((found + DEFAULT.token_weight * shares).max()),
        lead=float(found.max() - others.mean()),
        unknown_name=float(NameKind.NAME in unknown),
        unknown_word=float(NameKind.WORD in unknown),
        unknown_capital=float(NameKind.CAPITAL in unknown),
        uncovered=max(
            (
                rarity(index.keywords, name)
                for name in names
                if name.forms and not name.guessed and not stands_in(index.keywords, name, best[:FIRST])
            ),
            default=0.0,
        ),
        chinese=float(has_chinese(evidence.query)),
    )


def unspoken_share(index: Index, evidence: Evidence) -> float | None:
    """The share, 0..1, of the question's named terms that occur neither in the best passages nor in the written
    questions of the best pages: an everyday question shares its asking words with the material, but hardly its named
    terms. None if the first page has no written questions: such a page may express the same in other words."""
    pages = list(dict.fromkeys(hit.passage.document for hit in evidence.hits))[:PAGES]
    written = [index.asked.of(page) for page in pages]
    if not written or not written[0]:
        return None
    spoken: set[str] = set()
    for of_page in written:
        for heading, questions in of_page.items():
            spoken.update(terms(heading), *questions)
    for hit in evidence.hits[:BEST]:
        spoken.update(terms(" ".join([hit.passage.title, *hit.passage.section, hit.passage.text])))
    named = set(named_in(evidence.query))
    named = {term for term in named if len(term) > 1} or named
    return len(named - spoken) / len(named) if named else 0.0
