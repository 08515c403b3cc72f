"""Which of the sentences of a text answers a question.

Terms count by their rarity among the given sentences, so a term that stands in all of them decides nothing; a term that
the title already has is understood and counts little. What kind of thing is asked for (a date, an amount, a cause, a
place) counts beside the terms.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag.language.terms import CHINESE_RUN, fold, terms

# Softmax regression over the 273 development questions of ExpMRC's Chinese part
# (docs/results, `Evidence`), rounded.
# First picks that overlap the human evidence, in per cent (n = 273, so differences under 2 are noise):
#   left out  nothing  terms  characters  kind  opening  topic
#                85.4   85.0        81.3  83.2     80.6   81.3
# The other half, of which only the figure was looked at: 83.1.
WEIGHTS = {"terms": 0.5, "characters": 0.6, "kind": 1.4, "opening": 2.0}
# What a term of the title counts.
TOPIC = 0.2

ASKING = re.compile(
    r"哪些|哪个|哪里|哪儿|哪位|哪一|哪种|哪|什么|何时|何|谁|多少|几|怎么样|怎样|怎么|如何|为什么|吗|呢"
    r"|\b(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|the|a|an|of|in|to)\b"
)
# What is asked for, and what a sentence that gives it holds.
KINDS = (
    (
        re.compile(r"哪一?[年月日天]|何时|什么时[候间]|几[年月日]|时间|日期|年份|哪个世纪|\bwhen\b|\bwhat year\b"),
        re.compile(r"\d+[年月日]|世纪|年代|年间|\b(?:1[5-9]|20)\d\d\b"),
    ),
    (
        re.compile(r"几|多少|多[长高大远久重快]|\bhow (?:many|much|long|large|big|fast)\b"),
        re.compile(r"\d|[零一二两三四五六七八九十百千万亿]+[个次名人座部种条级集场届只艘张公米平分位倍层]"),
    ),
    (
        re.compile(r"为什么|为何|为啥|原因|因何|\bwhy\b"),
        re.compile(
            r"因|由于|所以|导致|为了|故|以致|从而|使|\bbecause\b|\bsince\b|\bdue to\b|\bso that\b|\btherefore\b"
        ),
    ),
    (
        re.compile(r"哪里|哪儿|何处|什么地[方带]|哪[个一]?[省市国区县州]|籍贯|故乡|\bwhere\b"),
        re.compile(r"位于|[坐座]落|分布|出生[于地]|[\u4e00-\u9fff]人[,。]|源于|地处|隶属|[省市县区州国]"),
    ),
)
# What the opening sentence of a text says of its subject.
DEFINITION = re.compile(
    r"是什么(?!时|地方|年)|什么是|是谁|谁的|属于|哪国人|哪个国家|哪里|籍贯|职业|哪一科"
    r"|\bwhat (?:is|are)\b|\bwho (?:is|was)\b"
)


def relevance(question: str, sentences: Sequence[str], *, topic: str = "") -> NDArray[np.float32]:
    """How well each sentence answers the question, shape (len(sentences),), higher is better, comparable within a call.

    The first sentence is taken for the opening of the text, `topic` is its title.
    """
    asked = fold(question)
    content = ASKING.sub(" ", asked)
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
        idf = np.log1p((len(held) - count + 0.5) / (count + 0.5))
        scores[holds] += (TOPIC if term in topic else 1.0) * idf
    return scores


def _characters(folded: str) -> set[str]:
    return set("".join(re.findall(CHINESE_RUN, folded)))
