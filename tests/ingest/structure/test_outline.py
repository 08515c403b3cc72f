"""What is read of a page once: its sections with their roles, its English names, its follow-ups, its code."""

from pathlib import Path

import pytest

from ingest.reading.loading import document_of
from ingest.structure.passages import cut
from ingest.structure.sections import structure
from rag.language.language import Language
from rag.text.roles import SectionRole
from tests.conftest import HashEmbedder
from tests.ingest.library import Library
from tests.source_pages import source_page

PAGE = """---
title: 什么是 LoRA？
rubric: [低秩。]
checked: 2026-01-02
---
# 什么是 LoRA？
## 要点
低秩。
## 展开
### 细节
```python
x = 1
```
## 追问
### 秩取多大才好？
8。
## 常见错误
- 越大越好。**正确**：不一定。
## English
### What is LoRA?
A method.
### Say it
It is.
### Which rank?
Eight.
"""


def test_sections_have_roles_and_the_language_of_a_translation() -> None:
    source, outline = source_page(PAGE)
    by_name = {section.heading: section for section in outline.sections}
    assert outline.sections[0].path == ()
    assert by_name["细节"].path == ("什么是 LoRA？", "展开", "细节")
    assert by_name["细节"].roles == (None, SectionRole.DETAIL, None)
    assert [section.heading for section in outline.sections if section.lists_mistakes] == ["常见错误"]
    translated = [section.heading for section in outline.sections if section.language is Language.EN]
    assert translated == ["English", "What is LoRA?", "Say it", "Which rank?"]
    assert all(source[section.start :].startswith("#") for section in outline.sections[1:])
    assert source[outline.body_start :].startswith("# 什么是 LoRA？")


def test_names_in_english() -> None:
    outline = source_page(PAGE).outline
    names = outline.english_names
    assert outline.english == "What is LoRA?"
    assert (names["追问"], names["秩取多大才好？"], names["细节"]) == ("Follow-ups", "Which rank?", "")
    assert source_page("# 什么是 LoRA？\n\n## English\nA method.\n").outline.english == ""


def test_what_front_matter_says_is_kept() -> None:
    outline = source_page(PAGE).outline
    assert (outline.rubric, str(outline.dated), outline.date_field) == (("低秩。",), "2026-01-02", "checked")


def test_follow_ups_and_code() -> None:
    source, outline = source_page(PAGE)
    assert [section.questions for section in outline.follow_ups] == [("秩取多大才好？",)]
    assert [source[start:end] for start, end in outline.code] == ["x = 1"]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_follow_ups_are_those_of_the_text(ending: str) -> None:
    """Neither of the front matter nor of a listing."""
    page = """---
questions:
  追问:
    - 一共要几张显卡才够？
---
# 标题
```
## 追问
### 这是代码吗？
```
## 追问
### 秩取多大才好？
8。
"""
    outline = source_page(page.replace("\n", ending)).outline
    assert [section.questions for section in outline.follow_ups] == [("秩取多大才好？",)]


def test_an_empty_heading_is_no_part_of_a_path() -> None:
    assert [section.path for section in source_page("# T\n\n##\n\nText.\n").outline.sections[1:]] == [("T",), ("T",)]


def test_front_matter_in_toml_ends_before_the_text() -> None:
    source, outline = source_page("+++\ntitle = 'LoRA'\n+++\nA method.\n")
    assert source[outline.body_start :] == "A method.\n"


def test_a_passage_of_two_languages_is_no_translation(tmp_path: Path) -> None:
    library = Library(tmp_path, HashEmbedder())
    library.write("a.md", "---\ntitle: Foo\n---\n## English\n\nHello there.\n\n## 中文\n\n你好，这里是正文。\n")
    library.sync()
    with library.index() as index:
        assert [passage.translated_into for passage in index.storage.passages([0])] == [None]


@pytest.mark.parametrize("budget", [20, 60, 320])
def test_blocks_name_their_sections_however_they_are_packed(budget: int) -> None:
    document = document_of("a.md", ".md", PAGE.encode())
    outline = source_page(PAGE).outline
    said = {}
    for draft in cut(structure(document), budget=budget):
        for block in draft.blocks:
            said[draft.content.text[block.body_start : block.body_end]] = outline.sections[block.section].heading
    assert said["低秩。"] == "要点"
    assert said["细节"] == "细节"
    assert said["8。"] == "秩取多大才好？"
    assert said["Eight."] == "Which rank?"
