"""Normalises a text before tokenization, and maps each character of the result to its place in the text."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Of each character of a text, where what it comes from begins and ends in another, shape (n, 2).
Places = NDArray[np.int32]
Aligned = tuple[str, Places]

_CODE = re.compile(r"\\x\{([0-9A-F]+)\}")


class Normaliser:
    """The steps of a `tokenizer.json` that `rag.models.e5` writes: replacements, NFKC, no outer spaces."""

    def __init__(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Raises ValueError or KeyError for other steps."""
        self._plain, self._aligned = zip(*map(_step, steps), strict=True)

    def normalised(self, text: str) -> str:
        for step in self._plain:
            text = step(text)
        return text

    def aligned(self, text: str) -> Aligned:
        """The normalised text, and the original place of each of its characters."""
        begins = np.arange(len(text), dtype=np.int32)
        found: Aligned = text, np.stack([begins, begins + 1], axis=1)
        for step in self._aligned:
            found = step(*found)
        return found


def _step(stated: Mapping[str, Any]) -> tuple[Callable[[str], str], Callable[[str, Places], Aligned]]:
    match stated["type"]:
        case "Replace":
            pattern, content = _pattern(stated["pattern"]), str(stated["content"])
            return lambda text: pattern.sub(content, text), lambda text, places: _replaced(
                text, places, pattern, content
            )
        case "NFKC":
            return lambda text: unicodedata.normalize("NFKC", text), _composed
        case "Strip":
            return str.strip, _stripped
    raise ValueError(f"it normalises by {stated['type']}")


def _pattern(stated: Mapping[str, str]) -> re.Pattern[str]:
    if "String" in stated:
        return re.compile(re.escape(stated["String"]))
    return re.compile(_CODE.sub(lambda code: f"\\U{int(code[1], 16):08X}", stated["Regex"]))


def _replaced(text: str, places: Places, pattern: re.Pattern[str], content: str) -> Aligned:
    """Inserted text takes the place of the last replaced character."""
    parts, kept, end = list[str](), list[int](), 0
    for found in pattern.finditer(text):
        parts += [text[end : found.start()], content]
        kept += [*range(end, found.start()), *[found.end() - 1] * len(content)]
        end = found.end()
    if not parts:
        return text, places
    return "".join([*parts, text[end:]]), places[[*kept, *range(end, len(text))]]


def _composed(text: str, places: Places) -> Aligned:
    """A composed character comes from its first component."""
    if unicodedata.is_normalized("NFKC", text):
        return text, places
    whole = unicodedata.normalize("NFKC", text)
    if len(whole) == len(text) and not any(map(_joins, set(text))):
        return whole, places  # each becomes at least one, so here one becomes one
    parts, kept, start = list[str](), list[int](), 0
    while start < len(text):
        end = start + 1
        while end < len(text) and _joins(text[end]):
            end += 1
        made = unicodedata.normalize("NFKC", text[start:end])
        parts.append(made)
        # Characters from one share its place; of several combined, the last ones keep their places.
        kept += [start + max(0, end - start - len(made) + place) * (place > 0) for place in range(len(made))]
        start = end
    return "".join(parts), places[kept]


@lru_cache(4_096)
def _joins(character: str) -> bool:
    """Whether it may combine with the character before it: marks, and the later letters of a Hangul syllable."""
    folded = unicodedata.normalize("NFKC", character)
    return unicodedata.category(folded[0])[0] == "M" or "\u1160" <= folded[0] <= "\u11ff"


def _stripped(text: str, places: Places) -> Aligned:
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    return text[start:end], places[start:end]
