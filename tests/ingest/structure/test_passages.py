"""Sections to passages: within the budget, nothing lost, every piece exact, and never more than the embedder takes."""

import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ingest.formats.markdown import fence
from ingest.structure.large_blocks import count_tokens
from ingest.structure.passages import (
    ALSO_ASKED_TOKENS,
    HEADER_TOKENS,
    Draft,
    bare_headings,
    cut,
    split_draft,
)
from ingest.structure.sections import structure
from rag.embedding import Embedder
from rag.text.blocks import BlockKind
from rag.text.mapped import MappedText
from tests.code_blocks import code_of
from tests.ingest.made_up import all_text, document, passages

SENTENCES = [
    "注意力把每个位置和其他位置联系起来。",
    "The key cache grows with every token.",
    "归一化让训练更稳定，学习率可以更大；",
    "显存由参数、梯度、优化器状态组成！",
    "为什么要除以维度的平方根呢？",
    "x = softmax(q @ k.T / scale) @ v, then project.",
]
Prose = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=30).map("".join)
Block = st.one_of(
    Prose,
    st.lists(Prose, min_size=1, max_size=4).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.integers(1, 60).map(
        lambda n: "```python\n" + "\n".join(f"    value_{k} = step({k})" for k in range(n)) + "\n```"
    ),
    st.integers(1, 60).map(
        lambda n: "| method | memory |\n|---|---|\n" + "\n".join(f"| row {k} | cost of {k} units |" for k in range(n))
    ),
    st.integers(1, 6).map(lambda level: "#" * level + " 一节的标题文字写在这里"),
    st.text("字a1😀\u0301\u200d的。，.- ", min_size=12, max_size=400).map(lambda text: f"正文从这里开始写起{text}"),
)
Pages = st.lists(Block, min_size=1, max_size=12).map("\n\n".join)


def characters(pieces: MappedText) -> list[int]:
    """Places in the source of the letters and marks of a text."""
    return [
        piece.source_start + offset
        for piece in pieces.pieces
        for offset in range(piece.length)
        if not pieces.text[piece.text_start + offset].isspace()
    ]


def repeated_on_purpose(draft: Draft) -> int:
    """How many characters of a passage are marks of a fence or the head of a table."""
    lines = draft.content.text.split("\n")
    heads = [line for line in lines if re.match(r"```|\| method|\|---", line)]
    return sum(len("".join(line.split())) for line in heads)


@given(Pages, st.sampled_from([64, 128, 320]))
@hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_is_lost_and_nothing_stands_twice(page: str, budget: int) -> None:
    """Each character of the blocks of the cleaned text (headings apart) stands in exactly one passage; only the marks
    of a fence and the head of a table stand again where they were cut."""
    structured = structure(document(page, "page.md"))
    drafts = cut(structured, budget=budget)
    blocks = Counter(place for s in structured.root.walk() for block in s.blocks for place in characters(block))
    headings = {place for s in structured.root.walk() if s.heading for place in characters(s.heading)}
    found = Counter(place for draft in drafts for place in characters(draft.content))
    assert set(blocks) <= set(found) <= set(blocks) | headings
    twice = {place for place, count in found.items() if count > 1}
    marks = {place for place in twice if re.match(r"```|\| method|\|---", line_at(page, place))}
    assert twice == marks
    assert "\ufffd" not in all_text(drafts)
    for draft in drafts:
        assert count_tokens(draft.content.text) <= budget
    passages(page, "page.md", budget=budget)  # every piece is a slice of the source


def line_at(text: str, place: int) -> str:
    return text[text.rfind("\n", 0, place) + 1 :].split("\n", 1)[0]


@pytest.mark.parametrize("budget", [64, 320])
@pytest.mark.parametrize(
    "block",
    [
        "字" * 3_000,
        "a" * 3_000,
        "0123456789abcdef" * 200,
        "😀👩‍👩‍👧‍👦🇨🇳家" * 200,
        "e\u0301" * 1_000,
        "𠮷野家" * 500,
        "word " * 2_000,
        "\\frac{\\partial L}{\\partial x_{i,j}} + " * 120,
        "<|endoftext|>" * 300,
        "=" * 5_000 + "结束于此处的文字",
        "| " + "很长的表头" * 200 + " |\n|---|\n" + "| 一行 |\n" * 50,
        "```" + "x" * 3_000 + "\n" + "code = 1\n" * 100 + "```",
        "\n".join(f"- {'点' * (n % 90)}到此为止的一点" for n in range(100)),
    ],
    ids=range(13),
)
def test_nasty_blocks_hold_the_budget(block: str, budget: int) -> None:
    drafts = passages(f"# 标题在此\n\n{block}\n", "page.md", budget=budget)
    assert drafts
    assert max(count_tokens(draft.content.text) for draft in drafts) <= budget
    assert "\ufffd" not in all_text(drafts)
    kept = Counter("".join(all_text(drafts).split()))
    assert not Counter("".join(block.split())) - kept


