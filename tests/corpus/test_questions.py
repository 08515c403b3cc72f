"""The questions that sections are written down to answer: of this page, of this section, and of no other."""

from collections import defaultdict

import pytest

from rag.text.terms import terms
from tests.corpus.pages import Page, load_pages

PAGES = load_pages()
LONGEST = 160


def questions_of(page: Page) -> dict[str, list[str]]:
    found = page.metadata.get("questions", {})
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("page", PAGES, ids=str)
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
