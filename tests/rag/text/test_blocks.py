"""Blocks: what a Markdown text is made of, and how its blocks belong together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.text.blocks import Block, BlockKind
from rag.text.markdown import parse, prose_of
from tests.code_blocks import code_of
from tests.processor_time import processor_seconds, takes_less

NOTE = """\
# 显存 ##

训练时的显存有三份：

- 参数；
  每个 2 字节。
- 优化器状态，例如：
  ```python
  state = {}

    indented = 1
  ```
1. 先看参数

> 引用一句。

实现如下
````text
```
not the end
```
````
| 名 | 值 |
|---|---|
尾句。
$$
x

y
$$
"""


def kinds(text: str) -> list[BlockKind]:
    return [block.kind for block in parse(text)]


def body(text: str, block: Block) -> str:
    return text[block.body_start : block.body_end]


def test_kinds_of_a_note() -> None:
    assert kinds(NOTE) == [
        BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.LIST_ITEM, BlockKind.CODE,
        BlockKind.LIST_ITEM, BlockKind.QUOTE, BlockKind.PARAGRAPH, BlockKind.CODE, BlockKind.TABLE,
        BlockKind.PARAGRAPH, BlockKind.FORMULA,
    ]  # fmt: skip
    heading, _, first, _, code, numbered, quote, _, fence, *_ = parse(NOTE)
    assert (body(NOTE, heading), heading.level) == ("显存", 1)
    assert (first.mark, body(NOTE, first)) == ("-", "参数；\n  每个 2 字节。")
    assert (code.language, code_of(NOTE, code)) == ("python", "state = {}\n\n  indented = 1")
    assert numbered.mark == "1."
    assert body(NOTE, quote) == "引用一句。"
    assert (fence.language, code_of(NOTE, fence)) == ("text", "```\nnot the end\n```")


def test_how_blocks_belong_together() -> None:
    blocks = parse(NOTE)
    assert [block.list_number for block in blocks] == [-1, -1, 0, 0, 0, 1, -1, -1, -1, -1, -1, -1]
    assert [place for place, block in enumerate(blocks) if block.announces] == [1, 3, 7]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("一段\n---\n", [BlockKind.PARAGRAPH, BlockKind.RULE]),  # a rule that is not as long as the line
        ("- 点\n后面的一行", [BlockKind.LIST_ITEM, BlockKind.PARAGRAPH]),
        ("说明\n2. 第二\n3. 第三", [BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.LIST_ITEM]),
        ("• 甲\n• 乙\n1、 丙", [BlockKind.LIST_ITEM] * 3),
        ("| a | b |\n后文", [BlockKind.TABLE, BlockKind.PARAGRAPH]),
        ("a | b\n--|--\n1 | 2", [BlockKind.TABLE]),
        ("    四个空格", [BlockKind.PARAGRAPH]),
        ("<div>\n\n[x]: https://example.org", [BlockKind.RULE, BlockKind.PARAGRAPH]),
        ("正文\n<!-- 内部讨论，\n勿外传 -->\n后文", [BlockKind.PARAGRAPH, BlockKind.RULE, BlockKind.PARAGRAPH]),
        ("<!-- 没有结束\n正文", [BlockKind.PARAGRAPH]),
        ("> [!WARNING]\n> 小心。", [BlockKind.RULE, BlockKind.QUOTE]),
        (":::tip 经验\n正文。\n:::", [BlockKind.RULE, BlockKind.PARAGRAPH, BlockKind.RULE]),
        ("标题\n====", [BlockKind.HEADING]),
        ("标题\n----", [BlockKind.HEADING]),
        ("\\[\na = b\n\\]", [BlockKind.FORMULA]),
        ("$$ 没有结束\n正文", [BlockKind.PARAGRAPH]),
        ("$$a$$ 其中 a 是长度", [BlockKind.PARAGRAPH]),
        ("- ", [BlockKind.LIST_ITEM]),
        ("> # 引用里的标题", [BlockKind.QUOTE]),
    ],
)
def test_what_notes_and_scraped_pages_need(text: str, expected: list[BlockKind]) -> None:
    assert kinds(text) == expected


def test_known_headings_are_headings() -> None:
    text = "1. 什么是早停？\n1. 看验证集\n2. 什么是热身？\n```\n3. 不是？\n```"
    blocks = parse(text, {0: 2, 2: 2, 4: 2})
    assert [(block.kind, block.level) for block in blocks] == [
        (BlockKind.HEADING, 2), (BlockKind.LIST_ITEM, 1), (BlockKind.HEADING, 2), (BlockKind.CODE, 0),
    ]  # fmt: skip


PIECES = (
    "# h\n", "- ", "1. ", "2、 ", "> ", "```\n", "~~~\n", "````x\n", "$$\n", "$$", "|", "|-|\n", "\n", "\n\n", "  ",
    "\t", "词。", "a: ", "---\n", "\r\n", "\u3000", "\0", "[x]: y\n", "<b>\n", "• ", "====\n",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_every_line_stands_in_one_block(text: str) -> None:
    position = 0
    for block in parse(text):
        assert position <= block.start <= block.body_start <= block.body_end <= block.end <= len(text)
        assert not text[position : block.start].strip()
        position = block.end
    assert not text[position:].strip()


CODE = st.text("`~ab$|#->1.\n\t ：。", max_size=60)


@given(CODE, st.sampled_from("`~"), st.sampled_from(["", "- ", "1. ", "> ", "- - ", "> - "]))
def test_code_comes_back_from_any_fence(code: str, sign: str, container: str) -> None:
    longest = max((len(run) for run in code.replace("\n", " ").split(" ")), default=0)
    mark = sign * max(3, longest + 1)
    indent = "".join(" " if character != ">" else ">" for character in container)
    lines = [f"{mark}python", *code.split("\n"), mark]
    text = container + "\n".join(f"{indent if place else ''}{line}" for place, line in enumerate(lines))
    (block,) = parse(f"{text}\n")
    assert (block.kind, block.language, code_of(text, block)) == (BlockKind.CODE, "python", code)


def test_prose_is_what_is_neither_code_nor_formula() -> None:
    assert prose_of("前\n````\n```\nx\n````\n中\n$$\ny\n$$\n后").split() == ["前", "中", "后"]
    assert prose_of("前\n```python\nx = 1").split() == ["前"]


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "unit",
    ["```\n", "- ```\n", "~~~\n- ", "$$ a\n", "$$\na\n", "> ", "- ", "1. ", "> a\n", "- a\n", "  - a\n", "a\n\n",
     "| a\n|-", "a|b\n-|-\n", "# a\n", "[x]: y\n", "a" * 50_000 + "\n", "`", "  > - "],
)  # fmt: skip
def test_the_time_is_linear_in_the_text(unit: str) -> None:
    small = 20_000 // min(len(unit), 200)
    seconds = processor_seconds(lambda: parse(unit * small))
    assert takes_less(lambda: parse(unit * 8 * small), 8 * 5 * max(seconds, 0.01))


def test_nesting_is_bounded() -> None:
    deep = "\n".join("  " * level + "- a" for level in range(500))
    assert len(parse(f"{'> ' * 5_000}a\n\n{deep}")) == 501
