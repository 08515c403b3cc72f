"""What the embedder is trained on: pages cut into passages and sentences, and questions with the sentence that answers.

A question is a row of JSON lines: `document`, `heading` (of the section; may be absent), `question`, `answer` (how the
sentence, row or formula that answers begins, word for word). Near misses have no answer and are left out.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from rag.embedding import BertEmbedder
from rag.index import open_index
from rag.index.storage import StoredPassage
from rag.text.language import language_of
from rag.text.sentences import units
from rag.text.terms import simplified
from tools.reader.data import Row, read_spans

# Pages of public questions: so many passages of one file, which come one after the other in it.
PASSAGES_OF_PUBLIC_PAGE = 20


@dataclass(frozen=True, slots=True)
class TrainedPassage:
    """`text` is what is embedded; `heading` the last above it; `sentences` are spans of `text`, shape (n, 2)."""

    text: str
    heading: str
    language: str
    sentences: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and where in its page the answer stands: of each passage that holds it the place of the sentence."""

    text: str
    answers: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class TrainedPage:
    name: str
    passages: tuple[TrainedPassage, ...]
    asked: list[Asked] = field(default_factory=list)


def pages_of_index(folder: Path, questions: Iterable[dict[str, str]]) -> tuple[list[TrainedPage], int]:
    """The pages of an index that questions ask about, and the number of questions whose answer was not found."""
    waiting: dict[str, list[dict[str, str]]] = {}
    for row in questions:
        if row.get("answer"):
            waiting.setdefault(row["document"], []).append(row)
    pages, lost = [], 0
    for document in open_index(folder).storage.documents(with_passages=True):
        rows = waiting.get(document.name, [])
        if not rows:
            continue
        page = TrainedPage(document.name, tuple(_passage(passage) for passage in document.passages))
        for row in rows:
            answers = tuple(_places(page, simplified(row["answer"]), simplified(row.get("heading") or "")))
            if answers:
                page.asked.append(Asked(simplified(row["question"]), answers))
        lost += len(rows) - len(page.asked)
        pages.append(page)
    return pages, lost


def _passage(passage: StoredPassage) -> TrainedPassage:
    text, content = passage.embedded_text, passage.content.text
    before = len(text) - len(content)
    spans = [(before + unit.start, before + unit.end) for unit in units(content, passage.blocks)]
    heading = simplified(passage.section[-1]) if passage.section else ""
    return TrainedPassage(text, heading, language_of(content).value, np.asarray(spans, np.int32).reshape(-1, 2))


def _places(page: TrainedPage, answer: str, heading: str) -> Iterator[tuple[int, int]]:
    """The sentences that hold the answer, those below its heading where there are any."""
    found = [
        (place, number)
        for place, passage in enumerate(page.passages)
        for number, (start, end) in enumerate(passage.sentences.tolist())
        if answer in passage.text[start:end]
    ]
    below = [(place, number) for place, number in found if page.passages[place].heading == heading]
    yield from below or found


def public_pages(file: Path, most: int) -> list[TrainedPage]:
    """Questions of a public file with spans, in pages of passages that are near each other in it."""
    rows = [row for row in read_spans(file) if row.texts[0].answering]
    rows = rows[:: max(1, len(rows) // most)][:most]
    pages: list[TrainedPage] = []
    passages: dict[tuple[str, ...], int] = {}
    page = TrainedPage(f"{file.stem}-0", ())
    for row in rows:
        if len(passages) == PASSAGES_OF_PUBLIC_PAGE and row.texts[0].units not in passages:
            pages.append(page)
            page, passages = TrainedPage(f"{file.stem}-{len(pages)}", ()), {}
        place = passages.setdefault(row.texts[0].units, len(passages))
        if place == len(page.passages):
            page = TrainedPage(page.name, (*page.passages, _public_passage(row)), page.asked)
        answers = tuple((place, number) for number in sorted(row.texts[0].answering))
        page.asked.append(Asked(simplified(row.question), answers))
    return [*pages, page]


def _public_passage(row: Row) -> TrainedPassage:
    spans, text = [], ""
    for unit in map(simplified, row.texts[0].units):
        spans.append((len(text), len(text) + len(unit)))
        text += unit
    return TrainedPassage(text, "", language_of(text).value, np.asarray(spans, np.int32).reshape(-1, 2))


def neighbours(pages: Sequence[TrainedPage], count: int) -> list[list[int]]:
    """For each page the places of those most like it: what a search confuses it with."""
    texts = [" ".join(passage.text for passage in page.passages) for page in pages]
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(2, 2), sublinear_tf=True, min_df=2, max_features=60_000)
    matrix = vectorizer.fit_transform(texts)
    likeness = (matrix @ matrix.T).toarray()
    np.fill_diagonal(likeness, -1)
    return [order[:count].tolist() for order in np.argsort(-likeness, axis=1)]


def sentence_of_token(embedder: BertEmbedder, passage: TrainedPassage) -> NDArray[np.int64]:
    """For each token of the passage's own text the place of its sentence, -1 for what is in none (headings)."""
    (spans,) = embedder.token_spans([passage.text])
    found = np.full(len(spans), -1, np.int64)
    for number, (start, end) in enumerate(passage.sentences.tolist()):
        found[(spans[:, 0] < end) & (spans[:, 1] > start)] = number
    return found


def read_questions(files: Sequence[Path]) -> list[dict[str, str]]:
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
