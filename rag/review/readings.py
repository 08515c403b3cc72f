"""What a statement says, as far as it can be compared: its clauses with their figures, names and terms."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag.answer.written.polarity import NEGATION, NEUTRAL
from rag.review.figures import Figure, figures_of, plain
from rag.review.statements import Statement
from rag.text.language import Language
from rag.text.terms import PART, fold, terms

# Round brackets end one too, but for those of code (half()); a comma in lists only after a figure.
CLAUSE_END = re.compile(
    r"、|[,，](?!\d{3})|[;；:：。！？!?]|(?<![A-Za-z0-9_])\(|(?<!\()\)|\.\s|\b(?:but|while|whereas|and)\b"
)
LATIN = re.compile(
    r"[A-Za-z][A-Za-z0-9]*(?:[-_.+#/&][A-Za-z0-9]+)*(?:\+\+|\+)?"
    # With the number of its version, unless that counts what follows it.
    r"(?:\s\d{1,2}(?:\.\d)?(?![\w.%×/-]|\s*(?:[个层头步轮维张块倍位次种条类项天年月]|[%×=]|[KMGT]i?B"
    r"|(?:token|layer|head|bit|step|gpu|time|epoch|expert|group|stage|kind)s?\b)))?",
    re.IGNORECASE,
)
# In English, what is written like a name.
NAME = re.compile(r"\w*[A-Z]\w*[A-Z]|\w*[a-z][A-Z]|[A-Za-z]\w*-?\d|.*_|.*\s\d")
# Written or not as one likes: Llama-2, Llama 2.
SEPARATORS = re.compile(r"[-_\s]")
# What a word says that stands in one statement only.
RAREST = 9.0
# What holds only under what is assumed.
EXAMPLE = re.compile(
    r"例如|比如|譬如|假设|假如|假想|设想|为例|举例|如果|若(?!干)"
    r"|\bfor example\b|\be\.g\.|\bsuppose|\bassum|\bif\b",
    re.IGNORECASE,
)
FUNCTION_WORDS = frozenset(
    (
        "a", "an", "the", "of", "in", "on", "at", "to", "for", "with", "by", "from", "as", "is", "are", "was", "were",
        "be", "it", "its", "this", "that", "these", "than", "then", "and", "or", "not", "no", "vs", "about", "some",
        "each", "per", "all", "one", "both", "if", "so", "only", "can", "may", "must", "has", "have", "had",
        "do", "does",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clause:
    """`text` has its figures left out; `words` are its terms, and its `names` among them, all folded."""

    text: str
    names: frozenset[str]
    words: frozenset[str]
    figures: tuple[Figure, ...]
    negates: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """`text` is the statement without markup, `context` holds the names of the headings above."""

    statement: Statement
    text: str
    clauses: tuple[Clause, ...]
    context: frozenset[str]

    names: frozenset[str]
    figures: tuple[Figure, ...]
    kinds: frozenset[tuple[str, str]]
    negates: bool
    is_example: bool

    def written(self, figure: Figure) -> str:
        return self.text[figure.start : figure.end]


def read(statement: Statement) -> Reading:
    text = plain(statement.text)
    figures = tuple(figures_of(text))
    chinese = statement.language is Language.ZH
    borders = [0]
    ends = {figure.end for figure in figures}
    for match in CLAUSE_END.finditer(text):
        if match[0] == "、" and match.start() not in ends:
            continue  # what is listed are not figures
        if not any(figure.start < match.end() and match.start() < figure.end for figure in figures):
            borders.append(match.end())
    clauses = []
    for start, end in zip(borders, [*borders[1:], len(text)], strict=True):
        inside = tuple(figure for figure in figures if start <= figure.start < end)
        if text[start:end].strip():
            clauses.append(_clause(text, start, end, inside, chinese=chinese))
    heading = plain(" ".join((statement.title, *statement.section)))
    return Reading(
        statement,
        text,
        tuple(clauses),
        frozenset(names_of(heading, chinese=True)),
        frozenset[str]().union(*(clause.names for clause in clauses)),
        figures,
        frozenset((figure.unit, figure.symbol) for figure in figures),
        any(clause.negates for clause in clauses),
        bool(EXAMPLE.search(text)),
    )


def _clause(text: str, start: int, end: int, figures: Sequence[Figure], *, chinese: bool) -> Clause:
    pieces, position = [], start
    for figure in figures:
        pieces.append(text[position : figure.start])
        position = figure.end
    words = " ".join((*pieces, text[position:end])).strip()
    names = frozenset(names_of(words, chinese=chinese, opens=not start))
    # A name counts as one word, not also as its parts.
    rest = LATIN.sub(lambda match: " " if _key(match[0]) in names else match[0], words)
    negates = bool(NEGATION.search(NEUTRAL.sub(" ", fold(words))))
    found = [term for term in terms(rest) if term not in FUNCTION_WORDS]
    parts = frozenset(part for term in found if not term.isalnum() for part in PART.findall(term))
    kept = frozenset(found) - parts
    return Clause(words, names, kept | names, tuple(figures), negates)


def names_of(text: str, *, chinese: bool, opens: bool = True) -> Iterable[str]:
    """In a Chinese text every Latin word; in an English one what is written like a name, or with a capital where no
    sentence `opens`."""
    for match in LATIN.finditer(text):
        word = match[0]
        inside = word[0].isupper() and not (opens and match.start() == 0)
        if fold(word) not in FUNCTION_WORDS and (chinese or inside or NAME.match(word)):
            yield _key(word)


def _key(word: str) -> str:
    return SEPARATORS.sub("", fold(word).rstrip("."))


def rarity(readings: Iterable[Reading]) -> Mapping[str, float]:
    """How much a word says: how seldom it stands in a statement, from nearly 0 to RAREST, however many there are."""
    counts: Counter[str] = Counter()
    total = 1
    for reading in readings:
        counts.update(frozenset[str]().union(*(clause.words for clause in reading.clauses)))
        total += 1
    return {word: RAREST * math.log(total / count) / math.log(total) for word, count in counts.items()}
