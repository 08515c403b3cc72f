"""Ordinary material is hardly ever taken for an order to the model that reads it: the corpus never."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from rag.language.injection import injection_spans, overlaps
from rag.text.markdown import parse
from rag.text.sentences import units
from tests.conftest import looked_at
from tests.corpus.pages import PAGES

MOST_FALSE = 0.001  # of sentences


def found_in(pages: Iterable[tuple[str, str]]) -> tuple[list[str], int]:
    """The sentences of pages that are taken for injections, and how many sentences there are in all."""
    found, count = [], 0
    for name, text in pages:
        orders, sentences = injection_spans(text), units(text, parse(text))
        count += len(sentences)
        found += [
            f"{name}: {text[unit.start : unit.end]}" for unit in sentences if overlaps(orders, unit.start, unit.end)
        ]
    return found, count


def test_nothing_in_the_corpus_is_an_injection(pytestconfig: pytest.Config) -> None:
    is_looked_at = looked_at(pytestconfig, "injection")
    found = [
        f"{page.name}: {page.source[start:end]}"
        for page in PAGES
        if is_looked_at(f"corpus/{page.name}")
        for start, end in injection_spans(page.source)
    ]
    assert not found


@pytest.mark.skipif("INTERVIEW_RAG_SEEDS" not in os.environ, reason="INTERVIEW_RAG_SEEDS names no folder")
def test_hardly_anything_in_raw_articles_is_an_injection() -> None:
    files = sorted(Path(os.environ["INTERVIEW_RAG_SEEDS"]).glob("*.txt"))
    found, count = found_in((file.name, file.read_text(encoding="utf-8")) for file in files)
    assert len(found) <= MOST_FALSE * count, found


@pytest.mark.skipif("INTERVIEW_RAG_BENCH" not in os.environ, reason="INTERVIEW_RAG_BENCH names no benchmark folder")
def test_hardly_anything_in_other_peoples_notes_is_an_injection() -> None:
    file = Path(os.environ["INTERVIEW_RAG_BENCH"]) / "interview_q2a" / "corpus.jsonl"
    pages = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    found, count = found_in((page["_id"], page["text"]) for page in pages)
    assert len(found) <= MOST_FALSE * count, found
