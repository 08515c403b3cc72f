"""python -m rag.evaluation.answers.evidence FOLDER: how often the best sentence is one that a human marked.

FOLDER holds JSON files in the form of ExpMRC (Cui et al., 2022), which is SQuAD's with `evidences` beside the answers.
The paragraph is given; it is cut and scored by the code that writes extractive answers. A pick counts if it shares a
character with the evidence of any annotator; white space does not count. `half` is the stricter figure: the two share
at least half of the shorter one.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from rag.answer.quoted.relevance import relevance
from rag.cli import Parser, print_json, run
from rag.errors import UsageError
from rag.evaluation.datasets import split_of
from rag.evaluation.intervals import resampled_means, summary
from rag.text.markdown import parse
from rag.text.sentences import units
from rag.text.terms import terms

FORM = 'expected {"data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question", "evidences": […]}]}]}]}'

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its paragraph, the sentences to choose from and the evidence: `(start, end)` in `context` both."""

    id: str
    question: str
    title: str
    context: str
    sentences: tuple[Span, ...]
    evidence: tuple[Span, ...]

    @property
    def texts(self) -> list[str]:
        return [self.context[start:end] for start, end in self.sentences]


class _Asked(BaseModel):
    id: str
    question: str
    evidences: list[str]


class _Paragraph(BaseModel):
    context: str
    qas: list[_Asked]


class _Article(BaseModel):
    title: str = ""
    paragraphs: list[_Paragraph]


class _File(BaseModel):
    data: list[_Article]


def load(folder: Path, split: str = "all") -> list[Question]:
    """The questions of all files of a folder, in order; of those, all, or the dev or test half (`split_of`).

    Raises UsageError for a file that is missing or malformed.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise UsageError(f"{folder} holds no .json file", hint="name the folder of an ExpMRC set; " + FORM)
    questions = []
    for file in files:
        try:
            articles = _File.model_validate_json(file.read_bytes()).data
        except OSError as error:
            raise UsageError(f"cannot read {file}: {error.strerror}", hint="check the path") from error
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise UsageError(f"{file} is malformed at {place or 'its start'}: {first['msg']}", hint=FORM) from error
        for article in articles:
            for paragraph in article.paragraphs:
                sentences = tuple((unit.start, unit.end) for unit in units(paragraph.context, parse(paragraph.context)))
                for asked in paragraph.qas:
                    if split in ("all", split_of(asked.id)):
                        evidence = _evidence(paragraph.context, asked, file)
                        questions.append(
                            Question(asked.id, asked.question, article.title, paragraph.context, sentences, evidence)
                        )
    if not questions:
        raise UsageError(f"{folder} holds no question of the split {split!r}", hint="try --split all")
    return questions


def locate(context: str, quote: str) -> list[Span]:
    """Where a quote stands in the context, white space aside: every occurrence, as `context[start:end]`."""
    places = [place for place, character in enumerate(context) if not character.isspace()]
    bare, wanted = "".join(context[place] for place in places), "".join(quote.split())
    result = []
    start = bare.find(wanted) if wanted else -1
    while start >= 0:
        result.append((places[start], places[start + len(wanted) - 1] + 1))
        start = bare.find(wanted, start + 1)
    return result


def _evidence(context: str, asked: _Asked, file: Path) -> tuple[Span, ...]:
    spans: list[Span] = []
    for quote in dict.fromkeys(asked.evidences):
        found = locate(context, quote)
        if not found:
            raise UsageError(
                f"{file}: evidence of {asked.id} is not in its context: {quote[:60]!r}", hint="correct or remove it"
            )
        spans += found
    if not spans:
        raise UsageError(f"{file}: {asked.id} has no evidence", hint="mark a sentence or remove the question")
    return tuple(spans)


def hits(question: Question, share: float = 0.0) -> NDArray[np.bool_]:
    """For each sentence, whether it overlaps the evidence: in more than no character, and in at least `share` of the
    shorter of the two. Shape (sentences,)."""
    return np.asarray(
        [
            any(
                (common := sum(not character.isspace() for character in question.context[max(a, x) : min(b, y)])) > 0
                and common >= share * min(b - a, y - x)
                for x, y in question.evidence
            )
            for a, b in question.sentences
        ],
        bool,
    )


def scores_ours(question: Question) -> NDArray[np.float32]:
    return relevance(question.question, question.texts, topic=question.title)


def scores_lexical(question: Question) -> NDArray[np.float32]:
    """How many of the question's terms a sentence holds."""
    return np.asarray([len(set(terms(question.question)) & set(terms(text))) for text in question.texts], np.float32)


