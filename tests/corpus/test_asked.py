"""The questions of strangers: labels that hold on the pages as they are, halves by page, a sealed test half."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from rag.evaluation.answers.asked import Answerable, AskedRow, load_asked, sections
from tests.corpus.gold import split_of
from tests.corpus.pages import CORPUS
from tests.corpus.violations import told, violations
from tests.paths import ROOT

ASKED = ROOT / "rag" / "evaluation" / "data" / "asked.jsonl"
OFF_SUBJECT = ASKED.with_name("off_subject.jsonl")
ROWS = load_asked(ASKED)


def text_of(document: str, heading: str) -> str | None:
    """What stands under a heading of a page; None without that heading."""
    source = (CORPUS / document).read_text(encoding="utf-8")
    found = [source[s.start : s.end] for s in sections(document, source) if s.heading == heading]
    return "\n".join(found) if found else None


def test_there_is_enough_of_each_kind() -> None:
    answerable = [row for row in ROWS if row.answerable is not Answerable.NO]
    assert len(answerable) >= 350
    assert sum(row.after is not None for row in ROWS) >= 80
    assert sum(row.answerable is Answerable.NO and row.style == "near-miss" for row in ROWS) >= 120
    assert len({(row.after, row.question) for row in ROWS}) >= 0.99 * len(ROWS)
    assert len({row.id for row in ROWS}) == len(ROWS)
    assert min(Counter(row.style for row in answerable if row.style != "near-miss").values()) >= 5


def test_labels_hold() -> None:
    found = violations(check_label, ROWS, name=lambda row: row.id)
    assert not found, told(found)


def check_label(row: AskedRow) -> None:
    named = [*row.open, *row.belong]
    if row.answerable is Answerable.NO:
        assert (named, row.needles, row.code) == ([], (), False)
        return
    assert row.open
    texts = [text_of(document, heading) for document, heading in named]
    assert None not in texts, named
    for needle in [wording for wordings in row.worded_needles for wording in wordings]:
        assert any(needle in (text or "") for text in texts), needle


def test_halves_are_by_page() -> None:
    for row in ROWS:
        assert row.split == split_of(row.open[0][0] if row.open else row.id)


def test_what_is_off_the_subject_has_no_answer() -> None:
    rows = load_asked(OFF_SUBJECT)
    assert len({row.question for row in rows}) == len(rows) >= 200
    assert all((row.answerable, row.open, row.belong) == (Answerable.NO, (), ()) for row in rows)
    assert Counter(row.split for row in rows) == {"dev": len(rows) / 2, "test": len(rows) / 2}


@pytest.mark.parametrize("file", [ASKED, OFF_SUBJECT], ids=lambda file: file.stem)
def test_the_test_half_is_the_one_that_was_sealed(file: Path) -> None:
    """Whoever corrects a label of the test half renews the seal and says why: nobody may tune on it."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if json.loads(line)["split"] == "test"]
    seal = file.with_suffix(".test.sha256").read_text().strip()
    assert hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest() == seal
