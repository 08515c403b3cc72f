"""The material's own words for things: what its titles, tags and headings name, how that sounds, and what stands beside
its translation ("投机解码（speculative decoding）").

Read from an open index when first needed; it says how a question's misspelt, transcribed and translated words are
written in the material.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from rag.language.terms import CHINESE_RUN, simplified

# A Chinese word of a name has so many characters.
WORD_CHARACTERS = range(2, 8)
# Names and passages beyond this are not read: by then every common word has been seen.
MOST_NAMES, MOST_PASSAGES = 50_000, 20_000
# A shorter Chinese word before a bracket is likely the end of a longer one.
SHORTEST_TRANSLATED = 3
LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
LATIN_PHRASE = r"[A-Za-z][A-Za-z0-9.+/-]*(?: [A-Za-z0-9.+/-]+){0,4}"
CHINESE_THEN_LATIN = re.compile(rf"({CHINESE_RUN})\s?[（(]\s?({LATIN_PHRASE})\s?[，,）)]")
# From the middle of a word the same end is reached as from its beginning.
LATIN_THEN_CHINESE = re.compile(rf"(?<![A-Za-z])({LATIN_PHRASE})\s?[（(]\s?({CHINESE_RUN})\s?[，,）)]")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`words` counts the words of names, Chinese and Latin ones in lower case; `spellings` maps the latter to how they
    are mostly written; `translations` maps a term, in lower case where it is Latin, to the one in the other
    language."""

    words: Counter[str]
    spellings: dict[str, str]
    translations: dict[str, str]


@dataclass(frozen=True, slots=True)
class Sounds:
    """`words` maps pinyin without tones or spaces to the commonest word that is spoken so, `syllables` are those of all
    words."""

    words: dict[str, str]
    syllables: frozenset[str]


class Named(Protocol):
    """What a vocabulary is read from: names of documents and sections, and texts of passages, so many at most."""

    def names(self, most: int) -> list[str]: ...
    def texts(self, most: int) -> list[str]: ...


def read_vocabulary(storage: Named) -> Vocabulary:
    words: Counter[str] = Counter()
    names = storage.names(MOST_NAMES)
    spelt = Counter(word for name in names for word in LATIN_WORD.findall(name))
    spellings: dict[str, str] = {}
    for word, count in spelt.most_common():
        spellings.setdefault(word.lower(), word)
        words[word.lower()] += count
    for run, count in Counter(_runs(names)).items():  # headings repeat from document to document
        for start, end in _words_of(run):
            words[run[start:end]] += count
    return Vocabulary(words, spellings, _translations([*names, *storage.texts(MOST_PASSAGES)], words))


def read_sounds(storage: Named) -> Sounds:
    """How the words of names are spoken: half a second that a question of known words is spared."""
    counts: Counter[str] = Counter()
    words: dict[str, str] = {}
    syllables: set[str] = set()
    for run in _runs(storage.names(MOST_NAMES)):
        spoken = pinyin(run)
        syllables.update(spoken)
        for start, end in _words_of(run):
            word = run[start:end]
            counts[word] += 1
            sound = "".join(spoken[start:end])
            if counts[word] > counts[words.get(sound, "")]:
                words[sound] = word
    return Sounds(words, frozenset(syllables))


def _words_of(run: str) -> Iterator[tuple[int, int]]:
    """Where the words that a name may hold begin and end in it."""
    for length in WORD_CHARACTERS:
        for start in range(len(run) - length + 1):
            yield start, start + length


@lru_cache(maxsize=1 << 15)  # the next generation has the same names, but for a few
def pinyin(chinese: str) -> tuple[str, ...]:
    """The syllable of each character, without its tone."""
    from pypinyin import lazy_pinyin  # its tables take half a second to load

    return tuple(lazy_pinyin(chinese))


def _runs(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from re.findall(CHINESE_RUN, simplified(name))


def _translations(texts: Iterable[str], words: Counter[str]) -> dict[str, str]:
    """Terms with the translation that stands beside them most often. The Chinese one begins somewhere in the text
    before it: the longest end of it that is a word of some name is taken."""
    pairs: Counter[tuple[str, str]] = Counter()
    for text in texts:
        found = [(match[1], match[2]) for match in CHINESE_THEN_LATIN.finditer(text)]
        found += [(match[2], match[1]) for match in LATIN_THEN_CHINESE.finditer(text)]
        for chinese, latin in found:
            word = _known_end(simplified(chinese), words)
            if word:
                pairs[word, latin] += 1
    translations: dict[str, str] = {}
    for (chinese, latin), _ in pairs.most_common():
        translations.setdefault(chinese, latin)
        translations.setdefault(latin.lower(), chinese)
    return translations


def _known_end(chinese: str, words: Counter[str]) -> str:
    ends = (chinese[-length:] for length in reversed(WORD_CHARACTERS) if length <= len(chinese))
    known = next((end for end in ends if words[end]), "")
    return known if len(known) >= SHORTEST_TRANSLATED else ""
