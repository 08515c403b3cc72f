"""What a question names beside what only asks, and how much of it stands in the material at all."""

import re

from rag.index import Index
from rag.language.terms import fold, terms

# What only asks, and names nothing.
ASKING = re.compile(
    r"^那么?|第[一二三四五六七八九十\d]+[点条个步种项]?|另外?一?[个种]?|[其别]他?的?|[上下前后]面|最后|怎么样?|怎样|如何|咋样?"
    r"|什么|啥|多少|几[个条层种]?|哪[个些种里]?|为何|[吗呢啊吧的了是有会能要好不]|[帮给跟][我你您]|[讲说写请]一?[个下]?"
    r"|\b(?:what|how|why|when|where|who|which|is|are|was|were|do|does|did|has|have|can|could|will|would|should|the|a|an|about"
    r"|of|to|in|on|for|and|or|i|me|my|you|your|it|its|this|that|tell|give|show|say|please|there|s)\b"
)
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
    named = set(terms(ASKING.sub(" ", fold(question))))
    alone = {term for term in named if len(term) == 1 and not term.isascii()}
    return tuple(term for term in asked if term in named or alone & set(term)) or asked


def unheard_share(index: Index, question: str) -> float:
    """The share of the terms of a question that hardly stand in the material, of those that do more than ask; 0 where
    nothing is named."""
    named = [term for term in terms(ASKING.sub(" ", fold(question))) if len(term) > 1]
    hardly = HARDLY * index.keywords.passage_count
    return sum(index.keywords.frequency(term) <= hardly for term in named) / len(named) if named else 0.0
