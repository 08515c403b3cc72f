"""What writers of Markdown add to it: every word stays or is reported, at its place in the source."""

import pytest

from ingest.structure.sections import structure
from rag.text.sentences import units
from tests.ingest.made_up import document, passages
from tests.processor_time import takes_less

NAME = "note.md"


def said(text: str) -> list[str]:
    """What can be quoted of a note, in order, with its headings."""
    return [
        passage.content.text[unit.start : unit.end]
        for passage in passages(text, NAME)
        for unit in units(passage.content.text, passage.blocks)
    ]


def removed(text: str) -> tuple[str, ...]:
    return structure(document(text, NAME)).removed


def test_a_footnote_is_read_with_its_sentence() -> None:
    note = (
        "RoPE 把位置写进相位[^1]。\n\n别的一段。\n\n"
        "[^1]: 苏剑林等人在 2021 年提出，\n    论文为 RoFormer。\n[^2]: 没有人引用。\n"
    )
    assert said(note) == [
        "RoPE 把位置写进相位。", "苏剑林等人在 2021 年提出，", "论文为 RoFormer。", "别的一段。", "[^2]: 没有人引用。",
    ]  # fmt: skip


def test_a_footnote_stands_between_no_sentence_and_its_formula() -> None:
    assert said("分数为[^a]：\n\n$$\nx\n$$\n\n[^a]: 见附录。\n") == ["分数为：", "$$\nx\n$$", "见附录。"]


def test_a_footnote_of_a_table_follows_the_table() -> None:
    assert said("| 项 | 值 |\n|---|---|\n| a[^x] | 2 |\n\n尾句。\n\n[^x]: 按季度计。\n") == [
        "| 项 | 值 |\n|---|---|\n| a | 2 |", "按季度计。", "尾句。",
    ]  # fmt: skip


def test_comments_are_taken_out_and_told() -> None:
    note = "一段<!-- 勿外传 -->文字，`<!-- 代码 -->` 留着。\n\n<!--\n待办\n-->\n\n```html\n<!-- 例子 -->\n```\n"
    assert said(note) == ["一段文字，`<!-- 代码 -->` 留着。", "```html\n<!-- 例子 -->\n```"]
    assert removed(note) == ("<!-- 勿外传 -->", "<!--", "待办", "-->")


def test_a_comment_that_nothing_closes_is_text() -> None:
    assert said("前。\n\n<!-- 没有关上\n后。\n") == ["前。", "<!-- 没有关上", "后。"]


def test_a_fold_is_a_section_where_nothing_else_could_be_taken_for_part_of_it() -> None:
    folds = (
        "# 问答\n\n<details>\n<summary>端口？</summary>\n\n7863\n\n</details>\n"
        "<details><summary>显存？</summary>80 GB</details>\n"
    )
    assert [passage.section for passage in passages(folds, NAME)] == [("问答", "端口？"), ("问答", "显存？")]
    assert said(folds) == ["## 端口？", "7863", "## 显存？", "80 GB"]
    assert said("<details><summary>为何？</summary>\n\n因此。\n\n</details>\n\n之后。\n") == [
        "为何？",
        "因此。",
        "之后。",
    ]


def test_tags_of_folds_on_lines_of_their_own() -> None:
    assert said("前。\n\n<details>\n<summary>\n端口？\n</summary>\n\n7863\n\n</details>\n") == [
        "前。",
        "# 端口？",
        "7863",
    ]
    assert said("<details>\n<summary>没有关上\n\n7863\n") == ["没有关上 7863"]


@pytest.mark.parametrize(
    "text", ["<details><summary>a</summary>\n", "<summary>\n", "<details>\n", "</details>a\n", "<!-- a\n"]
)
def test_very_many_folds_take_no_long_time(text: str) -> None:
    assert takes_less(lambda: structure(document(text * 20_000, NAME)), 10)


@pytest.mark.parametrize(
    ("mark", "title"),
    [
        (":::tip 经验\n先插值。\n:::", ["经验"]),
        (":::tip\n先插值。\n:::", []),
        ('!!! warning "小心"\n    先插值。', ["小心"]),
        ('=== "Linux"\n\n    先插值。', ["Linux"]),
        ("> [!WARNING]\n> 先插值。", []),
        ("> [!note] 记住\n> 先插值。", ["记住"]),
    ],
)
def test_boxes_keep_their_titles(mark: str, title: list[str]) -> None:
    assert said(f"前句。\n\n{mark}\n") == ["前句。", *title, "先插值。"]


