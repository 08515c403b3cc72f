"""Which of the sentences of a text answers a question.

Terms count by their rarity among the given sentences, so a term that occurs in all of them decides nothing; a term of
the title is understood and counts little. The kind of thing asked for (a date, an amount, a cause, a place) counts
too.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag.index.keywords import idf_of
from rag.language.asking import ASKS_OF_A_SENTENCE, DEFINITION, KINDS
from rag.language.terms import CHINESE_RUN, fold, terms

# Softmax regression over the 273 development questions of ExpMRC's Chinese part
# (docs/results, `Evidence`), rounded.
# First picks that overlap the human evidence, in per cent (n = 273, so differences under 2 are noise):
#   left out  nothing  terms  characters  kind  opening  topic
#                85.4   85.0        81.3  83.2     80.6   81.3
# On the other half, of which only this figure was seen: 83.1.
WEIGHTS = {"terms": 0.5, "characters": 0.6, "kind": 1.4, "opening": 2.0}
# Weight of a term of the title.
TOPIC = 0.2


def relevance(question: str, sentences: Sequence[str], *, topic: str = "") -> NDArray[np.float32]:
    """How well each sentence answers the question, shape (len(sentences),), higher is better, comparable within a call.

    The first sentence counts as the opening of the text; `topic` is its title.
    """
    asked = fold(question)
    content = ASKS_OF_A_SENTENCE.sub(" ", asked)
    folded = [fold(sentence) for sentence in sentences]
    wanted = [holds for asks, holds in KINDS if asks.search(asked)]
    scores = (
        WEIGHTS["terms"] * _shared(set(terms(content)), [set(terms(text)) for text in folded], set(terms(topic)))
        + WEIGHTS["characters"]
        * _shared(_characters(content), [_characters(text) for text in folded], _characters(fold(topic)))
        + WEIGHTS["kind"]
        * np.asarray([sum(bool(holds.search(text)) for holds in wanted) for text in folded], np.float32)
    )
    if len(scores) and DEFINITION.search(asked):
        scores[0] += WEIGHTS["opening"]
    return np.asarray(scores, np.float32)


def _shared(wanted: set[str], held: Sequence[set[str]], topic: set[str]) -> NDArray[np.float32]:
    """Per sentence, the weight of the wanted terms that it holds: the idf of Lucene's BM25 over these sentences."""
    scores = np.zeros(len(held), np.float32)
    for term in wanted:
        holds = np.asarray([term in terms_held for terms_held in held], bool)
        count = int(holds.sum())
        scores[holds] += (TOPIC if term in topic else 1.0) * idf_of(len(held), count)
    return scores


def _characters(folded: str) -> set[str]:
    return set("".join(re.findall(CHINESE_RUN, folded)))