@pytest.mark.parametrize("answer", ["80 GB", "稳定。", "答案：0", "否", "7"])
def test_no_answer_is_too_short_for_a_passage(answer: str) -> None:
    drafts = passages(
        f"# 常见问题\n\n## H100 的显存多大？\n\n{answer}\n\n## 还有别的吗？\n\n{SENTENCES[2]}\n", "page.md"
    )
    assert any(answer in draft.content.text and "H100" in draft.content.text for draft in drafts)


@pytest.mark.parametrize(
    "page",
    [
        "推理服务的默认端口是 7861，调试端口是 7862。\n日志写在 /var/log/serve 下，保留三十天。\n",
        "注意：不要在周五上线！\n上线之前先跑一遍回放。\n",
        "默认端口 7861\n调试端口 7862\n",
        "7863\n",
    ],
)
def test_the_first_line_of_a_text_is_text_unless_it_reads_as_a_title(page: str) -> None:
    assert "".join(all_text(passages(page)).split()) == "".join(page.split())


def test_a_heading_without_text_is_told() -> None:
    structured = structure(document("# 页名\n\n正文在此处。\n\n## 附录里有什么？\n", "page.md"))
    drafts = cut(structured, budget=320)
    assert bare_headings(structured, drafts) == ("附录里有什么？",)


def test_a_question_and_its_answer_stay_together_while_they_fit() -> None:
    told = SENTENCES[0] * 6
    page = f"题集\n1、什么是注意力？\n答案：{told}\n- 一点{told}\n2、什么是归一化？\n答案：{SENTENCES[2]}\n"
    first, second = passages(page)
    assert first.content.text == f"1、什么是注意力？\n{told}\n- 一点{told}"
    assert second.content.text == f"2、什么是归一化？\n{SENTENCES[2]}"


def test_a_longer_answer_is_cut_between_its_sections() -> None:
    told = SENTENCES[0] * 12
    page = (
        f"题集\n1、什么是注意力？\n答案：\n(1)定义如下\n{told}\n(2)推导如下\n{told}\n2、什么是归一化？\n答案：短答。\n"
    )
    texts = [draft.content.text for draft in passages(page, budget=320)]
    assert texts[0].startswith("(1)定义如下")
    assert texts[1].startswith("(2)推导如下")


def test_the_heading_path_is_known_and_embedded() -> None:
    page = "# 手册\n\n## 二、训练\n\n### 3. 什么是热身？\n\n学习率从小到大慢慢升高。\n"
    (draft,) = passages(page, "page.md")
    assert draft.section == ("手册", "二、训练", "3. 什么是热身？")
    assert draft.header == "手册 > 训练 > 什么是热身？"
    assert draft.embedded_text.startswith(draft.header + "\n")


def test_other_ways_to_ask_are_embedded_with_the_first_passage() -> None:
    page = f"# {'学习率' * 30}热身\n\n{SENTENCES[0] * 30}\n"
    asked = [f"第 {number} 种问法：学习率为什么要先从小到大升上去，再慢慢降下来？" for number in range(6)]
    first, *others = cut(structure(document(page, "page.md")), budget=64, also_asked=["为什么 warmup？", *asked])
    assert all(way in first.header for way in ("为什么 warmup？", *asked))
    assert all("warmup" not in draft.header for draft in others)
    endless, *_ = cut(structure(document(page, "page.md")), budget=64, also_asked=["为什么 warmup？", "x" * 5_000])
    assert "为什么 warmup？" in endless.header
    assert count_tokens(endless.header) <= HEADER_TOKENS + ALSO_ASKED_TOKENS + 1


def test_cut_tables_keep_their_head() -> None:
    rows = "\n".join(f"| 方法{n} | 显存占用是 {n} GB |" for n in range(60))
    drafts = passages(f"# 表\n\n| 方法 | 显存 |\n|---|---|\n{rows}\n", "page.md", budget=128)
    assert len(drafts) > 3
    for draft in drafts:
        assert "| 方法 | 显存 |\n|---|---|\n| 方法" in draft.content.text
    assert sum(draft.content.text.count("GB") for draft in drafts) == 60


