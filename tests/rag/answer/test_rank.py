"""The reader reads no more sections than it takes to be sure."""

from collections.abc import Sequence

import pytest

from rag.answer import rank
from rag.answer.quoted.paragraphs import paragraphs
from rag.answer.quoted.ranking import SectionRanking
from rag.answer.quoted.sections import Section
from rag.reader.reading import Reading, Text
from rag.text.mapped import MappedText
from rag.text.markdown import parse
from rag.text.page import PageSection
from rag.types import Passage
from tests.conftest import HashEmbedder


class Odds:
    """A reader that finds 1, 2 and 3 in what it reads, and remembers how many texts it read at a time."""

    def __init__(self) -> None:
        self.read_at_once: list[int] = []

    def read(self, question: str, texts: Sequence[Text]) -> list[Reading]:
        self.read_at_once.append(len(texts))
        return [Reading((), float(text.units[0].removesuffix("。"))) for text in texts]


def section(text: str) -> Section:
    under = PageSection.under(("节",))
    passage = Passage(0, "a.md", "页", ("节",), MappedText.copied(text, 0), blocks=parse(text), sections=(under,))
    return Section("页", under, tuple(paragraphs(passage)), answering=((1.0,),))


@pytest.mark.parametrize(
    ("threads", "enough", "best", "read_at_once"),
    [(1, 9.0, 3.0, [1, 1, 1]), (1, 2.0, 2.0, [1, 1]), (2, 1.0, 2.0, [2]), (2, 3.0, 3.0, [2, 1]), (4, 1.0, 3.0, [3])],
)
def test_no_more_is_read_than_is_enough(
    threads: int,
    enough: float,
    best: float,
    read_at_once: list[int],
    hash_embedder: HashEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rank, "thread_count", lambda: threads)
    ranking = SectionRanking("几", tuple(map(section, ("1。", "2。", "3。", "4。"))), (3.0, 2.0, 1.0, 0.0))
    reader = Odds()
    assert rank.best_reading(reader, hash_embedder, ranking, lambda odds: odds >= enough) == best
    assert reader.read_at_once == read_at_once
