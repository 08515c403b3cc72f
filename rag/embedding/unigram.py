"""The tokenizer of the default embedder: normalises a text, cuts it at spaces, and each word into its likeliest pieces.

`tokenizers` does the same three times as fast, but needs some 200 MB. The steps are read from `tokenizer.json`; a file
with other steps than `rag.models.e5` writes is refused. A test checks that both cut alike.
"""

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.embedding.normaliser import Normaliser, Places

Ids = NDArray[np.int32]

SPACE = "▁"
# How much less likely an unknown character is than the least likely piece, as in sentencepiece.
UNKNOWN = 10.0
# Stretches with cached pieces: most are a word, and recur.
STRETCHES_KEPT = 16_384
# Size of a bit table that says whether any piece contains a pair of characters; some pairs share a bit.
BITS = 1 << 22

Piece = tuple[int, int]  # its id, and how many characters of the word it takes


class Unigram:
    """Texts to the ids of their pieces, which `vocabulary` gives by piece. `special` are tokens that may be written out
    in a text. May be called from several threads."""

    def __init__(self, file: Path, special: Iterable[str]) -> None:
        """Raises OSError; ValueError, KeyError or TypeError for a file that is not ours."""
        stated = json.loads(file.read_text(encoding="utf-8"))
        model, cut = stated["model"], stated["pre_tokenizer"]
        if (model["type"], model["byte_fallback"]) != ("Unigram", False) or cut["prepend_scheme"] != "always":
            raise ValueError(f"{file.name} is not the tokenizer of the default embedder")
        self._normaliser = Normaliser(stated["normalizer"]["normalizers"])
        vocabulary: list[tuple[str, float]] = model.pop("vocab")
        self.vocabulary = {piece: number for number, (piece, _) in enumerate(vocabulary)}
        self._scores = np.array([score for _, score in vocabulary], np.float64).tolist()
        self._longest = {piece[0]: len(piece) for piece in sorted(self.vocabulary, key=len)}
        self._unknown = int(model["unk_id"])
        self._unknown_score = min(self._scores) - UNKNOWN
        self._special = {name: self.vocabulary[name] for name in special}
        longest_first = sorted(self._special, key=len, reverse=True)
        self._written = re.compile(f"({'|'.join(map(re.escape, longest_first))})")
        self._held = np.zeros(BITS, np.bool_)
        self._held[_pairs("\0".join(self.vocabulary))] = True
        self._kept = lru_cache(STRETCHES_KEPT)(self._best)

    def special(self, name: str) -> int:
        """The id of a special token."""
        return self._special[name]

    def ids(self, text: str) -> list[int]:
        """The ids of a text's own tokens, without those framing an input."""
        found: list[int] = []
        for place, part in enumerate(self._written.split(text)):
            if place % 2:
                found.append(self._special[part])
            else:
                found += [number for number, _ in self._pieces(_spaced(self._normaliser.normalised(part)))]
        return found

    def located(self, text: str) -> tuple[Ids, Places]:
        """These ids, shape (n,), and where each token begins and ends in the text, in characters, shape (n, 2)."""
        found, start = list[tuple[Ids, Places]](), 0
        for place, part in enumerate(self._written.split(text)):
            if place % 2:
                found.append(
                    (np.array([self._special[part]], np.int32), np.array([[start, start + len(part)]], np.int32))
                )
            else:
                ids, places = self._located(part)
                found.append((ids, places + start))
            start += len(part)
        ids, places = map(np.concatenate, zip(*found, strict=True))
        return ids, places

    def _located(self, part: str) -> tuple[Ids, Places]:
        normalised, places = self._normaliser.aligned(part)
        if normalised and not normalised.startswith(" "):
            places = np.concatenate([places[:1], places])  # the space inserted before the first word
        pieces = np.array(self._pieces(_spaced(normalised)), np.int32).reshape(-1, 2)
        ends = np.cumsum(pieces[:, 1])
        return pieces[:, 0], np.stack([places[ends - pieces[:, 1], 0], places[ends - 1, 1]], axis=1)

    def _pieces(self, text: str) -> list[Piece]:
        """Pieces of each stretch that no piece crosses; unknown characters in a row are one piece."""
        if not text:
            return []
        found: list[Piece] = []
        begins = ~self._held[_pairs(text)] | (_codes(text)[1:] == ord(SPACE))
        for start, end in pairwise([0, *(np.flatnonzero(begins) + 1).tolist(), len(text)]):
            pieces = self._kept(text[start:end])
            if found and found[-1][0] == self._unknown == pieces[0][0]:
                found[-1] = (self._unknown, found[-1][1] + pieces[0][1])
                pieces = pieces[1:]
            found += pieces
        return found

    def _best(self, word: str) -> tuple[Piece, ...]:
        """The likeliest pieces (Viterbi), the first of equal ones; unknown characters in a row are one piece."""
        ids, scores, longest, size = self.vocabulary, self._scores, self._longest, len(word)
        totals = [0.0, *[-np.inf] * size]
        last: list[Piece] = [(0, 0)] * (size + 1)
        for start in range(size):
            total = totals[start]
            for end in range(start + 1, min(size, start + longest.get(word[start], 1)) + 1):
                number = ids.get(word[start:end])
                if number is not None:
                    if total + scores[number] > totals[end]:
                        totals[end], last[end] = total + scores[number], (number, end - start)
                elif end == start + 1 and total + self._unknown_score > totals[end]:
                    totals[end], last[end] = total + self._unknown_score, (self._unknown, 1)
        found: list[Piece] = []
        while size:
            number, length = last[size]
            size -= length
            if found and found[-1][0] == self._unknown == number:
                length += found.pop()[1]
            found.append((number, length))
        return tuple(reversed(found))


def _spaced(normalised: str) -> str:
    """Each word with a space mark before it, the first too: "a b" -> "▁a▁b"."""
    marked = normalised.replace(" ", SPACE)
    return marked if not marked or marked.startswith(SPACE) else SPACE + marked


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def _pairs(text: str) -> NDArray[np.uint32]:
    """The bit of each pair of adjacent characters: a multiplicative hash of 22 bits."""
    codes = _codes(text)
    mixed: NDArray[np.uint32] = codes[:-1] * np.uint32(0x9E3779B1) ^ codes[1:] * np.uint32(0x85EBCA6B)
    return mixed >> np.uint32(10)
