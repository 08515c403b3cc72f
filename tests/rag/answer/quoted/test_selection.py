"""Answers without a chat model: every claim is a slice of its source, and the markers in the text are the citations."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.answer.choices import Caution, Choices
from rag.answer.quoted.choosing import ANSWER_CHARACTERS, choose_paragraphs
from rag.answer.quoted.features import Wanted
from rag.answer.quoted.paragraphs import Paragraph, paragraphs
from rag.answer.quoted.ranking import SectionRanking, rank
from rag.answer.quoted.sections import sections_of
from rag.answer.quoted.writer import wanted_of, write_quotes
from rag.index import Index, open_index
from rag.language.language import Language
from rag.search.retrieval import Evidence, search
from rag.text.blocks import BlockKind
from rag.text.mapped import MappedText
from rag.text.markdown import parse
from rag.text.page import PageSection
from rag.types import Answer, Passage, Role, Turn
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS, ingest, library_settings

QUESTIONS = [
    ("RoPE 为什么能外推？", "rope.md"),
    ("ZeRO-2 和 ZeRO-3 差在哪", "zero.md"),
    ("Why does mixed precision training need loss scaling?", "scaling.md"),
    ("LoRA 的秩怎么选？", "lora.txt"),
    ("W4A16 是什么意思？", "formats.md"),
]
with_questions = pytest.mark.parametrize(("question", "document"), QUESTIONS)


def check(answer: Answer, index: Index) -> None:
    """What holds for every answer, whoever wrote it."""
    markers = [citation.marker for citation in answer.citations]
    assert markers == list(range(1, len(markers) + 1))
    for citation in answer.citations:
        source = index.storage.source(citation.document)
        assert source is not None
        assert source[citation.start : citation.end] == citation.quote
        assert citation.quote.strip()
    outside_code = re.sub(r"`[^`\n]*`", "", answer.text)
    assert {int(number) for number in re.findall(r"\[(\d+)\]", outside_code)} == set(markers)
    assert {number for claim in answer.claims for number in claim.citations} == set(markers)
    for claim in answer.claims:
        assert claim.supported == bool(claim.citations)


def evidence_for(index: Index, embedder: HashEmbedder, question: str) -> Evidence:
    return search(index, embedder, question)


def answer_to(index: Index, embedder: HashEmbedder, question: str) -> Answer:
    chosen = choose_paragraphs([rank(index, embedder, evidence_for(index, embedder, question))])
    sources = {
        passage.document: index.storage.source(passage.document) or ""
        for passage in (paragraph.passage for paragraph in chosen)
    }
    written = write_quotes(chosen, sources)
    return Answer(question, (question,), written.text, "extractive", written.claims, written.citations)


@with_questions
def test_every_claim_cites_exact_slices(
    question: str, document: str, library_index: Index, hash_embedder: HashEmbedder
) -> None:
    answer = answer_to(library_index, hash_embedder, question)
    check(answer, library_index)
    assert answer.claims
    assert {citation.document for citation in answer.citations} == {document}
    for claim in answer.claims:
        assert claim.supported
        quotes = "".join(c.quote for c in answer.citations if c.marker in claim.citations)
        assert "".join(claim.text.split()) in "".join(quotes.split())


@with_questions
def test_claims_stand_in_the_answer_in_their_order(
    question: str, document: str, library_index: Index, hash_embedder: HashEmbedder
) -> None:
    answer = answer_to(library_index, hash_embedder, question)
    positions = [answer.text.index(claim.text) for claim in answer.claims]
    assert positions == sorted(positions)


@with_questions
def test_what_stands_under_a_heading_is_quoted_whole_and_the_best_paragraph_first(
    question: str, document: str, library_index: Index, hash_embedder: HashEmbedder
) -> None:
    evidence = evidence_for(library_index, hash_embedder, question)
    chosen = choose_paragraphs([rank(library_index, hash_embedder, evidence)])
    sections = sections_of(library_index, evidence, pages=5)
    for path, members in groupby(chosen, key=lambda paragraph: (paragraph.passage.document, paragraph.section.path)):
        quoted = list(members)
        section = next(section for section in sections if (section.document, section.path) == path)
        assert sorted(unit_places(quoted)) == unit_places(section.paragraphs)
        # All but the sentence and the paragraph that answer best are in their order.
        assert unit_places(quoted[2:]) == sorted(unit_places(quoted[2:]))


def unit_places(paragraphs: Sequence[Paragraph]) -> list[tuple[int, int]]:
    return [(paragraph.passage.number, unit.start) for paragraph in paragraphs for unit in paragraph.units]


def test_the_section_that_answers_opens(library_index: Index, hash_embedder: HashEmbedder) -> None:
    answer = answer_to(library_index, hash_embedder, "RoPE 超长时会遇到没见过的角度吗")
    assert answer.citations[0].section[-1] == "外推"


def test_headings_are_not_claims(library_index: Index, hash_embedder: HashEmbedder) -> None:
    for question, _ in QUESTIONS:
        claims = answer_to(library_index, hash_embedder, question).claims
        assert claims, question
        for claim in claims:
            assert not claim.text.lstrip().startswith("#")
            assert claim.text not in ("推导", "外推", "LoRA 面试题")


def test_blocks_stay_whole(library_index: Index, hash_embedder: HashEmbedder) -> None:
    texts = [
        claim.text for claim in answer_to(library_index, hash_embedder, "RoPE 的底数默认取 10000.5 吗，给出公式").claims
    ]
    assert any(text.startswith("$$") and text.endswith("$$") for text in texts)
    assert any(text.startswith("| 方法") and text.endswith("|") for text in texts)
    assert any(text.startswith("```python") and text.endswith("```") for text in texts)
    assert any("10000.5，也就是 `base = 10000.5`" in text for text in texts)


def test_nothing_of_another_question_of_the_article(library_index: Index, hash_embedder: HashEmbedder) -> None:
    answer = answer_to(library_index, hash_embedder, "LoRA 的秩怎么选？")
    assert "8 到 64" in answer.text
    assert "冻结" not in answer.text


def test_sources_are_those_that_were_ingested(library_index: Index) -> None:
    for name, text in DOCUMENTS.items():
        assert library_index.storage.source(name) == text


def passage(text: str, *, section: tuple[str, ...] = ("页", "节")) -> Passage:
    blocks, own = parse(text), PageSection.under(section)
    headings = [text[b.body_start : b.body_end].strip("* ") if b.kind is BlockKind.HEADING else "" for b in blocks]
    sections = [*accumulate(headings, lambda above, name: own.labelled(name) if name else above, initial=own)][1:]
    return Passage(0, "a.md", "页", section, MappedText.copied(text, 0), blocks=blocks, sections=tuple(sections))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("甲。乙。\n\n丙。", [["甲。", "乙。"], ["丙。"]]),
        ("- 甲。乙。\n- 丙。", [["甲。", "乙。"], ["丙。"]]),
        ("常见的原因有以下两个：\n- 甲。\n- 乙。\n\n丙。", [["常见的原因有以下两个：", "甲。", "乙。"], ["丙。"]]),
        (
            "损失对参数的梯度就等于\n\n$$\nx\n$$\n\n其中 x 是损失。\n\n丙。",
            [["损失对参数的梯度就等于", "$$\nx\n$$", "其中 x 是损失。"], ["丙。"]],
        ),
        ("前。\n\n## 新节\n| a | b |\n|---|---|\n\n后。", [["前。"], ["| a | b |\n|---|---|"], ["后。"]]),
        ("# 只有标题", []),
    ],
)
def test_paragraphs(text: str, wanted: list[list[str]]) -> None:
    assert [paragraph.texts for paragraph in paragraphs(passage(text))] == wanted


def test_a_paragraph_knows_its_heading() -> None:
    headings = [paragraph.heading for paragraph in paragraphs(passage("前。\n\n## **新节**\n后。"))]
    assert headings == ["节", "新节"]


PAGE = """\
# 缓存引擎怎么省显存？

