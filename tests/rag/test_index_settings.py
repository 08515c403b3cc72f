"""A setting that shapes the index is one edit: marked on its field, it is known wherever that matters."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from ingest.sync import sync
from rag.answer.assistant import Assistant
from rag.errors import IndexMismatchError
from rag.evaluation.retrieval.indexing import shaping
from rag.index import open_index
from rag.settings import ChatModelName, IndexEffect, Settings, index_settings
from rag.ui.chat.exchange import used_by
from rag.ui.quality.runner import as_environment
from tests.conftest import HashEmbedder
from tests.paths import ROOT

REBUILD: Any = {"index": IndexEffect.REBUILD}


class LargerSettings(Settings):
    """With a setting that the program does not have."""

    glossary: str = Field("plain", json_schema_extra=REBUILD)


def test_a_new_setting_is_known_everywhere(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    (tmp_path / "lora.md").write_text("# LoRA\n\n常用的秩是 8 到 64。\n", encoding="utf-8")
    settings = LargerSettings(index=tmp_path / "index", llm=ChatModelName.EXTRACTIVE)

    def ingest(settings: Settings, *, rebuild: bool = False) -> None:
        paths = [tmp_path / "lora.md"]
        sync(settings, lambda: hash_embedder, paths, identity=hash_embedder.identity, rebuild=rebuild)

    ingest(settings)
    index = open_index(settings.index)
    assert index.manifest.settings["glossary"] == "plain"
    assert used_by(Assistant(settings, hash_embedder, index=index))["glossary"] == "plain"
    assert shaping(settings)["glossary"] == "plain"
    assert as_environment(settings)["INTERVIEW_RAG_GLOSSARY"] == "plain"
    changed = settings.model_copy(update={"glossary": "full"})
    with pytest.raises(IndexMismatchError, match="glossary 'plain', the settings name 'full'"):
        ingest(changed)
    ingest(changed, rebuild=True)
    ingest(changed)


@pytest.mark.parametrize("effect", IndexEffect)
def test_a_change_that_an_index_survives_forces_nothing(effect: IndexEffect) -> None:
    assert ("precision" in index_settings(Settings(), effect)) == (effect is IndexEffect.COMPATIBLE)
    assert ("ocr" in index_settings(Settings(), effect)) == (effect is IndexEffect.REBUILD)


def test_the_settings_page_says_what_requires_re_ingesting() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"^Changing (.*) requires `python -m ingest --rebuild`", page, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", sentence)) == set(index_settings(Settings(), IndexEffect.REBUILD))
    for name, field in Settings.model_fields.items():
        (row,) = re.findall(rf"^\| `{name}` \|.*\| (.*) \|$", page, re.MULTILINE)
        assert row == field.description, name
