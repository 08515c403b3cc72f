"""The names in a question, and whether the material contains them.

Chinese texts in this field keep the names of models, methods and programs in Latin letters, so a word in Latin letters
is more often than not a name. Names are recognised by their spelling; there is no list of them.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from rag.index.keywords import idf_of
from rag.index.store import KeywordSearch
from rag.language.language import has_chinese
from rag.language.terms import LATIN_TERM, fold

LATIN_NAME = re.compile(LATIN_TERM, re.IGNORECASE)
# Written like a name: GRPO, LoRA, iPhone, W4A16, ZeRO-3; not 80G or 0.3ms.
NAME = re.compile(r"(?=\D)(?:.*[A-Z][A-Za-z]*[A-Z]|.*[a-z][A-Z]|.*[A-Za-z]-?\d|.*_)")
# An amount with its unit (7b, 4bit, 0.3ms, 50%), a version, or a rank (top50): part of a name at most.
AMOUNT = re.compile(r"v?\d[\d.,]*[a-z]{0,4}|top[-_]?\d+")
OPENING, CLOSING = "\"'`“‘「", "\"'`”’」"
VERSION = re.compile(r"v?\d+")
# Latin words in Chinese questions that name nothing.
FUNCTION_WORDS = frozenset(
    ("vs", "versus", "and", "or", "the", "of", "in", "is", "what", "why", "how", "to", "for", "with", "ai", "vanilla")
)
SEPARATORS = re.compile(r"[-_.+#/&]")
# Optional separators; ZeRO++ is not ZeRO.
OPTIONAL = re.compile(r"[-_./&]")
# From this length, a name may stand for a known word that begins with it (temp, temperature).
SHORT_FORM = 4
# Letters that may be wrong, swapped or missing, by the length of the word: LLaVA is not a misspelt llama.
TYPOS = ((10, 2), (6, 1))


class NameKind(StrEnum):
    """How certain it is that a word is a name."""

    NAME = "name"  # written like a name
    WORD = "word"  # a plain Latin word in a Chinese question: mamba, or baseline
    CAPITAL = "capital"  # a capitalised word within another question: Ray, or Russian


@dataclass(frozen=True, slots=True)
class Name:
    """A name as the question writes it. Each of `forms` is a spelling in the material, as keyword terms that must all
    be present; none if the material lacks the name. `guessed` means that the form is only likely."""

    written: str
    kind: NameKind
    forms: tuple[tuple[str, ...], ...]
    guessed: bool = False


def find_names(keywords: KeywordSearch, question: str) -> list[Name]:
    """The names in a question, each once, in order."""
    text = unicodedata.normalize("NFKC", question)
    chinese = has_chinese(text)
    names: dict[str, Name] = {}
    for match in LATIN_NAME.finditer(text):
        written, folded = match[0], fold(match[0])
        if len(folded) < 2 or folded in FUNCTION_WORDS or AMOUNT.fullmatch(folded) or folded in names:
            continue
        quoted = text[: match.start()].endswith(tuple(OPENING)) and text[match.end() :].startswith(tuple(CLOSING))
        if NAME.match(written) or quoted or (chinese and written[0].isupper()):
            kind = NameKind.NAME
        elif chinese and not folded[0].isdigit():
            kind = NameKind.WORD
        elif written[0].isupper() and match.start():
            kind = NameKind.CAPITAL
        else:
            continue
        forms = _spellings(keywords, folded)
        guessed = () if forms or written[1:] != written[1:].lower() else _guesses(keywords, folded)
        names[folded] = Name(written, kind, forms or guessed, bool(guessed))
    return list(names.values())


def rarity(keywords: KeywordSearch, name: Name) -> float:
    """How rare a known name is, from 0 (in every passage) to 1 (almost nowhere): its idf as a share of the largest
    idf."""
    count = max((min(keywords.frequency(term) for term in form) for form in name.forms), default=0)
    return float(idf_of(keywords.passage_count, count) / idf_of(keywords.passage_count, 0))


def stands_in(keywords: KeywordSearch, name: Name, passages: NDArray[np.int64]) -> bool:
    """Whether the name occurs in one of these passages."""
    return any(
        bool(np.logical_and.reduce([keywords.match([term]).of(passages) > 0 for term in form]).any())
        for form in name.forms
    )


def _spellings(keywords: KeywordSearch, name: str) -> tuple[tuple[str, ...], ...]:
    """The name as it is, in its parts, or with other separators (zero3, flash-attention), else as a part (`w12` of
    `2025-w12`)."""
    compact = OPTIONAL.sub("", name)
    parts = re.findall(r"[a-z]+|\d+|[+#]+$", compact)
    joined = {name, *(separator.join(parts) for separator in ("", "-", "_"))}
    forms: list[tuple[str, ...]] = [(spelling,) for spelling in sorted(joined) if keywords.frequency(spelling)]
    pieces = tuple(piece for piece in SEPARATORS.split(name) if piece)
    # A different number makes a different name: `zero` and `4` apart do not make `zero-4` known.
    if len(pieces) > 1 and all(
        len(piece) > 1 and not VERSION.fullmatch(piece) and keywords.frequency(piece) for piece in pieces
    ):
        forms.append(pieces)
    if "/" in name:  # several names: FSDP/ZeRO-3
        apart = [_spellings(keywords, part) for part in name.split("/") if part]
        if all(apart):
            forms.append(tuple(term for spellings in apart for term in spellings[0]))
    if not forms:
        forms = [(term,) for term in _alike(keywords, name, 2) if OPTIONAL.sub("", term) == compact]
    if not forms:
        forms = [(term,) for term in keywords.latin_terms if name in term and name in SEPARATORS.split(term)]
    return tuple(forms)


def _guesses(keywords: KeywordSearch, name: str) -> tuple[tuple[str, ...], ...]:
    """Known words that the name may stand for: longer ones that begin with it, and misspellings."""
    if not name.isalpha() or len(name) < SHORT_FORM:
        return ()
    guesses = _beginning_with(keywords.latin_terms, name)
    wrong = next((letters for length, letters in TYPOS if len(name) >= length), 0)
    if wrong:
        guesses += [term for term in _alike(keywords, name, wrong) if term[0] == name[0] and term.isalpha()]
    return tuple((term,) for term in dict.fromkeys(guesses))


def _alike(keywords: KeywordSearch, name: str, letters: int) -> list[str]:
    """Known words that differ in at most `letters` letters, most similar first."""
    alike = process.extract(name, keywords.latin_terms, scorer=OSA.distance, score_cutoff=letters, limit=20)
    return [term for term, _, _ in alike]


def _beginning_with(known: Sequence[str], name: str) -> list[str]:
    place = bisect_left(known, name)
    return [term for term in known[place : place + 3] if term.startswith(name)]
