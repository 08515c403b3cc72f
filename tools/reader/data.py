"""Rows to train and measure the reader on: a question, texts cut into units, and which of them answer."""

import gzip
import json
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rag.language.terms import simplified
from rag.reader.reading import Text
from rag.text.markdown import parse
from rag.text.sentences import units


@dataclass(frozen=True, slots=True)
class LabelledText(Text):
    """With the places of the units that answer (none where nothing does), and what in them answers, where that is
    known."""

    answering: frozenset[int] = frozenset()
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A question with texts; at most one text of a training row answers it, the others are what it is told from."""

    id: str
    question: str
    texts: tuple[LabelledText, ...]
    group: str


def read_spans(file: Path) -> Iterator[Row]:
    """Rows of a file of questions with spans of one passage each (JSON lines, gzip)."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if not (row["answerable"] and not row["spans"]):
                yield Row(row["id"], row["question"], (_cut(row),), f"{file.stem}:{row['group']}")


def _cut(row: dict[str, Any]) -> LabelledText:
    passage = row["passage"]
    found = units(passage, parse(passage))
    answering = frozenset(
        place
        for place, unit in enumerate(found)
        for start, end in row["spans"]
        if unit.start < end and start < unit.end
    )
    return LabelledText("", tuple(passage[unit.start : unit.end] for unit in found), answering, tuple(row["answers"]))


def folded(row: Row) -> Row:
    """In one script, as the embedder reads texts."""
    texts = tuple(replace(t, heading=simplified(t.heading), units=tuple(map(simplified, t.units))) for t in row.texts)
    return replace(row, question=simplified(row.question), texts=texts)


def without_answer(text: LabelledText) -> LabelledText | None:
    """The text without the units that answer; None where another unit holds an answer, or too little is left."""
    left = tuple(unit for place, unit in enumerate(text.units) if place not in text.answering)
    if len(left) < 2 or any(answer in unit for unit in left for answer in text.answers):
        return None
    return LabelledText(text.heading, left)


def likely_others(rows: list[Row], rng: random.Random) -> list[LabelledText | None]:
    """For each row a passage of another group that looks like its question: what a retriever would bring."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    passages = list({text.units: (text, row.group) for row in rows for text in row.texts[:1]}.values())
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True, min_df=2, max_features=60_000)
    matrix = vectorizer.fit_transform(" ".join(text.units) for text, _ in passages)
    found: list[LabelledText | None] = []
    for start in range(0, len(rows), 512):
        part = rows[start : start + 512]
        scores = (vectorizer.transform(row.question for row in part) @ matrix.T).toarray()
        for row, line in zip(part, scores, strict=True):
            best = [place for place in (-line).argsort()[:8] if passages[place][1] != row.group]
            found.append(replace(passages[rng.choice(best)][0], answering=frozenset(), answers=()) if best else None)
    return found


def with_negatives(rows: list[Row], rng: random.Random) -> list[Row]:
    """Each answerable row with what does not answer it: itself without its answer, or a likely other passage."""
    result: list[Row] = []
    for row, other in zip(rows, likely_others(rows, rng), strict=True):
        (text,) = row.texts
        draw = rng.random()
        negative = None
        if text.answering:
            negative = without_answer(text) if draw < 0.6 else other if draw < 0.8 else None
        result.append(replace(row, texts=(text, negative) if negative else (text,)))
    return result


def of_sections(documents: Path, questions: Path, *, negatives: int, rng: random.Random) -> list[Row]:
    """Questions about sections of documents: each with the section that answers it and those of the same document that
    look most like the question and do not. Questions about documents that are not there, or that have since been
    rewritten so that what is labelled is not in them, are left out."""
    with documents.open(encoding="utf-8") as lines:
        sections = {row["doc"]: (row["title"], row["sections"]) for row in map(json.loads, lines)}
    result: list[Row] = []
    with questions.open(encoding="utf-8") as lines:
        for asked in map(json.loads, lines):
            title, found = sections.get(asked["doc"], ("", []))
            answering = {int(place): frozenset(units) for place, units in asked["answers"].items()}
            if not _fits(found, asked["use"], answering):
                continue
            texts = {
                place: LabelledText(
                    " · ".join([*found[place]["path"][-1:], title]),
                    tuple(unit["text"] for unit in found[place]["units"]),
                    answering.get(place, frozenset()),
                )
                for place in asked["use"]
            }
            others = [place for place in texts if place not in answering]
            others.sort(key=lambda place: -_shared(asked["question"], texts[place]))
            near = rng.sample(others[: negatives + 2], min(negatives, len(others)))
            best = [asked["best"]] if asked["best"] is not None else []
            result.append(Row(asked["id"], asked["question"], tuple(texts[p] for p in [*best, *near]), asked["doc"]))
    return result


def _fits(sections: Sequence[Any], used: Iterable[int], answering: Mapping[int, Collection[int]]) -> bool:
    """Whether all sections are there that a question was labelled with, and their units that answer."""
    counts = [len(section["units"]) for section in sections]
    there = all(place < len(counts) for place in {*used, *answering})
    return there and all(max(units, default=0) < counts[place] for place, units in answering.items())


def _shared(question: str, text: LabelledText) -> float:
    asked, held = _pairs(question), _pairs(" ".join([text.heading, *text.units]))
    return len(asked & held) / (len(asked) or 1)


def _pairs(text: str) -> set[str]:
    return {text[place : place + 2].lower() for place in range(len(text) - 1)}
