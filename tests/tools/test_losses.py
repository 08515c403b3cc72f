"""Text that an ingest loses: none, of documents in every format; and what is lost is found."""

import pytest

from ingest.prepare import prepare_bytes
from ingest.reading.parser_process import ParserProcess
from rag.settings import Settings
from tools.losses.lost import Compared, compare, missing
from tools.losses.made import FORMATS, make
from tools.losses.written import pieces


@pytest.mark.parametrize("suffix", FORMATS)
def test_nothing_is_lost(suffix: str) -> None:
    with ParserProcess() as parser:
        for seed in range(12):
            made = make(suffix, seed)
            compared = compare(suffix, made.data, made.pieces, Settings(), parser)
            assert isinstance(compared, Compared), (seed, compared)
            assert compared.lost == (), seed


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_seed_makes_the_same_pieces_and_another_makes_others(suffix: str) -> None:
    assert make(suffix, 3).pieces == make(suffix, 3).pieces != make(suffix, 4).pieces


def test_what_stands_nowhere_is_found() -> None:
    data = "# 题\n\n一段文字，<!-- 注释 -->后面。\n".encode()
    with ParserProcess() as parser:
        prepared = prepare_bytes(0, "note.md", ".md", data, Settings(), parser)
    assert missing(["一段文字", "注释", "后面", "没有写过的话"], prepared).lost == ("没有写过的话",)
    assert list(filter(str.strip, pieces(".md", data))) == ["# 题", "一段文字，", " 注释 ", "后面。"]