def test_a_definition_is_read_with_its_term() -> None:
    assert said("术语\n: 一种解释。\n: 另一种解释。\n") == ["术语：一种解释；另一种解释。"]


def test_tags_are_no_text() -> None:
    note = (
        '共 10<sup>23</sup> 次，H<sub>2</sub>O，<a href="https://a.org/b">见此</a>，<b>要紧</b>。'
        '<img src="x.png" alt="一张图"><del>旧</del>\n\n`<b>` 与 List<String> 不动。\n'
    )
    assert said(note) == [
        "共 10²³ 次，H₂O，[见此](https://a.org/b)，要紧。", "![一张图](x.png)", "`<b>` 与 List<String> 不动。",
    ]  # fmt: skip
    assert removed(note) == ("旧",)


def test_underlined_lines_are_headings() -> None:
    root = structure(document("题目\n====\n\n甲。\n\n小节\n----\n\n乙。\n", NAME)).root
    assert [(section.name, section.level) for section in root.walk()] == [("", 0), ("题目", 1), ("小节", 2)]
    assert said("一句话说完了。\n---\n\n另一句。\n") == ["一句话说完了。", "另一句。"]


def test_what_is_kept_stands_at_its_place() -> None:
    note = "说[^1]完<!-- x -->。\n\n<details><summary>问？</summary>答。</details>\n\n[^1]: 注<b>释</b>。\n"
    whole = document(note, NAME)
    for passage in passages(note, NAME):
        for piece in passage.content.pieces:
            copied = passage.content.text[piece.text_start : piece.text_start + piece.length]
            assert whole.source[piece.source_start : piece.source_start + piece.length] == copied


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("见 [[YaRN]] 与 [[注意力变体#MQA|多查询]]。", "见 YaRN 与 多查询。"),
        ("| 见 [[注意力\\|它]] |", "| 见 它 |"),
        ("图 ![[gqa.png]]如上。", "图 如上。"),
        ("GQA：==多头**共享**一组==，省四倍。", "GQA：多头**共享**一组，省四倍。"),
        ("==痛苦 + 反思 = 进步== 是公式。", "痛苦 + 反思 = 进步 是公式。"),
        ("用 fp32 算。 ^rope-pit", "用 fp32 算。"),
        ("`a[[x]]`、[[1, 2]]、[[1, x], [2, y]]、a==b 与 c==d、x ^2", None),
        ("把分布写成 e ^lambda", None),
        ("召回从 50%% 升到 80%%，", None),
        ("若 x ==1 而 `y== 2`", None),
    ],
)
def test_marks_of_linked_notes_are_read(written: str, read: str | None) -> None:
    assert said(f"{written}\n") == [read or written]


def test_remarks_of_linked_notes_are_taken_out_and_told() -> None:
    note = "省四倍。%%要核对%% 真的。\n"
    assert said(note) == ["省四倍。", "真的。"]
    assert removed(note) == ("要核对",)


def test_what_is_struck_out_is_reported() -> None:
    text = "~~端口是 7000。~~端口是 8000。\n"
    assert (said(text), removed(text)) == (["端口是 8000。"], ("端口是 7000。",))
    assert said("约 ~5 到 ~~ 6 之间。\n") == ["约 ~5 到 ~~ 6 之间。"]


@pytest.mark.parametrize("mark", ["[TOC]", "[[_TOC_]]", "@[toc](目录)"])
def test_the_place_of_a_list_of_contents_says_nothing(mark: str) -> None:
    assert said(f"{mark}\n\n正文。\n") == ["正文。"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("AT&amp;T 要 10 &times; 20&nbsp;GB。", "AT&T 要 10 × 20 GB。"),
        ("记号 &lt;pad&gt; 与 `&lt;`。", "记号 <pad> 与 `&lt;`。"),
        ("&gt; 开头与 &#42; 和 R&D; 不变。", "&gt; 开头与 &#42; 和 R&D; 不变。"),
        ("<p>第三条</p><p>第四条</p>", "第三条 第四条"),
        ("<dl><dt>端口</dt><dd>8000</dd><dt>超时</dt><dd>30 秒</dd></dl>", "端口：8000 超时：30 秒"),
    ],
)
def test_html_in_a_line_is_written_as_it_is_read(written: str, read: str) -> None:
    assert [line.strip() for line in said(f"{written}\n")] == [read]


@pytest.mark.parametrize("mark", ["a&lt;", "a</p>", "~~a"])
def test_very_many_marks_in_a_line_take_no_long_time(mark: str) -> None:
    assert said(mark * 20_000 + "\n")
