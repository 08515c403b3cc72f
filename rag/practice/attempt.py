"""An attempt -> sentences that can be graded, with their places in the typed text."""

import re
from dataclasses import dataclass
from functools import cached_property

from rag.errors import UsageError
from rag.language.claim_marks import begs, knows_nothing
from rag.language.ends import ENDS_CLAUSE, SPOKEN_END
from rag.language.injection import injection_spans, overlaps
from rag.language.language import has_chinese
from rag.language.sentence_kinds import is_claim, is_question, is_shorthand
from rag.language.terms import fold, terms

Span = tuple[int, int]

# A longer attempt is rejected, and only the first MOST_GRADED characters are graded: some ten minutes of speech.
MOST_CHARACTERS = 100_000
MOST_GRADED = 4_000
# In characters, of Chinese and of other text.
LONGEST_SENTENCE, LONGEST_IN_ENGLISH = 160, 400
LIST_MARK = re.compile(r"\s*(?:[-*•·]|\(?\d{1,2}[.、)）])\s+")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ud800-\udfff]")
# Letters outside Chinese and the Latin and Greek alphabets.
FOREIGN = re.compile(r"[\u0400-\u1fff\u3040-\u30ff\uac00-\ud7af]")
LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`attempt.text[start:end]`. `claims` means that it makes a statement, `orders` that it addresses the grader."""

    start: int
    end: int
    text: str
    claims: bool
    orders: bool


@dataclass(frozen=True)
class Attempt:
    """`typed` is the typed text; `sentences` keep their places in it."""

    typed: str
    sentences: tuple[Sentence, ...]
    is_cut: bool

    @property
    def is_empty(self) -> bool:
        plain = CONTROL.sub(" ", self.typed)
        return not terms(plain) or knows_nothing(plain)

    @cached_property
    def claims(self) -> tuple[Sentence, ...]:
        """Claims but no orders."""
        return tuple(sentence for sentence in self.sentences if sentence.claims and not sentence.orders)

    @property
    def is_foreign(self) -> bool:
        """Whether it is written in neither Chinese nor English."""
        letters = len(LETTER.findall(self.typed))
        return len(FOREIGN.findall(self.typed)) > 0.3 * letters

    @property
    def is_english(self) -> bool:
        return not has_chinese(self.typed)


def read_attempt(typed: str, material: str = "") -> Attempt:
    """The sentences of an attempt; words of the `material`, which it is about, are no orders to the grader. Raises
    UsageError if it is longer than MOST_CHARACTERS."""
    if len(typed) > MOST_CHARACTERS:
        raise UsageError(
            f"the answer has {len(typed):,} characters; at most {MOST_CHARACTERS:,} are allowed",
            hint="an interview answer has a few hundred; shorten it",
        )
    # One character replaces one, so places stay the same.
    text = CONTROL.sub(" ", typed)[:MOST_GRADED]
    orders = injection_spans(text)
    known = fold(material)
    sentences = []
    for start, end in _spans(text):
        words = text[start:end]
        order = overlaps(orders, start, end) or begs(words, known)
        claims = (is_claim(words) or is_shorthand(words)) and not is_question(words)
        sentences.append(Sentence(start, end, words, claims, order))
    return Attempt(typed, tuple(sentences), len(typed.rstrip()) > MOST_GRADED)


def _spans(text: str) -> list[Span]:
    """The spans of the sentences, without list marks; a very long one is cut between clauses."""
    longest = LONGEST_SENTENCE if has_chinese(text) else LONGEST_IN_ENGLISH
    spans: list[Span] = []
    start = 0
    for end in (*(match.end() for match in SPOKEN_END.finditer(text)), len(text)):
        mark = LIST_MARK.match(text, start, end)
        low = mark.end() if mark else start
        while end - low > longest:
            cuts = [match.end() for match in ENDS_CLAUSE.finditer(text, low + 1, low + longest)]
            cut = cuts[-1] if cuts else low + longest
            spans.append((low, cut))
            low = cut
        spans.append((low, end))
        start = end
    stripped = ((low + len(text[low:high]) - len(text[low:high].lstrip()), high) for low, high in spans)
    return [(low, low + len(text[low:high].rstrip())) for low, high in stripped if text[low:high].strip()]
