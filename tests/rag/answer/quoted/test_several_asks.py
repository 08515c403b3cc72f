"""A question that asks several things: each is ranked for itself, and one paragraph opens with what answers each."""

from dataclasses import replace
from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.answer.choices import Caution, Choices
from rag.answer.evidence import ask_evidence
from rag.answer.quoted.choosing import NEARLY_AS_GOOD, choose_paragraphs
from rag.answer.quoted.opening import LEAD_CHARACTERS, split_lead
from rag.answer.quoted.ranking import OF_WHOLE, SectionRanking, rank
from rag.answer.quoted.sections import Section
from rag.answer.quoted.writer import write_quotes
from rag.answer.trace import NO_RESULT
from rag.index import Index, open_index
from rag.question.follow_ups import Standalone
from rag.question.question import question_of
from rag.search.retrieval import search
from rag.search.searcher import Searcher
from rag.types import AnswerKind
from tests.conftest import HashEmbedder
from tests.rag.library import ingest, library_settings

PAGE = """\
# 分页缓存怎么用？

## 一句话回答
分页缓存按块分配显存，用完就还。

## 口述
分页缓存我会先讲为什么，再讲怎么做。它按块分配显存。

## 分页缓存解决什么问题
分页缓存解决显存碎片的问题。碎片来自预留。

预留的尾巴没人用。

## 块大小设多大
块大小默认设 16，块小浪费少。

| 块 | 浪费 |
| --- | --- |
| 16 | 少 |

## 换出的公式
换出的时间按下式算：

$$
t = n / b
$$

其中 $n$ 是字节数。
"""
QUESTION = "分页缓存解决什么问题，块大小设多大"


@pytest.fixture
def index(tmp_path: Path, hash_embedder: HashEmbedder) -> Index:
    ingest(tmp_path, hash_embedder, {"cache.md": PAGE, "other.md": "# 别的\n\n块表记录页号。\n"})
    return open_index(tmp_path / "index")


def headed(index: Index, embedder: HashEmbedder, *headings: str) -> SectionRanking:
    """A ranking of the page's sections under these headings, the first far better than the others."""
    ranking = rank(index, embedder, search(index, embedder, QUESTION))
    found = {section.heading: section for section in ranking.sections if section.document == "cache.md"}
    scores = (9.0, *(0.0 for _ in headings[1:]))
    return SectionRanking(ranking.query, tuple(found[heading] for heading in headings), scores)


def quoted(index: Index, *asks: SectionRanking, characters: int = 1_200) -> str:
    whole = replace(asks[0], asks=asks)
    chosen = choose_paragraphs([whole], characters=characters)
    return write_quotes(chosen, {"cache.md": index.storage.source("cache.md") or ""}).text


def test_one_paragraph_opens_with_what_answers_each_and_the_rest_of_each_follows(
    index: Index, hash_embedder: HashEmbedder
) -> None:
    text = quoted(
        index,
        headed(index, hash_embedder, "分页缓存解决什么问题"),
        headed(index, hash_embedder, "块大小设多大"),
    )
    first, heading, rest, *others = text.split("\n\n")
    assert first == "分页缓存解决显存碎片的问题。 [1] 碎片来自预留。 [2] 块大小默认设 16，块小浪费少。 [3]"
    assert heading == "**分页缓存解决什么问题**"
    assert rest == "预留的尾巴没人用。 [4]"
    assert others[0] == "**块大小设多大**"
    assert others[1].startswith("| 块 | 浪费 |")


def test_what_one_section_answers_is_quoted_as_for_one_question(index: Index, hash_embedder: HashEmbedder) -> None:
    same = headed(index, hash_embedder, "分页缓存解决什么问题")
    alone = quoted(index, same, same)
    assert alone == quoted(index, replace(same, sections=same.sections))
    assert alone.startswith("分页缓存解决显存碎片的问题。")
    assert "块大小" not in alone


