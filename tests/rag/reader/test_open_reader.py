"""Who reads: the reader of the embedder, or nobody, with a word where that was not wanted."""

import logging
import shutil
from pathlib import Path

import pytest

from rag.embedding import Embedder
from rag.reader.reading import BESIDE, WEIGHTS_FILE, Text, open_reader
from rag.settings import ReaderUse, Settings
from tests.conftest import HashEmbedder

QUESTION = "KV cache 里存的是什么？"
ANSWERS = Text("KV cache 存什么", ("KV cache 存的是每一层已生成 token 的键和值。", "它随序列变长而变大。"))
SILENT = Text("怎样选学习率", ("学习率先升后降。", "太大时损失会发散。"))


pytestmark = pytest.mark.slow


def test_it_tells_a_text_that_answers_from_one_that_does_not(embedder: Embedder) -> None:
    reader = open_reader(Settings(), embedder)
    assert reader is not None
    answers, silent = reader.read(QUESTION, [ANSWERS, SILENT])
    assert answers.answers > silent.answers
    assert answers.units[0] > answers.units[1]


def test_it_is_small() -> None:
    assert WEIGHTS_FILE.stat().st_size <= 25_000_000


def test_it_can_be_turned_off(embedder: Embedder) -> None:
    assert open_reader(Settings(reader=ReaderUse.OFF), embedder) is None


def test_another_embedder_has_none(caplog: pytest.LogCaptureFixture) -> None:
    assert open_reader(Settings(), HashEmbedder()) is None
    assert not caplog.records


class Gemma(HashEmbedder):
    identity = f"{BESIDE[0]}@1"


def test_beside_some_embedders_the_one_it_was_trained_over_is_loaded(model_settings: Settings) -> None:
    reader = open_reader(model_settings, Gemma())
    assert reader is not None
    answers, silent = reader.read(QUESTION, [ANSWERS, SILENT])
    assert answers.answers > silent.answers


def test_where_that_one_is_not_here_there_is_none_and_a_word(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert open_reader(Settings(models=tmp_path), Gemma()) is None
    assert "multilingual-e5-small" in caplog.text


@pytest.mark.parametrize("damage", ["missing", "cut short", "not weights"])
def test_a_missing_or_damaged_file_is_no_reader_and_a_word(
    damage: str, embedder: Embedder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "weights.safetensors"
    match damage:
        case "cut short":
            shutil.copyfile(WEIGHTS_FILE, file)
            with file.open("r+b") as opened:
                opened.truncate(file.stat().st_size // 2)
        case "not weights":
            file.write_bytes(b"these are no weights" * 100)
    with caplog.at_level(logging.WARNING):
        assert open_reader(Settings(), embedder, file) is None
    [record] = caplog.records
    assert "weights.safetensors" in record.getMessage()