def test_cut_fences_keep_their_marks_and_indentation() -> None:
    code = "\n".join(f"    total_{n} = total + {n}" for n in range(60))
    drafts = passages(f"# 码\n\n```python\ndef add(total):\n{code}\n```\n", "page.md", budget=128)
    assert len(drafts) > 3
    for draft in drafts:
        fence = draft.content.text[draft.content.text.index("```python") :]
        assert fence.startswith("```python\n")
        assert fence.endswith("\n```")
        assert all(line.startswith(("    total_", "def ")) for line in fence.split("\n")[1:-1])


def test_a_document_of_headings_alone_says_them() -> None:
    assert [draft.content.text for draft in passages("# 这是一个写得比较长的标题\n", "page.md")] == [
        "# 这是一个写得比较长的标题"
    ]


def test_the_short_end_of_a_long_answer_is_not_lost() -> None:
    page = "# 标题\n\n" + "".join(f"- {'点' * (n % 60)}到此为止\n" for n in range(60))
    assert all_text(passages(page, "page.md", budget=64)).count("到此为止") == 60


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "page",
    [
        "普通的一行文字，没有空行\n" * 30_000,
        "0123456789abcdef" * 25_000,
        "a " * 150_000,
        "- 点，这是其中一点\n" * 15_000,
        "".join(f"# {n} 节\n\n短短的一句话而已。\n\n" for n in range(3_000)),
    ],
    ids=range(5),
)
def test_large_documents_take_seconds(page: str) -> None:
    drafts = passages(page, "page.md")
    kept = sum(len("".join(draft.content.text.split())) for draft in drafts)
    assert kept >= 0.5 * len("".join(page.split()))
    assert max(end for draft in drafts for _, end in draft.content.spans) >= len(page.rstrip()) - 1


NASTY = {
    "formulas": "\\sum_{i=1}^{n}\\frac{\\partial^2 L}{\\partial w_{i}^{2}}" * 60,
    "hex": "9f86d081884c7d659a2feaa0c55ad015" * 90,
    "emoji": "😀👩‍👩‍👧‍👦🇨🇳🤖" * 150,
    "a word of 3,000 characters": "supercalifragilistic" * 150,
    "rare ideographs": "𠮷𡃁𩸽龘靐" * 200,
    "accents": "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤" * 80,
    "thai": "การเรียนรู้ของเครื่อง" * 80,
    "base64": "QmFzZTY0IGlzIG5vdCBwcm9zZSwgaXQgaXMgZGF0YQ" * 60,
    "box drawing": "┌─┬─┐│▓▒░│" * 200,
    "equals signs": "=" * 4_000,
    "spaces": ("字" + "\u3000" * 50) * 60,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NASTY)
def test_no_embedded_text_is_longer_than_the_embedder_takes(embedder: Embedder, name: str) -> None:
    def fits(text: str) -> bool:
        return embedder.count_tokens([text])[0] <= embedder.max_tokens

    drafts = passages(f"# 标题 {NASTY[name][:300]}\n\n一段正文写在此处。{NASTY[name]}\n", "page.md", budget=480)
    parts = [part for draft in drafts for part in split_draft(draft, fits)]
    assert max(embedder.count_tokens([part.embedded_text for part in parts])) <= embedder.max_tokens
    assert len(parts) <= 4 * len(drafts)
    whole = Counter("".join("".join(draft.content.text for draft in drafts).split()))
    assert not whole - Counter("".join("".join(part.content.text for part in parts).split()))


CODE = st.text("`~ab$|#->1.\t ：。扫码免费领取", min_size=10, max_size=80).filter(
    lambda code: "\r" not in code and code.strip()
)


@given(st.lists(CODE, min_size=1, max_size=5), st.sampled_from(["", "- ", "1. "]))
@hypothesis_settings(deadline=None)
def test_code_comes_out_of_an_ingest_as_it_went_in(lines: list[str], container: str) -> None:
    """Whatever the code holds: longer fences, tildes, list marks, headings, what begs elsewhere."""
    code = "\n".join(lines)
    indent = "\n" + " " * len(container)
    block = container + fence(code, "python").replace("\n", indent)
    (draft,) = passages(f"# 标题在此\n\n看这段代码：\n\n{block}\n\n后面还有一句话。\n", "page.md", budget=2_000)
    heading, before, found, after = draft.blocks
    assert code_of(draft.content.text, found) == code
    assert [b.kind for b in (heading, before, found, after)] == [
        BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.CODE, BlockKind.PARAGRAPH,
    ]  # fmt: skip
    assert before.announces


