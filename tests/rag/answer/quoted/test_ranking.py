"""Sections in the order in which they answer."""

from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from rag.answer.quoted.features import NOTHING_ELSE, SectionFeatures, Wanted
from rag.answer.quoted.ranking import DEFAULT, SectionRanking, fitted_weights, rank
from rag.answer.quoted.sections import LONG
from rag.index import Index, open_index
from rag.search.retrieval import Evidence, search
from tests.conftest import HashEmbedder
from tests.rag.library import ingest

QUESTION = "RoPE 为什么能外推？"


def test_the_best_comes_first(library_index: Index, hash_embedder: HashEmbedder) -> None:
    found = rank(library_index, hash_embedder, search(library_index, hash_embedder, QUESTION))
    assert found.query == QUESTION
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert len(found.sections) == len(found.scores) > 3
    assert len({section.document for section in found.sections}) > 1


def test_of_one_page_only(library_index: Index, hash_embedder: HashEmbedder) -> None:
    found = rank(library_index, hash_embedder, search(library_index, hash_embedder, QUESTION), pages=1)
    assert {section.document for section in found.sections} == {"rope.md"}


def test_nothing_found_ranks_nothing(library_index: Index, hash_embedder: HashEmbedder) -> None:
    found = rank(library_index, hash_embedder, Evidence(QUESTION, ()))
    assert (found.query, found.sections, found.scores) == (QUESTION, (), ())


NOTHING = SectionFeatures(**dict.fromkeys((field.name for field in fields(SectionFeatures)), 0.0))


def test_paragraphs_are_ordered_by_the_sentence_most_like_the_question(
    library_index: Index, hash_embedder: HashEmbedder
) -> None:
    evidence = search(library_index, hash_embedder, "超长时会遇到没见过的角度")
    found = rank(library_index, hash_embedder, evidence)
    section = next(section for section in found.sections if section.heading == "外推")
    assert len(section.answering) == len(section.paragraphs) == 2
    first, second = section.best_of_each
    assert second > first


