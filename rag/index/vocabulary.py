"""The material's own vocabulary: words in its titles, tags and headings, their pronunciation, and terms given with
their translation ("投机解码（speculative decoding）").

Stored with a generation, or read from an open index when first needed; it maps a question's misspelt, transcribed and
translated words to the material's spelling.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rag.index.arrays import as_array, map_arrays, texts_of, write_arrays
from rag.language.terms import CHINESE_RUN, simplified

# Characters in a Chinese word of a name.
WORD_CHARACTERS = range(2, 8)
# Reading stops here: by then every common word has been seen.
MOST_NAMES, MOST_PASSAGES = 50_000, 20_000
# A shorter Chinese word before a bracket is likely the end of a longer one.
SHORTEST_TRANSLATED = 3
LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
LATIN_PHRASE = r"[A-Za-z][A-Za-z0-9.+/-]*(?: [A-Za-z0-9.+/-]+){0,4}"
BRACKETED = re.compile(rf"[（(]\s?(?:(?P<latin>{LATIN_PHRASE})|(?P<chinese>{CHINESE_RUN}))\s?[，,）)]")
# What stands before a bracket, sought so many characters back. A match from mid-word would only repeat the one from
# its beginning.
BEFORE = 160
CHINESE_BEFORE = re.compile(rf"({CHINESE_RUN})\s?\Z")
LATIN_BEFORE = re.compile(rf"(?<![A-Za-z])({LATIN_PHRASE})\s?\Z")


@dataclass(frozen=True, slots=True)
class MaterialVocabulary:
    """`words` counts the Chinese and the lowercased Latin words of names; `spellings` maps the latter to their most
    common spelling; `translations` maps a term, in lower case if Latin, to its equivalent in the other language."""

    words: Counter[str]
    spellings: dict[str, str]
    translations: dict[str, str]

    def save(self, prefix: Path) -> None:
        """Write it to files whose names begin with `prefix`."""
        written: dict[str, NDArray[Any]] = {
            "counts": np.fromiter(self.words.values(), np.int64),
            "words": as_array(self.words),
        }
        for name, texts in (("spelling", self.spellings), ("translation", self.translations)):
            written |= {f"{name}_keys": as_array(texts), f"{name}_values": as_array(texts.values())}
        write_arrays(prefix, written)

    @classmethod
    def load(cls, prefix: Path) -> "MaterialVocabulary | None":
        """What `save` wrote; None if nothing was. Verify the checksums first."""
        arrays = map_arrays(prefix)
        if not arrays:
            return None
        words = dict(zip(texts_of(arrays["words"]), arrays["counts"].tolist(), strict=True))
        spellings, translations = (
            dict(zip(texts_of(arrays[f"{name}_keys"]), texts_of(arrays[f"{name}_values"]), strict=True))
            for name in ("spelling", "translation")
        )
        return cls(Counter(words), spellings, translations)


@dataclass(frozen=True, slots=True)
class Sounds:
    """`words` maps pinyin without tones or spaces to the commonest word with that sound; `syllables` are those of all
    words."""

    words: dict[str, str]
    syllables: frozenset[str]


class VocabularySource(Protocol):
    """Names of documents and sections, and texts of passages, `most` of each."""

    def names(self, most: int) -> list[str]: ...
    def texts(self, most: int) -> list[str]: ...


def read_vocabulary(storage: VocabularySource) -> MaterialVocabulary:
    words: Counter[str] = Counter()
    names = storage.names(MOST_NAMES)
    spelt = Counter(LATIN_WORD.findall("\n".join(names)))
    spellings: dict[str, str] = {}
    for word, count in spelt.most_common():
        spellings.setdefault(word.lower(), word)
        words[word.lower()] += count
    for run, count in Counter(_runs(names)).items():  # headings repeat from document to document
        for start, end in _words_in(len(run)):
            words[run[start:end]] = words.get(run[start:end], 0) + count
    return MaterialVocabulary(words, spellings, _translations([*names, *storage.texts(MOST_PASSAGES)], words))


def read_sounds(storage: VocabularySource) -> Sounds:
    """How words of names sound; takes half a second, which questions of known words save."""
    counts: dict[str, int] = {}
    words: dict[str, str] = {}
    syllables: set[str] = set()
    for run in _runs(storage.names(MOST_NAMES)):
        spoken = pinyin(run)
        syllables.update(spoken)
        for start, end in _words_in(len(run)):
            word, sound = run[start:end], "".join(spoken[start:end])
            count = counts[word] = counts.get(word, 0) + 1
            if count > counts.get(words.get(sound, ""), 0):
                words[sound] = word
    return Sounds(words, frozenset(syllables))


@cache
def _words_in(size: int) -> tuple[tuple[int, int], ...]:
    """Start and end of each possible word in a name of so many characters."""
    return tuple((start, start + length) for length in WORD_CHARACTERS for start in range(size - length + 1))


@lru_cache(maxsize=1 << 15)  # the next generation has nearly the same names
def pinyin(chinese: str) -> tuple[str, ...]:
    """The syllable of each character, without its tone."""
    from pypinyin import lazy_pinyin  # loading its tables takes 0.5 s

    return tuple(lazy_pinyin(chinese))


def _runs(names: Iterable[str]) -> list[str]:
    return re.findall(CHINESE_RUN, simplified("\n".join(names)))


def _translations(texts: Iterable[str], words: Counter[str]) -> dict[str, str]:
    """Each term's most frequent adjacent translation. Where a Chinese term begins is unknown, so the longest ending of
    the run that is a word of some name is taken."""
    pairs: Counter[tuple[str, str]] = Counter()
    for chinese, latin in chain.from_iterable(map(_beside_brackets, texts)):
        word = _known_end(simplified(chinese), words)
        if word:
            pairs[word, latin] += 1
    translations: dict[str, str] = {}
    for (chinese, latin), _ in pairs.most_common():
        translations.setdefault(chinese, latin)
        translations.setdefault(latin.lower(), chinese)
    return translations


def _beside_brackets(text: str) -> Iterator[tuple[str, str]]:
    """Chinese and Latin terms of which one stands in brackets after the other."""
    for match in BRACKETED.finditer(text):
        start, end = max(0, match.start() - BEFORE), match.start()
        if match["latin"] and (before := CHINESE_BEFORE.search(text, start, end)):
            yield before[1], match["latin"]
        elif match["chinese"] and (before := LATIN_BEFORE.search(text, start, end)):
            yield match["chinese"], before[1]


def _known_end(chinese: str, words: Counter[str]) -> str:
    ends = (chinese[-length:] for length in reversed(WORD_CHARACTERS) if length <= len(chinese))
    known = next((end for end in ends if end in words), "")
    return known if len(known) >= SHORTEST_TRANSLATED else ""
