"""Who says the spoken answer of a page by heart says what its rubric asks."""

import shutil
from collections.abc import Iterator
from contextlib import closing

import pytest

from ingest.sync import sync
from rag.embedding import Embedder
from rag.index import DiskIndex, open_index
from rag.practice.bank import QuestionKind, below, read_bank
from rag.practice.grading import EmbedderGrader
from rag.practice.judge import open_judge
from rag.practice.likeness import Comparer
from rag.practice.rubric import rubric_of
from rag.settings import Settings
from rag.text.roles import SectionRole
from tests.corpus.pages import PAGES

# One page in so many is graded.
SAMPLE = 12


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[DiskIndex]:
    """Some pages with their ready vectors; a rubric needs no tokens of passages."""
    folder = tmp_path_factory.mktemp("spoken")
    for page in PAGES[::SAMPLE]:
        target = folder / "pages" / page.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page.path, target)
    settings = Settings(index=folder / "index")
    sync(settings, lambda: embedder, [folder / "pages"], identity=embedder.identity, complete=False)
    with closing(open_index(settings.index, embedder=embedder.identity)) as opened:
        yield opened


@pytest.mark.slow
def test_the_spoken_answer_of_a_page_says_what_its_rubric_asks(index: DiskIndex, embedder: Embedder) -> None:
    bank = read_bank(index)
    grader = EmbedderGrader(Comparer(index, embedder), open_judge(embedder))
    graded: dict[str, float] = {}
    for question in bank.questions.values():
        if question.kind is QuestionKind.PAGE:
            [spoken] = [
                s for s in below(bank.pages[question.document], SectionRole.SPOKEN) if s.section.language is None
            ]
            said = "\n".join(unit.citation.quote for unit in spoken.units)
            graded[question.document] = grader.grade(said, rubric_of(bank, question)).score
    assert len(graded) == len(PAGES[::SAMPLE])
    assert sum(graded.values()) / len(graded) >= 0.95
    assert {page: score for page, score in graded.items() if score < 0.8} == {}