@pytest.mark.parametrize(("score", "follows"), [(8.0, True), (9.0 - NEARLY_AS_GOOD - 0.1, False)])
def test_of_two_things_with_one_section_one_takes_what_is_nearly_as_good(
    index: Index, hash_embedder: HashEmbedder, score: float, follows: bool
) -> None:
    """The section that both have comes first, whichever of them keeps it."""
    clear = headed(index, hash_embedder, "分页缓存解决什么问题", "换出的公式")
    near = headed(index, hash_embedder, "分页缓存解决什么问题", "块大小设多大")
    near = replace(near, scores=(9.0, score))
    for asks in ((clear, near), (near, clear)):
        first = quoted(index, *asks).split("\n\n")[0]
        assert first.startswith("分页缓存解决显存碎片的问题。 [1]")
        assert ("块大小默认设 16" in first) is follows


def test_what_nothing_answers_is_left_out(index: Index, hash_embedder: HashEmbedder) -> None:
    answered = headed(index, hash_embedder, "块大小设多大")
    assert quoted(index, answered, SectionRanking("为什么")) == quoted(index, answered)


def test_the_short_answer_leads_where_the_spoken_one_answers(index: Index, hash_embedder: HashEmbedder) -> None:
    spoken = headed(index, hash_embedder, "口述", "一句话回答")
    text = quoted(index, spoken, headed(index, hash_embedder, "块大小设多大"))
    first, *others = text.split("\n\n")
    assert first == "分页缓存按块分配显存，用完就还。 [1] 块大小默认设 16，块小浪费少。 [2]"
    assert "分页缓存我会先讲为什么，再讲怎么做。" in others[1]


def test_what_announces_a_block_leads_nothing(index: Index, hash_embedder: HashEmbedder) -> None:
    text = quoted(index, headed(index, hash_embedder, "换出的公式"), headed(index, hash_embedder, "块大小设多大"))
    assert text.startswith("块大小默认设 16，块小浪费少。 [1]\n\n**换出的公式**\n\n换出的时间按下式算：")


def section(index: Index, embedder: HashEmbedder, text: str, tmp_path: Path) -> Section:
    ingest(tmp_path / "long", embedder, {"long.md": f"# 长\n\n## 节\n{text}\n"})
    opened = open_index(tmp_path / "long" / "index")
    [found] = [s for s in rank(opened, embedder, search(opened, embedder, "节")).sections if s.heading == "节"]
    return found


def test_a_lead_is_what_is_read_at_once(index: Index, hash_embedder: HashEmbedder, tmp_path: Path) -> None:
    sentences = ["".join(chr(0x4E00 + 61 * n + k) for k in range(60)) + "。" for n in range(4)]
    lead, rest = split_lead(section(index, hash_embedder, "".join(sentences), tmp_path))
    texts = [text for paragraph in lead for text in paragraph.texts]
    assert texts == sentences[:2]
    assert sum(map(len, texts)) <= LEAD_CHARACTERS
    assert [text for paragraph in rest for text in paragraph.texts] == sentences[2:]


