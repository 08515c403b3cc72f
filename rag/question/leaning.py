"""Whether a message continues the talk or begins anew.

Two readings are always searched: the message alone, and the message preceded by the subject of the talk. A logistic
regression combines features of both: the passages that each finds, how much the message names, and whether a word
points back; none decides alone.
"""

import re
from dataclasses import astuple, dataclass

import numpy as np

from rag.index import Index
from rag.language.pointing import points_back
from rag.language.terms import CHINESE, fold, terms
from rag.question.rare_terms import named_in, rarity_in_passages, unheard_share
from rag.search.retrieval import CANDIDATES
from rag.search.searcher import Searcher

# First passages whose pages' names are compared with the message.
FIRST = 5
# New names are counted up to this number.
MAX_NEW_NAMES = 3
LATIN_NAME = re.compile(r"[a-z0-9]{2,}")
WORD = re.compile(rf"[a-z0-9][\w.+-]*|{CHINESE}")


@dataclass(frozen=True, slots=True)
class LeaningFeatures:
    """Features that show whether a message leans on the talk; as weights, how much each counts, in log odds. Fitted by
    `python -m tools.fit.follow_ups` (docs/results/follow_ups.md).

    `lead` is the margin of the best passage for the message alone over the best one of the talk's page; `alone` and
    `in_talk` are the scores of the best passages of both readings, `alike` the cosine of the message with the talk's
    subject. `terms`, `words` and `rarity` measure how much the message names, `latin` whether it has a name in Latin
    letters, `new_names` how many of these are new, `unheard` the share of named terms that the material hardly has;
    `points_back` and `compares` are 1 if its words do so. `titled` is the share of named terms, by rarity, in one name
    of a retrieved page other than the talk's, and `held` that in the talk's page.
    """

    lead: float
    alone: float
    in_talk: float
    alike: float
    terms: float
    words: float
    rarity: float
    latin: float
    new_names: float
    unheard: float
    points_back: float
    compares: float
    titled: float
    held: float


@dataclass(frozen=True, slots=True)
class Leaning:
    """A logistic regression: log odds are offset plus weighted sum of the features."""

    offset: float
    weights: LeaningFeatures


# For the default embedder with token vectors. Others score on other scales: for them only the words count.
BY_SEARCH = Leaning(
    -36.08,
    LeaningFeatures(
        lead=-17.04, alone=-21.48, in_talk=50.93, alike=18.81, terms=-0.13, words=-0.08, rarity=-0.02, latin=-1.46,
        new_names=0.17, unheard=-1.56, points_back=3.64, compares=-2.68, titled=-2.86, held=3.15,
    ),
)  # fmt: skip
BY_WORDS = Leaning(
    2.77,
    LeaningFeatures(
        lead=0.0, alone=0.0, in_talk=0.0, alike=0.0, terms=-0.14, words=-0.05, rarity=-0.01, latin=-1.20,
        new_names=-0.28, unheard=-1.14, points_back=3.61, compares=-1.95, titled=-5.11, held=5.79,
    ),
)  # fmt: skip
FITTED_OVER = "multilingual-e5-small"


def leaning_features(searcher: Searcher, message: str, *, subject: str, said: str, compares: bool) -> LeaningFeatures:
    """The features of a message after a talk about `subject`, whose last answer was `said`."""
    folded = fold(message).strip()
    index = searcher.index
    [alone] = (evidence.hits for evidence in searcher.search([message], k=CANDIDATES))
    before, in_talk = (evidence.hits for evidence in searcher.search([subject, f"{subject} {message}"], k=1))
    page = before[0].passage.document if before else ""
    of_talk = [hit.score for hit in alone if hit.passage.document == page] or [hit.score for hit in alone[-1:]]
    own, named = set(terms(message)), named_in(message)
    rarity = {term: rarity_in_passages(index, term) for term in named}

    def covered(held: set[str]) -> float:
        return sum(rarity[term] for term in rarity.keys() & held) / max(sum(rarity.values()), 1e-6)

    elsewhere = {hit.passage.document for hit in alone[:FIRST]} - {page}
    names = [name for document in elsewhere for name in index.storage.known_as(document)]
    of_page = index.storage.passages(list(index.storage.document_numbers(page))) if page else []
    new = own - set(terms(f"{subject} {said}"))
    return LeaningFeatures(
        lead=alone[0].score - max(of_talk) if alone else 0.0,
        alone=alone[0].score if alone else 0.0,
        in_talk=in_talk[0].score if in_talk else 0.0,
        alike=float(searcher.encode(subject).vector @ searcher.encode(message).vector),
        terms=float(len(own)),
        words=float(len(WORD.findall(folded))),
        rarity=sum(rarity.values()),
        latin=float(LATIN_NAME.search(folded) is not None),
        new_names=float(min(MAX_NEW_NAMES, sum(len(term) > 1 and term.isascii() for term in new))),
        unheard=unheard_share(index, folded),
        points_back=float(points_back(folded)),
        compares=float(compares),
        titled=max((covered(set(terms(name))) for name in names), default=0.0),
        held=covered({term for passage in of_page for term in terms(passage.text)}),
    )


def leaning(index: Index, features: LeaningFeatures) -> float:
    """Log odds that the message leans on the talk."""
    is_fitted = index.tokens is not None and index.manifest.embedder_name == FITTED_OVER
    fitted = BY_SEARCH if is_fitted else BY_WORDS
    return fitted.offset + float(np.dot(astuple(features), astuple(fitted.weights)))
