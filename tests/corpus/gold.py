"""The rows of rag/evaluation/data/gold.jsonl: questions with the evidence that answers them."""

import hashlib
import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from tests.paths import ROOT

DATA = ROOT / "rag" / "evaluation" / "data"
GOLD = DATA / "gold.jsonl"
TEST_HALF = DATA / "gold.test.sha256"

Text = Annotated[str, StringConstraints(strict=True, pattern=r"\S")]


class Kind(StrEnum):
    PLAIN = "plain"
    PARAPHRASE = "paraphrase"
    KEYWORD = "keyword"
    ENGLISH = "english"
    TWO_SIDED = "two-sided"
    FOLLOW_UP = "follow-up"
    NEAR_MISS = "near-miss"


class Evidence(BaseModel):
    model_config = ConfigDict(extra="forbid")

    document: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+/[a-z0-9-]+\.md$")]
    quote: Annotated[Text, StringConstraints(min_length=5)]
    translation: Annotated[Text, StringConstraints(min_length=5)] | None = None


class Row(BaseModel):
    """One question. `topic` says what a near miss is about: the field's name, which no page explains."""

    model_config = ConfigDict(extra="forbid")

    id: Text
    question: Text
    standalone: Text | None = None
    history: list[tuple[Literal["user", "assistant"], Text]]
    kind: Kind
    split: Literal["dev", "test"]
    answerable: bool
    evidence: list[Evidence]
    topic: Text | None = None

    @model_validator(mode="after")
    def consistent(self) -> Self:
        problems = {
            "an answerable row has evidence, a near miss has none": self.answerable == bool(self.evidence),
            "near misses, and no others, are unanswerable": self.answerable == (self.kind is not Kind.NEAR_MISS),
            "near misses, and no others, name a topic": bool(self.topic) == (self.kind is Kind.NEAR_MISS),
            "a follow-up has history and says what it means standing alone": self.kind is not Kind.FOLLOW_UP
            or bool(self.history and self.standalone),
            "what has no history stands alone already": bool(self.history) or self.standalone is None,
            "history ends with the assistant's turn": not self.history or self.history[-1][0] == "assistant",
        }
        broken = [rule for rule, holds in problems.items() if not holds]
        if broken:
            raise ValueError("; ".join(broken))
        return self


def read_lines() -> list[str]:
    return GOLD.read_text(encoding="utf-8").splitlines()


def load_rows() -> list[Row]:
    return [Row.model_validate_json(line) for line in read_lines()]


def split_of(document: str) -> str:
    """By page, so that what is tuned on one half has not seen the other half's pages."""
    return "test" if hashlib.sha256(document.encode()).digest()[0] & 1 else "dev"


def sha256_of_test_half(lines: Iterable[str]) -> str:
    """SHA-256 of the test rows as they stand, each with its line feed, in the file's order."""
    rows = [line for line in lines if json.loads(line)["split"] == "test"]
    return hashlib.sha256("".join(f"{row}\n" for row in rows).encode()).hexdigest()
