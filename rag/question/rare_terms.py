"""The terms that a question names besides asking words, how rare they are, and how many of them the material has."""

from rag.index import Index
from rag.language.asking import ONLY_ASKS
from rag.language.terms import fold, own_weight, terms

# A term in no more than this share of the passages hardly occurs: it is incidental, or its characters meet across two
# words.
HARDLY = 1 / 2_000


def named_in(question: str) -> tuple[str, ...]:
    """The terms of a question that name something; all terms if none does. A single character between asking words
    counts through its neighbours.

    >>> named_in("LoRA 的秩怎么选？")
    ('lora', '的秩', '秩怎', '么选')
    """
    asked = terms(question)
    named = set(terms(ONLY_ASKS.sub(" ", fold(question))))
    alone = {term for term in named if len(term) == 1 and not term.isascii()}
    return tuple(term for term in asked if term in named or alone & set(term)) or asked


def rarity_in_passages(index: Index, term: str) -> float:
    """A term's weight by its rarity among the passages: how much it tells which passage is asked for."""
    return index.keywords.ceiling([term]) * own_weight(term)


def hardly_heard(index: Index, term: str) -> bool:
    """Whether a term hardly occurs in the material."""
    return index.keywords.frequency(term) <= HARDLY * index.keywords.passage_count


def unheard_share(index: Index, question: str) -> float:
    """The share of a question's named terms that hardly occur in the material; 0 if it names nothing."""
    named = [term for term in terms(ONLY_ASKS.sub(" ", fold(question))) if len(term) > 1]
    return sum(hardly_heard(index, term) for term in named) / len(named) if named else 0.0