## 一句话回答
缓存引擎按页分配显存，用多少分多少。

## 分页
"""
OTHER_SECTIONS = "\n".join(
    f"## 附录{number}\n" + f"这里谈别的事情，与问题没有关系，只是占地方{number}。" * 12 for number in range(8)
)


def test_the_section_that_answers_is_quoted_and_not_the_whole_page(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    fact = "块表记录每个请求的逻辑页落在哪个物理页，默认页长是 16 个词元。"
    ingest(tmp_path, hash_embedder, {"page.md": f"{PAGE}{fact}\n\n{OTHER_SECTIONS}\n"})
    index = open_index(tmp_path / "index")
    answer = answer_to(index, hash_embedder, "块表默认页长是多少词元")
    check(answer, index)
    assert answer.claims[0].text == fact
    assert "附录" not in answer.text
    assert sum(len(claim.text) for claim in answer.claims) <= ANSWER_CHARACTERS


def test_of_a_section_without_an_end_the_best_paragraphs_are_quoted(
    tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    fact = "块表记录每个请求的逻辑页落在哪个物理页，默认页长是 16 个词元。"
    lines = [f"这里谈别的事情，与问题没有关系，只是占地方{number}。" * 4 for number in range(40)]
    ingest(tmp_path, hash_embedder, {"page.md": "# 笔记\n\n" + "\n\n".join([*lines[:20], fact, *lines[20:]])})
    index = open_index(tmp_path / "index")
    chosen = choose_paragraphs(
        [rank(index, hash_embedder, evidence_for(index, hash_embedder, "块表默认页长是多少词元"))], characters=300
    )
    assert fact in [text for paragraph in chosen for text in paragraph.texts]
    assert sum(paragraph.length for paragraph in chosen) <= 300


def test_nothing_quotable_is_nothing_chosen(library_index: Index, hash_embedder: HashEmbedder) -> None:
    evidence = evidence_for(library_index, hash_embedder, "LoRA 的秩怎么选？")
    bare = replace(evidence.hits[0].passage, content=MappedText.added("只有标题"), blocks=(), sections=())
    assert list(paragraphs(bare)) == []
    assert choose_paragraphs([rank(library_index, hash_embedder, replace(evidence, hits=()))]) == []


def test_each_side_has_room_on_its_own_page(library_index: Index, hash_embedder: HashEmbedder) -> None:
    whole, *sides = (evidence_for(library_index, hash_embedder, text) for text in ("LoRA 和 W4A16", "LoRA", "W4A16"))
    chosen = choose_paragraphs([rank(library_index, hash_embedder, evidence) for evidence in (whole, *sides)])
    assert {paragraph.passage.document for paragraph in chosen} == {"lora.txt", "formats.md"}
    places = [(paragraph.passage.document, paragraph.passage.start, paragraph.units[0].start) for paragraph in chosen]
    assert len(set(places)) == len(places)


def test_a_table_with_a_column_for_each_side_is_quoted(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    table = "| 区别在哪 | PI | YaRN |\n|---|---|---|\n| 缩放 | 等比 NTK | 分段 |"
    prose = "".join(f"PI 和 YaRN 的区别之{n}在于位置的做法。\n\n" for n in "一二三四五六七八九")
    ingest(tmp_path, hash_embedder, {"page.md": f"{PAGE}{prose}\n\n## 汇总\n{table}\n"})
    index = open_index(tmp_path / "index")
    evidence = evidence_for(index, hash_embedder, "PI 和 YaRN 的区别在哪")

    def has_table(compared: tuple[str, ...]) -> bool:
        chosen = choose_paragraphs([rank(index, hash_embedder, evidence, wanted=Wanted(compared))], characters=120)
        return any(table in paragraph.texts for paragraph in chosen)

    assert has_table(("PI", "YaRN"))
    assert not has_table(("PI", "NTK"))
    assert not has_table(())


def test_code_that_is_asked_for_is_whole_behind_a_short_answer(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    code = "```python\n" + "\n".join(f"row_{n} = table_of_physical_pages_in_memory_{n}" for n in range(36)) + "\n```"
    page = f"# 块表怎么写？\n\n## 一句话回答\n块表把逻辑页映射到物理页。\n\n## 代码\n{code}\n"
    ingest(tmp_path, hash_embedder, {"page.md": page})
    index = open_index(tmp_path / "index")
    assert len(code) > ANSWER_CHARACTERS
    for question, is_quoted in (("手写块表", True), ("块表是什么", False)):
        found = rank(index, hash_embedder, evidence_for(index, hash_embedder, question)).sections
        sections = tuple(sorted(found, key=lambda section: not section.is_short_answer))
        chosen = choose_paragraphs([SectionRanking(question, sections, (1.0, 0.0))])
        assert chosen[0].texts == ["块表把逻辑页映射到物理页。"]
        quoted = "".join(text for paragraph in chosen for text in paragraph.texts)
        assert [f"memory_{n}\n" in quoted for n in range(36)] == [is_quoted] * 36


def test_code_is_as_near_as_its_page_says(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    code = "```python\n{0}_a = 1\n{0}_b = 2\n```"
    pages = {
        name: f"# {title}\n\n## 一句话回答\n{title}{told}。\n\n## 代码\n{code.format(name[0])}\n"
        for name, title, told in (
            ("beam.md", "束搜索", "留下得分最高的几条"),
            ("pair.md", "字节对", "合并最常见的一对"),
        )
    }
    ingest(tmp_path, hash_embedder, pages)
    index = open_index(tmp_path / "index")
    ranking = rank(index, hash_embedder, evidence_for(index, hash_embedder, "字节对合并最常见的一对，给个代码"))
    with_code = [section.document for section in ranking.sections if section.heading == "代码"]
    assert with_code[0] == "pair.md"


def test_code_leads_only_where_it_is_asked_for(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    code = "```python\n" + "\n".join(f"page_table_{n} = block_table(page_table)" for n in range(14)) + "\n```"
    prose = "page_table 把逻辑页映射到物理页。" * 8
    ingest(tmp_path, hash_embedder, {"page.md": f"{PAGE}{code}\n\n## 页表\n{prose}\n"})
    index = open_index(tmp_path / "index")
    assert "```python" in answer_to(index, hash_embedder, "page_table block_table 代码怎么写").text
    explained = choose_paragraphs(
        [rank(index, hash_embedder, evidence_for(index, hash_embedder, "page_table 映射什么"))]
    )
    assert "page_table 把逻辑页映射到物理页。" in [text for paragraph in explained for text in paragraph.texts]


def test_a_paragraph_of_another_page_is_quoted_under_its_title(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    fact = "推测解码用小模型先写草稿，大模型一次核对。"
    pages = {
        "decoding.md": f"# 推测解码是什么？\n\n{fact}\n\n草稿长度常取四到八。\n",
        "serving.md": "# 服务引擎怎么提速？\n\n推测解码用小模型先写草稿，吞吐提高一倍。\n\n## 其他\n分页缓存省显存。\n",
    }
    ingest(tmp_path, hash_embedder, pages)
    index = open_index(tmp_path / "index")
    evidence = evidence_for(index, hash_embedder, "推测解码用小模型先写草稿吗")
    chosen = choose_paragraphs([rank(index, hash_embedder, evidence)], cut=0.02)
    assert list(dict.fromkeys(paragraph.passage.document for paragraph in chosen)) == ["decoding.md", "serving.md"]
    text = write_quotes(chosen, {name: index.storage.source(name) or "" for name in pages}).text
    assert "**服务引擎怎么提速？**" in text
    alone = choose_paragraphs([rank(index, hash_embedder, evidence, pages=1)])
    assert {paragraph.passage.document for paragraph in alone} == {"decoding.md"}


TWO_PAGES = {
    "cache.md": """\
