"""Every page of the corpus asks questions whose rubrics can be graded by."""

from pathlib import Path

import pytest

from ingest.prepare import prepare
from ingest.reading.parser_process import ParserProcess
from rag.language.sentence_kinds import is_question, is_whole
from rag.practice.bank import Bank, Question, QuestionKind, questions_of
from rag.practice.pages import page_of
from rag.practice.rubric import ESSENTIAL, FEWEST_POINTS, MOST_POINTS, rubric_of
from rag.settings import Settings
from tests import conftest
from tests.corpus.pages import PAGES, Page
from tests.corpus.violations import told, violations


@pytest.fixture(scope="module")
def looked_at(pytestconfig: pytest.Config) -> list[Page]:
    """All pages; where a run leaves their suite out, those that changed."""
    is_looked_at = conftest.looked_at(pytestconfig, "rubrics")
    return [page for page in PAGES if is_looked_at(f"corpus/{page.name}")]


@pytest.fixture(scope="module")
def bank(looked_at: list[Page]) -> Bank:
    with ParserProcess() as parser:
        stored = [prepare(0, page.name, Path(page.path), Settings(), parser).document for page in looked_at]
    pages = [page_of(document) for document in stored]
    questions = {question.id: question for page in pages for question in questions_of(page)}
    return Bank(questions, {page.document: page for page in pages})


@pytest.fixture(scope="module")
def asked(bank: Bank) -> dict[str, list[Question]]:
    """The questions of each page."""
    found: dict[str, list[Question]] = {}
    for question in bank.questions.values():
        found.setdefault(question.document, []).append(question)
    return found


def test_a_page_asks_its_title_and_all_its_follow_ups(asked: dict[str, list[Question]], looked_at: list[Page]) -> None:
    found = violations(lambda page: check_questions(page, asked[page.name]), looked_at)
    assert not found, told(found)


def check_questions(page: Page, asked: list[Question]) -> None:
    assert [q.text for q in asked if q.kind is QuestionKind.PAGE] == [page.metadata["title"]]
    follow_ups, inside = [], False
    for level, text, _ in page.headings:
        inside = text == "追问" if level == 2 else inside
        follow_ups += [text] if inside and level == 3 else []
    assert [q.text for q in asked if q.kind is QuestionKind.FOLLOW_UP] == follow_ups
    assert all(question.english for question in asked)


def test_points_are_whole_claims_word_for_word(
    asked: dict[str, list[Question]], bank: Bank, looked_at: list[Page]
) -> None:
    found = violations(lambda page: check_points(page, asked[page.name], bank), looked_at)
    assert not found, told(found)


def check_points(page: Page, asked: list[Question], bank: Bank) -> None:
    for question in asked:
        rubric = rubric_of(bank, question)
        assert len({point.text for point in rubric.points}) == len(rubric.points)
        if question.kind is QuestionKind.PAGE:
            assert FEWEST_POINTS <= len(rubric.points) <= MOST_POINTS
            assert sum(point.weight == ESSENTIAL for point in rubric.points) >= FEWEST_POINTS
            assert rubric.mistakes
        else:
            assert rubric.points
        for point in rubric.points:
            assert page.source[point.citation.start : point.citation.end] == point.text
            assert is_whole(point.text)
            assert not is_question(point.text)
            assert (
                point.text.endswith(("。", ".", "）", "；", "$", "|", "`", "："))
                or question.kind is not QuestionKind.PAGE
            )