@hypothesis_settings(deadline=None)
@given(st.lists(st.text("aZ1中。，?*)' \t\u3000\n\r", min_size=1, max_size=9).map("x".__add__) | Prose, min_size=1))
def test_the_tokens_of_lines_add_up(texts: list[str]) -> None:
    last = len(texts) - 1
    parts = sum(count_tokens(text + "\n" * (place < last)) for place, text in enumerate(texts))
    assert parts == count_tokens("\n".join(texts))


@given(Pages, st.sampled_from([32, 64, 320]))
@hypothesis_settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_blocks_of_a_passage_cover_its_text(page: str, budget: int) -> None:
    drafts = passages(page, "page.md", budget=budget)
    halved = [part for draft in drafts for part in split_draft(draft, lambda text: len(text) <= 60)]
    for draft in (*drafts, *halved):
        text, position = draft.content.text, 0
        for block in draft.blocks:
            assert position <= block.start <= block.body_start <= block.body_end <= block.end <= len(text)
            assert not text[position : block.start].strip()
            position = block.end
        assert not text[position:].strip()


def test_what_is_cut_stays_what_it_was() -> None:
    """A list, a table and code that are larger than a passage: the parts are told to be of one block."""
    items = "\n".join(f"- 第{n}点：{SENTENCES[0]}" for n in range(30))
    code = "\n".join(f"value_{n} = {n}" for n in range(90))
    page = f"# 标题在此\n\n要点如下：\n{items}\n\n```python\n{code}\n```\n"
    drafts = passages(page, "page.md", budget=96)
    blocks = [(draft, block) for draft in drafts for block in draft.blocks]
    assert {block.list_number for _, block in blocks if block.kind is BlockKind.LIST_ITEM} == {0}
    codes = [(draft, block) for draft, block in blocks if block.kind is BlockKind.CODE]
    assert len(codes) > 3
    assert all(block.language == "python" and block.is_closed for _, block in codes)
    assert "\n".join(code_of(draft.content.text, block) for draft, block in codes) == code


def test_a_draft_is_split_until_it_fits() -> None:
    draft = Draft(("甲",), MappedText.copied(SENTENCES[0] * 20, 5), "甲")
    parts = split_draft(draft, lambda text: len(text) <= 100)
    assert all(len(part.embedded_text) <= 100 for part in parts)
    assert "".join(part.content.text for part in parts) == draft.content.text
    assert {part.section for part in parts} == {("甲",)}


def test_a_header_that_leaves_no_room_is_shortened() -> None:
    draft = Draft(("甲",), MappedText.copied("正文" * 20, 0), "=" * 300)
    parts = split_draft(draft, lambda text: len(text) <= 100)
    assert all(len(part.embedded_text) <= 100 for part in parts)
    assert len(parts) <= 4


def test_each_part_of_a_long_row_has_its_name() -> None:
    long = "先看日志再看监控，最后复现问题。" * 60
    head = "| 项目 | 备注 | 做法 | 扣分 |\n|---|---|---|---|\n"
    rows = f"| 戊项01 |  | {long}共计八千元。 | 7 |\n| 戊项02 | 急 | 短 | 9 |\n"
    parts = [draft.content.text.splitlines() for draft in passages(head + rows, "page.md")]
    assert len(parts) > 2
    assert all(part[:2] == ["| 项目 | 备注 | 做法 | 扣分 |", "|---|---|---|---|"] for part in parts)
    cut_rows = [row for part in parts for row in part[2:] if "戊项01" in row]
    assert len(cut_rows) >= len(parts) - 1
    assert all(row.startswith("| 戊项01 |  | ") and row.endswith(" | 7 |") for row in cut_rows)
    assert "".join(row.split(" | ")[2] for row in cut_rows).replace(" ", "") == f"{long}共计八千元。"
    assert parts[-1][-1] == "| 戊项02 | 急 | 短 | 9 |"


def test_an_item_is_not_cut_from_what_is_nested_in_it() -> None:
    text = "\n".join(f"- 第{n}场\n    - 先讲项目，再写代码，最后问了{n}个关于训练的问题。" for n in range(40))
    for draft in passages(text, "page.md", budget=120):
        assert draft.blocks[0].level == 1
        assert draft.blocks[-1].level == 2
