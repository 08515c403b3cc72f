"""The guide where the chat cannot open: it names what is missing, and the command."""

from pathlib import Path

import pytest

from rag.errors import ChatModelError, IndexCorruptError, IndexMissingError, ModelError, RagError
from rag.settings import Settings
from rag.ui.guide import texts as guide_texts
from rag.ui.guide.advice import advise, guide_html
from rag.ui.texts import Language
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
        texts = guide_texts.TEXTS[language]
        html = guide_html(problem, settings, texts)
        assert getattr(texts, what) in html
        assert command in html
    assert advise(problem, settings).what == what


def test_the_guide_names_another_index() -> None:
    html = guide_html(IndexCorruptError(NASTY), Settings(index=Path("/there/index")), guide_texts.TEXTS[Language.EN])
    assert "python -m ingest --rebuild --index /there/index" in html
    assert "<img" not in html
