"""Both languages say the same things, and what the page asks for is there."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.library import Library
from ingest.updates.auto_update import AutoUpdate
from rag.answer.assistant import Assistant
from rag.paths import PROGRAM
from rag.ui.app.page import Rooms
from rag.ui.model_setup.setup import ModelSetup
from rag.ui.session.session import Session
from rag.ui.texts import TEXTS, Language, language_of, read_texts
from tests.rag.ui.rooms import built

UI = PROGRAM / "rag" / "ui"
FILES = sorted(UI.rglob("*.toml"))
CHINESE = re.compile("[\u3400-\u9fff]")


def test_every_language_has_texts() -> None:
    assert set(TEXTS) == set(Language)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_what_is_read_is_complete_and_english_holds_no_chinese(file: Path) -> None:
    read_texts(file)
    rows = tomllib.loads(file.read_text(encoding="utf-8"))
    assert {name for name, said in rows.items() if CHINESE.search(said["en"])} == set()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('a = { zh = "甲" }', "a is not said"),
        ('a = { zh = "甲", en = "" }', "a is not said"),
        ('a = { zh = "甲{n}", en = "a" }', "a takes other values"),
    ],
)
def test_a_text_that_is_wrong_is_named(line: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "texts.toml"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(ValueError, match=told):
        read_texts(file)


def test_a_text_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no text 'nothing_of_the_kind'"):
        _ = TEXTS[Language.EN].nothing_of_the_kind


def asked_for() -> Iterator[str]:
    """The names of texts in the code and the templates of the page."""
    for template in UI.rglob("*.html"):
        yield from re.findall(r"\btexts\.(\w+)", template.read_text(encoding="utf-8"))
    for file in sorted(UI.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value).lower().partition("[")[0].endswith("texts"):
                yield node.attr


def test_every_text_that_the_page_names_is_in_a_file() -> None:
    there = {name for file in FILES for name in tomllib.loads(file.read_text(encoding="utf-8"))}
    names = {name for name in asked_for() if name not in ("TEXTS", "get", "tag", "values")}
    assert len(names) > 400
    assert names - there == set()


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", Language.ZH),
        ("zh-TW", Language.ZH),
        ("en-GB,en;q=0.9,zh;q=0.8", Language.EN),
        ("de", Language.EN),
        ("", Language.ZH),
        ("*", Language.ZH),
    ],
)
def test_language_of_the_browser(header: str, language: Language) -> None:
    assert language_of(header) is language


def test_a_chosen_language_is_spoken_by_every_component_that_has_words(assistant: Assistant) -> None:
    """Gradio leaves a component alone that an update does not name."""
    library = Library(assistant.settings, assistant.embedder, may_change=True)
    auto_update = AutoUpdate(assistant.settings, assistant.embedder)
    page = built(assistant, Rooms(auto_update, library, setup=ModelSetup(assistant, assistant.settings)))
    turn = next(call for call in page.fns.values() if call.fn and call.fn.__qualname__ == "build_page.<locals>.turn")
    session = Session()
    session.practice.is_open = True
    assert turn.fn(session, Language.EN).keys() == set(turn.outputs)