def test_a_first_sentence_leads_however_long(
    index: Index, hash_embedder: HashEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.answer.quoted.opening.LEAD_CHARACTERS", 20)
    sentence = "".join(chr(0x4E00 + k) for k in range(60)) + "。"
    lead, rest = split_lead(section(index, hash_embedder, f"{sentence}短句。", tmp_path))
    assert [text for paragraph in lead for text in paragraph.texts] == [sentence]
    assert [text for paragraph in rest for text in paragraph.texts] == ["短句。"]


def test_a_later_thing_is_searched_with_those_before_it() -> None:
    question = question_of(Standalone(QUESTION))
    assert [(ask.question, ask.subject) for ask in question.asks] == [
        ("分页缓存解决什么问题", ""),
        ("块大小设多大", "分页缓存解决什么问题"),
    ]
    assert question_of(Standalone("分页缓存解决什么问题")).asks == ()
    parts = question_of(Standalone("LoRA 的秩怎么选，为什么？另外 QLoRA 用什么数据类型"))
    assert [(ask.question, ask.subject) for ask in parts.asks][-1] == ("QLoRA 用什么数据类型", "")


@pytest.mark.parametrize(
    ("message", "later"),
    [
        ("如何计算 all-reduce 的通信量？公式是什么？", ("公式是什么", "如何计算 all-reduce 的通信量")),
        ("What is MoE? What are the trade-offs?", ("What are the trade-offs?", "What is MoE")),
    ],
)
def test_a_part_that_names_too_little_is_asked_of_those_before_it(message: str, later: tuple[str, str]) -> None:
    question = question_of(Standalone(message))
    assert len(question.parts) == 2
    assert (question.asks[-1].question, question.asks[-1].subject) == later


def test_the_score_for_the_whole_counts_in_part(index: Index, hash_embedder: HashEmbedder) -> None:
    searcher = Searcher(index, hash_embedder, 5)
    evidence = ask_evidence(searcher, Standalone("块大小设多大", "分页缓存解决什么问题"))
    alone = rank(index, hash_embedder, evidence)
    liked = next(s for s in alone.sections if s.heading == "换出的公式")
    whole = SectionRanking(
        "", (liked, *(s for s in alone.sections if s.key != liked.key)), (50.0, *[0.0] * (len(alone.sections) - 1))
    )
    beside = rank(index, hash_embedder, evidence, whole=whole)
    assert beside.sections[0].key == liked.key
    before = dict(zip((s.key for s in alone.sections), alone.scores, strict=True))
    assert beside.scores[0] == pytest.approx(before[liked.key] + OF_WHOLE * 50.0)


def test_one_question_is_answered_so_from_end_to_end(tmp_path: Path, index: Index, hash_embedder: HashEmbedder) -> None:
    assistant = Assistant(library_settings(tmp_path), hash_embedder).choosing(Choices(caution=Caution.BOLD))
    answer = assistant.ask(QUESTION)
    assert answer.kind is AnswerKind.ANSWER
    first = answer.text.split("\n\n")[0]
    assert "分页缓存解决显存碎片的问题。" in first
    assert "块大小默认设 16" in first


def test_a_follow_up_may_ask_several_things() -> None:
    question = question_of(Standalone("它解决什么问题，块大小设多大", "分页缓存是什么"))
    assert [(ask.question, ask.subject) for ask in question.asks] == [
        ("它解决什么问题", "分页缓存是什么"),
        ("块大小设多大", "分页缓存是什么 它解决什么问题"),
    ]
    assert question_of(Standalone("给个公式，再写段代码看看怎么样", "分页缓存是什么", restates=True)).asks == ()


def test_what_is_silent_is_not_asked_again() -> None:
    """Of parts whose subject the material lacks nothing is ranked."""
    question = question_of(Standalone("LoRA 的秩怎么选，为什么？另外 QLoRA 用什么数据类型"))
    result = replace(NO_RESULT, question=question)
    assert len(result.asks) == 3
    assert [ask.question for ask in replace(result, silent=(question.parts[1],)).asks] == ["LoRA 的秩怎么选", "为什么"]
    assert replace(result, silent=(question.parts[0],)).asks == ()


def test_a_longer_style_says_more_of_each(index: Index, hash_embedder: HashEmbedder) -> None:
    def length(cut: float, characters: int) -> int:
        asks = [
            headed(index, hash_embedder, "分页缓存解决什么问题", "换出的公式"),
            headed(index, hash_embedder, "块大小设多大", "换出的公式"),
        ]
        near = tuple(replace(ranking, scores=(9.0, 8.0)) for ranking in asks)
        chosen = choose_paragraphs([replace(near[0], asks=near)], characters=characters, cut=cut)
        return sum(paragraph.length for paragraph in chosen)

    assert length(1.0, 1_200) < length(0.5, 3_000)
