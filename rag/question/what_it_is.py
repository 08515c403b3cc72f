"""Whether a question only asks what something is, judged by the words around its name."""

import re
import tomllib
from collections.abc import Collection
from functools import cache
from math import exp
from pathlib import Path

from rag.language.terms import CHINESE_RUN, TERM, fold

WEIGHTS = Path(__file__).with_name("what_it_is.toml")
LATIN_WORD = re.compile(r"[a-z0-9]+")
# Characters of a piece of Chinese: enough for 是什么, too few for a name.
LONGEST_PIECE = 3


def asks_what_it_is(question: str, name: Collection[str]) -> float:
    """The probability, from 0 to 1, that a question asks what a thing is and nothing else about it. `name` holds the
    terms that name the thing; a question of nothing but the name asks just that.

    Logistic regression over the pieces around the name, fitted to the written questions of corpus/: those of
    definitions, and those of other sections of the same pages (`python -m tools.fit.what_it_is`).
    """
    around = pieces_around(question, name)
    if not around:
        return 1.0
    intercept, weights = _weights()
    log_odds = intercept + sum(weights.get(piece, 0.0) for piece in around)
    return 1 / (1 + exp(-log_odds))


def pieces_around(question: str, name: Collection[str]) -> set[str]:
    """The Latin words and short pieces of Chinese that stand beside a name.

    >>> sorted(pieces_around("MoE 是啥", ["moe"]))
    ['啥', '是', '是啥']
    """
    rest = _without(fold(question), name)
    chinese = [run[0] for run in re.finditer(CHINESE_RUN, rest)]
    pieces = {
        run[start : start + length]
        for run in chinese
        for length in range(1, LONGEST_PIECE + 1)
        for start in range(len(run) - length + 1)
    }
    return pieces | set(LATIN_WORD.findall(rest))


def _without(text: str, name: Collection[str]) -> str:
    """A folded text with a space in place of each character of the name."""
    kept = list(text)
    for match in TERM.finditer(text):
        word, start = match[0], match.start()
        if match["latin"] and word in name:
            kept[start : match.end()] = " " * len(word)
        elif match["chinese"]:
            for place in range(len(word) - 1):
                if word[place : place + 2] in name:
                    kept[start + place : start + place + 2] = "  "
    return "".join(kept)


@cache
def _weights() -> tuple[float, dict[str, float]]:
    written = tomllib.loads(WEIGHTS.read_text(encoding="utf-8"))
    return written["intercept"], written["pieces"]