def test_a_section_is_known_by_the_questions_that_it_is_written_down_to_answer(
    tmp_path: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 'questions:\n  "乙": ["钥匙放哪儿了", "where is the key"]\n  "丙": ["门怎么开"]\n'
    page = "# 房子\n\n## 甲\n屋顶是红的。\n\n## 乙\n东西在抽屉里。\n\n## 丙\n往里推。\n"
    ingest(tmp_path, hash_embedder, {"a.md": f"---\ntitle: 房子\n{written}---\n{page}"})
    with closing(open_index(tmp_path / "index")) as index:
        monkeypatch.setitem(fitted_weights(), index.manifest.embedder_name, replace(NOTHING, asked=1.0))

        def order(question: str) -> list[str]:
            found = rank(index, hash_embedder, search(index, hash_embedder, question))
            return [section.heading for section in found.sections]

        assert order("钥匙在哪")[0] == "乙"
        assert order("where did the key go?")[0] == "乙"
        assert order("门怎么开呀")[0] == "丙"
        assert "钥匙" not in "".join(p.text for p in index.storage.passages(index.storage.document_numbers("a.md")))


def test_a_question_that_says_more_is_a_narrower_one(
    tmp_path: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 'questions:\n  "甲": ["后院小屋的前门钥匙放哪里"]\n  "乙": ["前门钥匙放哪里"]\n'
    ingest(
        tmp_path,
        hash_embedder,
        {"a.md": f"---\ntitle: 房子\n{written}---\n# 房子\n\n## 甲\n木盒里。\n\n## 乙\n抽屉里。\n"},
    )
    with closing(open_index(tmp_path / "index")) as index:

        def scores(question: str, **weights: float) -> dict[str, float]:
            monkeypatch.setitem(fitted_weights(), index.manifest.embedder_name, replace(NOTHING, **weights))
            found = rank(index, hash_embedder, search(index, hash_embedder, question))
            return {section.heading: score for section, score in zip(found.sections, found.scores, strict=True)}

        alike = scores("前门钥匙放哪里", asked=1.0)
        assert alike["甲"] == pytest.approx(alike["乙"]) == pytest.approx(1.0)
        nearly = scores("前门钥匙放哪里", asked_nearly=1.0)
        assert nearly["乙"] > 1.2 * nearly["甲"]
        narrower = scores("后院小屋的前门钥匙放哪里", asked_nearly=1.0)
        assert narrower["甲"] > narrower["乙"]


def test_a_question_is_asked_alike_whatever_the_endings_of_its_words(
    tmp_path: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "# Agents\n\n## How are agents built?\nFrom tools.\n\n## How are agents evaluated?\nBy tasks.\n"
    asked = 'questions:\n  "How are agents built?": [making one]\n  "How are agents evaluated?": [trying one]\n'
    ingest(tmp_path, hash_embedder, {"a.md": f"---\ntitle: Agents\n{asked}---\n{page}"})
    with closing(open_index(tmp_path / "index")) as index:
        monkeypatch.setitem(fitted_weights(), index.manifest.embedder_name, replace(NOTHING, asked=1.0))
        found = rank(index, hash_embedder, search(index, hash_embedder, "evaluate an agent"))
        assert found.sections[0].heading == "How are agents evaluated?"
        assert found.scores[0] == pytest.approx(1.0)
        assert found.scores[1] < 0.8


def test_a_definition_opens_for_who_asks_only_what_something_is(
    tmp_path: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "".join(f"第 {number} 次试验换了一组数，结果和上一次差不多。" for number in range(40))
    page = (
        f"# 专家怎么分工？\n\n## 展开\n### 为什么 MoE 省计算\nMoE 每次只算几个专家。{long}\n\n"
        f"## 名词\n### MoE 是什么\nMoE 把一个大网络分成许多专家。\n\n### 专家容量是什么\n{long}\n\n"
        "## English\n### How do experts share the work?\nA router picks.\n\n"
        "### Terms\n#### What is MoE?\nMoE splits a network.\n"
    )
    own = (
        f"# 笔记\n\n## SLA 定多少\n先看 SLA 的历史数据。{long}\n\n"
        f"## 术语表\n### SLA\nSLA 是服务商承诺的水平。\n\n### 月报\n{long}\n\n"
        f"## 名词解释\n- SLO：自己定的水平。\n- SLI：量出来的水平。{long}\n"
    )
    ingest(tmp_path, hash_embedder, {"a.md": page, "b.md": own})
    with closing(open_index(tmp_path / "index")) as index:
        weights = fitted_weights()[DEFAULT]
        only = replace(NOTHING, defined=weights.defined, definition=weights.definition)
        monkeypatch.setitem(fitted_weights(), index.manifest.embedder_name, only)

        def ranked(question: str) -> SectionRanking:
            return rank(index, hash_embedder, search(index, hash_embedder, question))

        for question, heading in (
            ("MoE 是啥", "MoE 是什么"),
            ("what is MoE", "What is MoE?"),
            ("SLA 是什么意思", "SLA"),
        ):
            assert ranked(question).sections[0].heading == heading
        for question in ("为什么 MoE 省计算", "why does MoE need a router", "SLA 一般要定多少才够"):
            found = ranked(question)
            defines = [section.defines for section in found.sections]
            assert any(defines)
            assert defines == sorted(defines), "definitions stand behind all others"
        headings = {section.heading for section in ranked("SLO 是什么意思").sections if section.defines}
        assert "名词解释" not in headings, "a list of many is no definition"


def test_what_the_search_found_first_counts(
    library_index: Index, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(fitted_weights(), library_index.manifest.embedder_name, replace(NOTHING, found=1.0))
    evidence = search(library_index, hash_embedder, QUESTION)
    found = rank(library_index, hash_embedder, evidence)
    assert evidence.hits[0].passage.number in found.sections[0].passages
    assert found.scores[0] == 0
    assert found.scores[-1] < 0


def test_a_long_section_competes_in_parts(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    fact = "块表的默认页长是十六个词元。"
    lines = [f"第{number}天的记录：这里谈别的事情，与问题没有关系，只是占地方{number}。" * 3 for number in range(60)]
    ingest(tmp_path, hash_embedder, {"diary.txt": "\n\n".join([*lines[:40], fact, *lines[40:]])})
    with closing(open_index(tmp_path / "index")) as index:
        found = rank(index, hash_embedder, search(index, hash_embedder, "块表的默认页长是多少词元"))
    assert len(found.sections) > 3
    assert max(section.length for section in found.sections) <= LONG
    assert fact in found.sections[0].texts


def test_an_embedder_has_weights_of_its_own(
    library_index: Index, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(fitted_weights(), library_index.manifest.embedder_name, replace(NOTHING, short_answer=1.0))
    found = rank(library_index, hash_embedder, search(library_index, hash_embedder, QUESTION))
    assert found.sections[0].is_short_answer
    assert set(found.scores) == {0.0, 1.0}


def test_a_sentence_that_only_sends_elsewhere_answers_nothing(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    page = "# 缓存\n\n## 缓存有多大\n缓存有多大见 [缓存](cache.md) 与 [显存的账](memory.md)。\n\n缓存有多大要看层数。\n"
    ingest(tmp_path, hash_embedder, {"a.md": page})
    with closing(open_index(tmp_path / "index")) as index:
        found = rank(index, hash_embedder, search(index, hash_embedder, "缓存有多大"))
        section = next(section for section in found.sections if section.heading == "缓存有多大")
        sends, answers = section.best_of_each
        assert sends == -1.0 < answers


def test_only_what_a_search_proposed_competes_unless_a_form_is_wanted(
    tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    parts = {name: f"这一节谈{name}，说法各不相同，句子也不短。" * 20 for name in ("钥匙", "门锁", "窗户")}
    page = "# 房子\n\n" + "".join(f"## {name}\n{text}\n\n" for name, text in parts.items())
    ingest(tmp_path, hash_embedder, {"a.md": page})
    with closing(open_index(tmp_path / "index")) as index:

        def competing(question: str) -> list[str]:
            """The headings that compete where the search proposes nothing but its first hit."""
            evidence = search(index, hash_embedder, question, k=1)
            assert evidence.candidates is not None
            nothing = replace(evidence.candidates.dense, numbers=np.zeros(0, np.int64), scores=np.zeros(0, np.float32))
            evidence = replace(evidence, candidates=replace(evidence.candidates, dense=nothing, keyword=nothing))
            return sorted({section.heading for section in rank(index, hash_embedder, evidence).sections})

        assert competing("钥匙谈什么") == ["钥匙"]
        assert competing("给我钥匙的代码") == sorted(parts)


def test_a_section_that_is_best_asked_for_competes_wherever_it_stands(
    tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    def page(title: str, heading: str, question: str, text: str) -> str:
        return f'---\ntitle: {title}\nquestions:\n  "{heading}": ["{question}"]\n---\n# {title}\n\n{text}\n'

    house = page("房子", "门", "前门怎么开", "## 屋顶\n屋顶是红的。\n\n## 门\n往里推。")
    car = page("车", "轮子", "前轮怎么换", "## 轮子\n前轮怎么换，先松螺丝。")
    notes = "# 笔记\n\n## 前门\n前门的钥匙在抽屉里。\n"
    ingest(tmp_path, hash_embedder, {"house.md": house, "car.md": car, "notes.md": notes})
    with closing(open_index(tmp_path / "index")) as index:
        evidence = search(index, hash_embedder, "前门怎么开")

        def competing(document: str, index: Index = index, wanted: Wanted = NOTHING_ELSE) -> set[tuple[str, str]]:
            """The sections that compete where a search found only this document."""
            hits = tuple(hit for hit in evidence.hits if hit.passage.document == document)
            found = rank(index, hash_embedder, replace(evidence, hits=hits), pages=1, wanted=wanted)
            return {(section.document, section.heading) for section in found.sections}

        assert competing("car.md") == {("car.md", "轮子"), ("house.md", "门")}
        # What is asked in a talk says less than it asks; what is not among the documents chosen stays out.
        assert competing("car.md", wanted=Wanted(heard="屋顶是红的。")) == {("car.md", "轮子")}
        assert competing("car.md", index.part(["car.md"])) == {("car.md", "轮子")}
        # Notes without such questions are answered from themselves.
        assert competing("notes.md") == {("notes.md", "前门")}


def test_of_two_that_say_the_same_the_translation_comes_first_for_who_asks_in_its_language(
    tmp_path: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = (
        "Warmup takes small steps first. " + "Later the steps are as large as they were meant to be. " * 40
    )  # a passage
    page = f"# 预热\n\n## 展开\n### Warmup\n{said}\n\n## English\n### Warmup steps\n{said}\n"
    ingest(tmp_path, hash_embedder, {"a.md": page})
    monkeypatch.setitem(fitted_weights(), DEFAULT, NOTHING)  # nothing else tells them apart
    with closing(open_index(tmp_path / "index")) as index:
        english, chinese = (
            rank(index, hash_embedder, search(index, hash_embedder, question))
            for question in ("why does warmup take small steps", "为什么 warmup 的步子要小")
        )
    first, *others = [section.is_translation for section in english.sections]
    assert first
    assert others
    assert not any(others)
    assert {section.is_translation for section in chinese.sections} == {False}
