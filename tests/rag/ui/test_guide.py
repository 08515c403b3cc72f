"""The guide where the chat cannot open: it names what is missing, and the command."""

from pathlib import Path

import pytest

from rag.errors import ChatModelError, IndexCorruptError, IndexMissingError, ModelError, RagError
from rag.settings import Settings
from rag.ui.guide.page import advise, guide_html
from rag.ui.guide.preparing import Preparation, PreparationStep, preparing_html
from rag.ui.texts import GUIDE_TEXTS, Language
from tests.rag.ui.rooms import NASTY


@pytest.mark.parametrize(
    ("problem", "what", "command"),
    [
        (ModelError("no route"), "embedder_missing", "python -m rag models fetch multilingual-e5-small"),
        (IndexMissingError("none"), "index_missing", "python -m ingest"),
        (IndexCorruptError("bytes"), "index_damaged", "python -m ingest --rebuild"),
        (ChatModelError("none"), "model_missing", "make llm"),
        (RagError("?"), "other", ""),
    ],
)
def test_the_guide_names_what_is_missing_and_the_command(problem: RagError, what: str, command: str) -> None:
    settings = Settings()
    for language in Language:
        texts = GUIDE_TEXTS[language]
        html = guide_html(problem, settings, texts)
        assert getattr(texts, what) in html
        assert command in html
    assert advise(problem, settings).what == what


def test_the_guide_names_another_index() -> None:
    html = guide_html(IndexCorruptError(NASTY), Settings(index=Path("/there/index")), GUIDE_TEXTS[Language.EN])
    assert "python -m ingest --rebuild --index /there/index" in html
    assert "<img" not in html


@pytest.mark.parametrize(
    ("step", "done", "total", "chinese", "english"),
    [
        (PreparationStep.START, 0, 0, "正在启动…", "Starting…"),
        (
            PreparationStep.FETCH,
            12_400_000,
            91_000_000,
            "正在下载向量模型：12 / 91 MB",
            "Fetching the embedder: 12 of 91 MB",
        ),
        (PreparationStep.LOAD, 0, 0, "正在载入向量模型…", "Loading the embedder…"),
        (PreparationStep.DOCUMENTS, 3, 24, "正在阅读资料：3 / 24", "Reading documents: 3 of 24"),
        (PreparationStep.PASSAGES, 64, 1_200, "正在编入索引：64 / 1,200 段", "Indexing passages: 64 of 1,200"),
    ],
)
def test_the_first_start_says_how_far_it_is(
    step: PreparationStep, done: int, total: int, chinese: str, english: str
) -> None:
    for language, told in ((Language.ZH, chinese), (Language.EN, english)):
        html = preparing_html(Preparation(step, done, total), GUIDE_TEXTS[language])
        assert f'<p role="status">{told}</p>' in html
        assert ("max=" in html) is bool(total)
