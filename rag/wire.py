"""Passages, answers, questions and grades as JSON, for the command line, HTTP, MCP and exports. These forms are
contracts."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from rag.types import Answer, Citation, Hit, ReadAs

if TYPE_CHECKING:
    from rag.practice.bank import Question
    from rag.practice.grading import Grade
    from rag.search.retrieval import Evidence


def search_as_dict(evidence: "Evidence") -> dict[str, Any]:
    return {"query": evidence.query, "results": [_hit(hit) for hit in evidence.hits]}


def _hit(hit: Hit) -> dict[str, Any]:
    passage = hit.passage
    return {
        "rank": hit.rank,
        "score": hit.score,
        "document": passage.document,
        "title": passage.title,
        "section": list(passage.section),
        "start": passage.start,
        "end": passage.end,
        "spans": _plain(passage.content.spans),
        "text": passage.text,
        "also_in": _plain(passage.also_in),
        "found_by": {name: _plain(found) for name, found in (("dense", hit.dense), ("keyword", hit.keyword)) if found},
    }


def answer_as_dict(answer: Answer) -> dict[str, Any]:
    """`refusal.only` is present only if part of the material was searched."""
    refusal = _plain(answer.refusal)
    if refusal and not refusal["only"]:
        del refusal["only"]
    return {
        "question": answer.question,
        "search_queries": list(answer.search_queries),
        "answer": answer.text,
        "kind": str(answer.kind),
        "nearest": list(answer.nearest),
        "courtesy": None if answer.courtesy is None else str(answer.courtesy),
        "refused": answer.refused,
        "refusal": refusal,
        "llm": answer.llm,
        "claims": _plain(answer.claims),
        "citations": _plain(answer.citations),
        "steps": _plain(answer.steps),
        "seconds": {name: round(seconds, 4) for name, seconds in _plain(answer.seconds).items()},
        "read_as": _plain(answer.read_as or ReadAs(answer.question)),
    }


def question_as_dict(question: "Question") -> dict[str, Any]:
    return {
        "id": question.id,
        "question": question.text,
        "kind": question.kind,
        "topic": question.topic,
        "tags": list(question.tags),
        "follow_ups": list(question.follow_ups),
    }


def grade_as_dict(grade: "Grade") -> dict[str, Any]:
    return {
        "score": grade.score,
        "points": [
            {
                "text": graded.point.text,
                "verdict": graded.verdict,
                "attempt": graded.attempt and list(graded.attempt),
                "citation": _slice(graded.point.citation),
            }
            for graded in grade.points
        ],
        "mistakes": [
            {"text": made.mistake.wrong.quote, "attempt": list(made.attempt), "citation": _slice(made.mistake.right)}
            for made in grade.mistakes
        ],
        "beyond": _plain(grade.beyond),
        "notes": list(grade.notes),
        "graded_by": grade.graded_by,
        "coverage": grade.coverage,
        "correctness": grade.correctness,
    }


def _slice(citation: Citation) -> dict[str, Any]:
    """A citation to which no text refers by marker."""
    return {name: value for name, value in _plain(citation).items() if name != "marker"}


def _plain(value: Any) -> Any:
    """A value with dataclasses as dicts of their fields and tuples as lists."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(part) for part in value]
    return value
