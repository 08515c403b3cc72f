"""The questions that sections are written down to answer: of this page, of this section, of no other, and none that
the answers are measured by."""

import json
from collections import Counter, defaultdict

from rag.language.terms import terms
from tests.corpus.pages import PAGES, Page
from tests.corpus.violations import of_every_page
from tests.paths import ROOT

LONGEST = 160
MEASURED = ("asked", "best_places", "gold", "multi_hop", "talks", "typed")
# The share of the terms of two questions (Dice) that both have, from which one is the other.
SAME = 0.85
# A term that more of the measured questions have tells none of them.
TELLING = 400


def questions_of(page: Page) -> dict[str, list[str]]:
    found = page.metadata.get("questions", {})
    assert isinstance(found, dict)
    return found


@of_every_page
def test_every_section_is_known_by_some(page: Page) -> None:
    questions, headings = questions_of(page), [text for _, text, _ in page.headings]
    assert set(questions) <= set(headings)
    # A part that only holds others says nothing itself.
    answering = [heading for level, heading, _ in page.headings if level == 3]
    assert len(set(answering) & set(questions)) >= 0.9 * len(answering)
    for asked in questions.values():
        assert asked
        assert all(isinstance(one, str) and one == " ".join(one.split()) and len(one) <= LONGEST for one in asked)
        assert all(map(terms, asked))


def test_no_question_is_claimed_by_two_sections() -> None:
    claimed: dict[frozenset[str], list[tuple[str, str, str]]] = defaultdict(list)
    for page in PAGES:
        for heading, asked in questions_of(page).items():
            for one in asked:
                claimed[frozenset(terms(one))].append((page.name, heading, one))
    assert [places for places in claimed.values() if len(places) > 1] == []


def test_no_question_is_one_that_answers_are_measured_by() -> None:
    """Who is known by the very words of an evaluation says nothing by being found."""
    measured = [
        frozenset(terms(str(row[field])))
        for name in MEASURED
        for line in (ROOT / "rag" / "evaluation" / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for row in [json.loads(line)]
        for field in ("question", "standalone")
        if row.get(field)
    ]
    holding: dict[str, list[int]] = defaultdict(list)
    for place, held in enumerate(measured):
        for term in held:
            holding[term].append(place)
    found = []
    for page in PAGES:
        for asked in (one for written in questions_of(page).values() for one in written):
            own = frozenset(terms(asked))
            shared = Counter(p for t in own if len(holding[t]) < TELLING for p in holding[t])
            for place, _ in shared.most_common(20):
                if 2 * len(own & measured[place]) >= SAME * (len(own) + len(measured[place])):
                    found.append((page.name, asked))
    assert len(measured) > 3_000
    assert found == []
