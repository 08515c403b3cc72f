"""What a question names beside what only asks, and how much of it stands in the material at all."""

from rag.index import Index
from rag.language.asking import ONLY_ASKS
from rag.language.terms import fold, terms

# What stands in no more than this share of the passages is hardly spoken of: it stands there by the way, or its
# characters meet across two words.
HARDLY = 1 / 2_000


def named_in(question: str) -> tuple[str, ...]:
    """The terms of a question that name something; all of them where none does. A character that stands alone between
    what only asks is known by its neighbours.

    >>> named_in("LoRA 的秩怎么选？")
    ('lora', '的秩', '秩怎', '么选')
    """
    asked = terms(question)
    named = set(terms(ONLY_ASKS.sub(" ", fold(question))))
    alone = {term for term in named if len(term) == 1 and not term.isascii()}
    return tuple(term for term in asked if term in named or alone & set(term)) or asked


def unheard_share(index: Index, question: str) -> float:
    """The share of the terms of a question that hardly stand in the material, of those that do more than ask; 0 where
    nothing is named."""
    named = [term for term in terms(ONLY_ASKS.sub(" ", fold(question))) if len(term) > 1]
    hardly = HARDLY * index.keywords.passage_count
    return sum(index.keywords.frequency(term) <= hardly for term in named) / len(named) if named else 0.0
