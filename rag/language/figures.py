"""Numbers in a text, and quantities in words as figures."""

import re

from rag.language.lexicon import told_by
from rag.language.terms import fold

NUMBER = re.compile(r"\d+(?:\.\d+)?")
# "One" is no quantity (一般, one might); 两者 and both count nothing.
QUANTITY = told_by("figures", "quantity")
NO_QUANTITY = told_by("figures", "no_quantity")
DIGITS = str.maketrans("二两三四五六七八九", "223456789")
IN_FIGURES = {
    "十": "10", "百": "100", "千": "1000", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "half": "0.5", "twice": "2", "double": "2", "triple": "3",
}  # fmt: skip


def quantities(text: str) -> set[str]:
    """Quantities in words, as figures.

    >>> sorted(quantities("两个矩阵，十层")), quantities("两者都行")
    (['10', '2'], set())
    """
    found = QUANTITY.findall(NO_QUANTITY.sub(" ", fold(text)))
    return {IN_FIGURES.get(word, word.translate(DIGITS).removesuffix("者")) for word in found}