def scores_first(question: Question) -> NDArray[np.float32]:
    return -np.arange(len(question.sentences), dtype=np.float32)


SYSTEMS: dict[str, Callable[[Question], NDArray[np.float32]]] = {
    "ours": scores_ours,
    "lexical": scores_lexical,
    "first": scores_first,
}


def evaluate(questions: Sequence[Question]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figures of each system, and what it picked question by question."""
    overlaps = [hits(question) for question in questions]
    halves = [hits(question, 0.5) for question in questions]
    systems: dict[str, Any] = {}
    rows: list[dict[str, Any]] = [{"id": question.id, "question": question.question} for question in questions]
    for name, score in SYSTEMS.items():
        picks = [int(np.argmax(score(question))) for question in questions]
        for row, pick, question, overlap in zip(rows, picks, questions, overlaps, strict=True):
            row[name] = {"span": question.sentences[pick], "text": question.texts[pick], "hit": bool(overlap[pick])}
        systems[name] = {
            "overlap": interval([float(hit[pick]) for hit, pick in zip(overlaps, picks, strict=True)]),
            "half": interval([float(hit[pick]) for hit, pick in zip(halves, picks, strict=True)]),
            "characters": round(float(np.mean([b - a for a, b in (row[name]["span"] for row in rows)])), 1),
        }
    systems["random"] = {
        "overlap": interval([float(hit.mean()) for hit in overlaps]),
        "half": interval([float(hit.mean()) for hit in halves]),
        "characters": round(float(np.mean([np.mean([b - a for a, b in q.sentences]) for q in questions])), 1),
    }
    return systems, rows


def interval(values: Sequence[float]) -> dict[str, float]:
    """Mean and 95% bootstrap interval over questions."""
    column = np.asarray(values, np.float64)[:, np.newaxis]
    return summary(float(column.mean()), resampled_means(column)[:, 0])


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m rag.evaluation.answers.evidence",
        description="Measure how often the sentence that answers best is one that a human marked.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder of an ExpMRC set")
    parser.add_argument(
        "--split", choices=("dev", "test", "all"), default="all", help="by the hash of the question's id"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, and only JSON, on stdout")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the JSON there as well")
    parser.add_argument(
        "--picks", type=Path, metavar="FILE", help="write there what was picked, a JSON line a question"
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_measure, build_parser(), arguments)


def _measure(options: argparse.Namespace) -> int:
    questions = load(options.folder, options.split)
    systems, rows = evaluate(questions)
    result = {
        "dataset": options.folder.resolve().name,
        "split": options.split,
        "questions": len(questions),
        "sentences": round(float(np.mean([len(question.sentences) for question in questions])), 2),
        "systems": systems,
    }
    if options.out:
        options.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if options.picks:
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        options.picks.write_text(lines, encoding="utf-8")
    if options.json:
        print_json(result)
        return 0
    sys.stdout.write(f"{result['dataset']}, {options.split}: {len(questions)} questions\n")
    for name, figures in systems.items():
        overlap, half = figures["overlap"], figures["half"]
        sys.stdout.write(
            f"{name:8} overlap {overlap['value']:.3f} ({overlap['low']:.3f}–{overlap['high']:.3f})"
            f"  half {half['value']:.3f}  {figures['characters']:.0f} characters\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