# 缓存引擎怎么省显存？

## 一句话回答
缓存引擎按页分配显存。

## 要点
- 页的大小是固定的。
- 用完的页马上归还。

## 分页
分页先切块。

块表记录每个请求的页落在哪里。

写时才复制共享的页。
""",
    "table.md": "# 块表怎么查？\n\n块表记录页号，查一次要两步。\n",
}


@pytest.fixture
def two_pages(tmp_path: Path, hash_embedder: HashEmbedder) -> Index:
    ingest(tmp_path, hash_embedder, TWO_PAGES)
    return open_index(tmp_path / "index")


def headed(ranking: SectionRanking, *wanted: tuple[str, str, float]) -> SectionRanking:
    """The sections of a ranking under these headings of these documents, with scores."""
    found = {(section.document, section.heading): section for section in ranking.sections}
    return SectionRanking(
        ranking.query,
        tuple(found[document, heading] for document, heading, _ in wanted),
        tuple(score for *_, score in wanted),
    )


def test_the_paragraph_that_answers_opens_and_the_rest_follows_in_order(
    two_pages: Index, hash_embedder: HashEmbedder
) -> None:
    ranking = rank(two_pages, hash_embedder, evidence_for(two_pages, hash_embedder, "块表记录请求的页落在哪里"))
    chosen = choose_paragraphs([headed(ranking, ("cache.md", "分页", 0.0))])
    texts = [text for paragraph in chosen for text in paragraph.texts]
    assert texts == ["块表记录每个请求的页落在哪里。", "分页先切块。", "写时才复制共享的页。"]


def test_a_broad_question_gets_the_short_answer_and_its_points(two_pages: Index, hash_embedder: HashEmbedder) -> None:
    ranking = rank(two_pages, hash_embedder, evidence_for(two_pages, hash_embedder, "缓存引擎怎么省显存"))
    broad = headed(ranking, ("cache.md", "一句话回答", 9.0), ("cache.md", "分页", 8.9), ("cache.md", "要点", 1.0))
    chosen = choose_paragraphs([broad])
    assert list(dict.fromkeys(paragraph.heading for paragraph in chosen)) == ["一句话回答", "要点", "分页"]


def test_another_page_follows_only_where_it_is_about_as_good(two_pages: Index, hash_embedder: HashEmbedder) -> None:
    ranking = rank(two_pages, hash_embedder, evidence_for(two_pages, hash_embedder, "块表记录什么"))
    for score, documents in ((-0.4, ["cache.md", "table.md"]), (-1.0, ["cache.md"])):
        beside = headed(ranking, ("cache.md", "分页", 0.0), ("table.md", "块表怎么查？", score))
        chosen = choose_paragraphs([beside])
        assert list(dict.fromkeys(paragraph.passage.document for paragraph in chosen)) == documents


def test_a_name_that_is_searched_by_itself_is_answered_in_the_language_of_whoever_asks(
    tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    english = "## English\n\n### Why does warmup help?\n\nWarmup takes small steps.\n"
    page = f"# 预热为什么有用？\n\n## 一句话回答\n\n预热（warmup）先走小步。\n\n{english}"
    ingest(tmp_path, hash_embedder, {"a.md": page})
    index = open_index(tmp_path / "index")
    evidence = search(index, hash_embedder, "warmup")

    def texts(language: Language | None) -> str:
        ranking = rank(index, hash_embedder, evidence, wanted=Wanted(language=language))
        return " ".join(text for section in ranking.sections for text in section.texts)

    assert "Warmup takes" in texts(None)  # a bare name is of every language
    assert "Warmup takes" not in texts(Language.ZH)
    assert "先走小步" in texts(Language.ZH)
    talk = [Turn(Role.USER, "预热为什么有用？"), Turn(Role.ASSISTANT, "预热先走小步。")]
    assistant = Assistant(library_settings(tmp_path), hash_embedder)
    assert wanted_of(assistant.prepare("那 warmup 呢？", talk).result).language is Language.ZH


@pytest.mark.parametrize(
    ("question", "reader", "is_chinese"),
    [
        ("warmup", Language.ZH, True),
        ("warmup", Language.EN, False),
        ("warmup", None, False),
        ("why does warmup help", Language.ZH, False),
        ("预热 warmup", Language.EN, True),
    ],
)
def test_a_bare_name_that_is_asked_first_is_answered_in_the_language_of_its_reader(
    tmp_path: Path, hash_embedder: HashEmbedder, question: str, reader: Language | None, is_chinese: bool
) -> None:
    english = "## English\n\n### Why does warmup help?\n\nWarmup takes small steps.\n"
    page = f"# 预热 warmup 为什么有用？\n\n## 一句话回答\n\n预热（warmup）先走小步。\n\n{english}"
    ingest(tmp_path, hash_embedder, {"a.md": page})
    assistant = Assistant(library_settings(tmp_path), hash_embedder).choosing(
        Choices(language=reader, caution=Caution.BOLD)
    )
    (ranking, *_) = assistant.prepare(question).rankings
    ranked = " ".join(text for section in ranking.sections for text in section.texts)
    assert ("Warmup takes" in ranked) is not is_chinese
