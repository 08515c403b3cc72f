"""Opinions -> rows: to train a chat model on, with the prompt that our answerer would send, or all opinions as
given."""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from rag.answer.written.checked_text import UNSUPPORTED_MARK
from rag.answer.written.prompts import NO_ANSWER
from rag.feedback.store import IMPORTED, Feedback, Opinion
from rag.language.terms import fold
from rag.types import Answer

Row = Mapping[str, str]
# The markers and warnings after a sentence, with the white space before them.
MARKS = re.compile(rf"[ \n]*(?:(?:\[\d{{1,3}}\])+|{UNSUPPORTED_MARK})(?=\s|$)")


class Format(StrEnum):
    SFT = "sft"
    PREFERENCES = "preferences"
    OPINIONS = "opinions"


class FileType(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


COLUMNS = {
    Format.SFT: ("id", "system", "prompt", "completion"),
    Format.PREFERENCES: ("prompt", "chosen", "rejected"),
    Format.OPINIONS: ("id", "at", "liked", "reasons", "note", "question", "answer", "llm", "imported"),
}


def rows(feedback: Sequence[Feedback], format: Format) -> list[Row]:
    match format:
        case Format.SFT:
            return sft_rows(feedback)
        case Format.PREFERENCES:
            return preference_rows(feedback)
        case Format.OPINIONS:
            return opinion_rows(feedback)


def sft_rows(feedback: Iterable[Feedback]) -> list[Row]:
    """One row for each liked answer whose prompt was kept."""
    result: list[Row] = []
    for item in feedback:
        if item.opinion.liked and item.opinion.prompt:
            system, prompt = _prompt(item.opinion)
            completion = completion_of(item.opinion.answer)
            result.append({"id": f"feedback-{item.id}", "system": system, "prompt": prompt, "completion": completion})
    return result


def preference_rows(feedback: Iterable[Feedback]) -> list[Row]:
    """Every liked answer paired with every disliked one to the same question, across readers and attempts.

    The prompt is that of the liked answer, as in `sft_rows`.
    """
    liked: dict[str, list[Opinion]] = {}
    disliked: dict[str, list[Opinion]] = {}
    for item in feedback:
        if not item.opinion.prompt:  # kept by a version that did not keep prompts
            continue
        (liked if item.opinion.liked else disliked).setdefault(_same(item.opinion.question), []).append(item.opinion)
    pairs = [
        (_prompt(good)[1], completion_of(good.answer), completion_of(bad.answer))
        for question, answers in liked.items()
        for good in answers
        for bad in disliked.get(question, ())
    ]
    return [
        {"prompt": prompt, "chosen": chosen, "rejected": rejected}
        for prompt, chosen, rejected in dict.fromkeys(pairs)
        if chosen != rejected
    ]


def opinion_rows(feedback: Iterable[Feedback]) -> list[Row]:
    """One row for each rated answer, with the rater's reasons and note."""
    return [
        {
            "id": f"feedback-{item.id}",
            "at": datetime.fromtimestamp(item.at, UTC).isoformat(timespec="seconds"),
            "liked": "yes" if item.opinion.liked else "no",
            "reasons": ", ".join(item.opinion.reasons),
            "note": item.opinion.note,
            "question": item.opinion.answer.question,
            "answer": item.opinion.answer.text,
            "llm": item.opinion.answer.llm,
            "imported": "yes" if item.opinion.settings.get(IMPORTED) is True else "no",
        }
        for item in feedback
    ]


def completion_of(answer: Answer) -> str:
    """What a chat model should have written: the answer without our markers and warnings."""
    if answer.refusal is not None:
        return NO_ANSWER
    text, position, parts = answer.text, 0, []
    for claim in answer.claims:
        found = text.find(claim.text, position)
        if found < 0:
            continue
        end = found + len(claim.text)
        parts.append(text[position:end])
        after = MARKS.match(text, end)
        position = after.end() if after else end
    return "".join([*parts, text[position:]]).strip()


def write_rows(rows: Iterable[Row], format: Format, file_type: FileType) -> str:
    """JSON lines, or CSV with a header; characters are not escaped."""
    if file_type is FileType.JSONL:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    written = io.StringIO(newline="")
    writer = csv.DictWriter(written, COLUMNS[format], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _prompt(opinion: Opinion) -> tuple[str, str]:
    """The system text and the prompt that asked for this answer or, if it consists of quotes, would have asked a chat
    model; stored when the answer was written."""
    (_, system), (_, human) = opinion.prompt
    return system, human


def _same(question: str) -> str:
    return " ".join(fold(question).split()).rstrip("?？。.!！ ")
