"""What scraping adds is dropped, what it broke is repaired, and the rest is untouched."""

import pytest

from ingest.reading.loading import Document
from ingest.structure.cleaning import clean
from ingest.structure.scraped.repair import is_promotion
from tests.ingest.made_up import cleaned, document

PROMOTIONS = [
    "完整的题库可以微信扫描下面的二维码获取，限时100%免费",
    "需要全部笔记的同学，扫码免费领取👇👇👇",
    "由于篇幅有限，这里只能展示一部分题目",
    "👉点击领取学习大礼包👈",
    "觉得有用的话一键三连、求关注！",
    "120本大模型电子书籍",
    "更多推荐",
    "所有评论(12)",
    "  所有评论（0）",
    "版权声明：本文为原创文章，转载请注明出处",
]
ORDINARY = [
    "二维码检测模型用什么做骨干网络？",
    "如何识别模糊的条形码和二维码",
    "扫码支付的风控模型怎么设计？",
    "👉 要点：先归一化，再做残差相加",
    "这里给出三种学习路线",
    "资源包的加载顺序会影响启动时间",
    "评论情感分析是一个分类任务",
    "更多推荐系统的内容见下一章",
    "LoRA 的资源占用",
]


@pytest.mark.parametrize("line", PROMOTIONS)
@pytest.mark.parametrize("name", ["page.txt", "page.md"])
def test_promotions_in_the_middle_and_at_the_end(line: str, name: str) -> None:
    page = f"标题在此\n第一段讲注意力。\n{line}\n第二段讲归一化。\n{line}\n所有评论(3)\n"
    assert cleaned(page, name).split() == ["标题在此", "第一段讲注意力。", "第二段讲归一化。"]


NOTES = """\
# 增长笔记

渠道数据如下，扫码领取优惠券的用户次日留存 41%。
扫码添加企业微信的转化率是 12%，**微信扫码**：**高于短信**。

1. 保存二维码：三张
2. 长按二维码：两张
3. 扫码关注：一张
"""


@pytest.mark.parametrize("name", ["note.md", "note.docx", "note.pdf", "note.csv"])
def test_what_is_no_scraped_page_stays_as_it_was_written(name: str) -> None:
    document = Document(name, NOTES, sha256="", size=1, is_markdown=True)
    found = clean(document)
    assert [line.text for line in found.lines] == NOTES.splitlines()
    assert found.removed == []


@pytest.mark.parametrize(
    "evidence", ["所有评论(12)", "损失值放大2k2^k2k倍", "图编译更快。([example.org][3])", "更多推荐"]
)
def test_a_markdown_page_that_shows_its_scraper_is_cleaned_by_the_line(evidence: str) -> None:
    page = f"# 笔记\n\n正文的第一段。\n微信扫码领取资料\n\n正文的第二段。\n\n```\n微信扫码\n```\n{evidence}\n"
    found = clean(document(page, "page.md"))
    assert "微信扫码领取资料" in found.removed
    kept = [line.text for line in found.lines]
    assert "正文的第一段。" in kept
    assert "正文的第二段。" in kept
    assert "微信扫码" in kept


def test_a_text_without_line_breaks_loses_the_begging_sentence_alone() -> None:
    told = "注意力把每个位置和其他位置联系起来。" * 12
    found = clean(document(f"标题在此\n{told}微信扫一扫领取全部资料！{told}\n"))
    assert found.removed == ["微信扫一扫领取全部资料！"]
    assert found.lines[1].text == told + told


def test_a_document_that_is_one_chapter_is_not_dropped() -> None:
    page = "一、正文\n早停看验证集。\n" + "扫码免费领取\n" * 3
    assert cleaned(page) == "一、正文\n早停看验证集。"


def test_what_was_taken_out_is_told() -> None:
    page = "标题\n- 前向时记录每个张量；\n扫码免费领取\n- 前向时记录每个张量；\n更多推荐\n"
    assert clean(document(page)).removed == ["扫码免费领取", "更多推荐", "- 前向时记录每个张量；"]


@pytest.mark.parametrize("line", ORDINARY)
def test_what_only_sounds_like_a_promotion_stays(line: str) -> None:
    assert not is_promotion(line)
    assert line in cleaned(f"标题在此\n{line}\n", "page.md")


def test_promotions_inside_a_markdown_fence_are_text() -> None:
    page = "```\n扫码免费领取\n```"
    assert cleaned(page, "page.md") == page


def test_a_promoting_chapter_goes_with_its_questions() -> None:
    page = (
        "标题在此\n一、正文\n1. 什么是早停？\n验证集不再变好就停。\n"
        "二、资料获取\n微信扫描下方二维码免费领取\n1. 如何领取这份资料？\n一键三连\n学习路线大纲如下\n第一阶段：入门\n"
    )
    assert cleaned(page).splitlines()[-1] == "验证集不再变好就停。"


def test_one_promoting_line_does_not_cost_its_chapter() -> None:
    page = "标题在此\n一、正文\n早停的作用。\n扫码免费领取\n早停的坏处。\n二、另一章\n还有内容。\n"
    assert cleaned(page).splitlines() == [
        "标题在此",
        "一、正文",
        "早停的作用。",
        "早停的坏处。",
        "二、另一章",
        "还有内容。",
    ]


def test_lone_bullets_belong_to_the_next_line() -> None:
    page = "标题\n-\n\n第一点很重要\n-\n第二点也重要\n-\n\n-\n"
    assert cleaned(page).splitlines() == ["标题", "- 第一点很重要", "- 第二点也重要"]


def test_a_lone_bullet_before_a_heading_or_an_item_goes() -> None:
    page = "标题\n-\n- 已有的点\n-\n2、下一题是什么？\n-\n1. 有序的点\n"
    assert cleaned(page).splitlines() == ["标题", "- 已有的点", "2、下一题是什么？", "1. 有序的点"]


def test_bullets_glued_to_the_end_of_a_line() -> None:
    page = "标题\n先算损失，再反传。 -\n然后更新参数\n"
    assert cleaned(page).splitlines() == ["标题", "先算损失，再反传。", "- 然后更新参数"]


def test_items_glued_into_one_line() -> None:
    page = "标题\n- 先清零梯度; - 再前向计算; - 最后反传梯度\n"
    assert cleaned(page).splitlines() == ["标题", "- 先清零梯度;", "- 再前向计算;", "- 最后反传梯度"]


def test_dashes_that_are_no_bullets_stay() -> None:
    page = "标题\n误差在 -1 到 1 之间\n参数 --fp16\n一段 A - B 的差\n| --- | --- |\n---\n"
    assert cleaned(page).splitlines() == page.splitlines()


def test_a_repeated_truncated_item_goes() -> None:
    page = (
        "标题\n- 前向时：\n- 记录每个张量由谁算出(fn)；\n- 登记每个算子的反向函数。\n"
        "- 记录每个张量由谁算出\n- 反向时：\n- 登记每个算子的反向函数。\n"
    )
    assert cleaned(page).splitlines() == [
        "标题", "- 前向时：", "- 记录每个张量由谁算出(fn)；", "- 登记每个算子的反向函数。", "- 反向时：",
    ]  # fmt: skip


def test_headings_of_lists_may_repeat() -> None:
    page = "标题\n- 优点:\n- 快\n- 缺点:\n- 贵\n- 优点:\n- 省\n- 缺点:\n- 慢\n"
    assert cleaned(page).splitlines() == page.splitlines()


def test_a_repeat_in_another_question_stays() -> None:
    page = "标题\n1、甲是什么？\n- 这一点对两题都成立。\n2、乙是什么？\n- 这一点对两题都成立。\n"
    assert cleaned(page).count("这一点对两题都成立") == 2


def test_a_sentence_broken_at_its_inline_code_is_joined() -> None:
    page = "标题\n- 反向传播之前先调用\nzero_grad();\n否则梯度会累加。\n"
    assert cleaned(page).splitlines() == ["标题", "- 反向传播之前先调用 zero_grad();", "否则梯度会累加。"]


def test_latin_lines_after_a_finished_sentence_stay_apart() -> None:
    page = "标题\n这是完整的一句话，后面没有了。\nTransformer 是另一句\n"
    assert cleaned(page).splitlines() == page.splitlines()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("检查梯度**：**看范数", "检查梯度：看范数"),
        ("一**，**二**。**", "一，二。"),
        ("\\4. 硬件建议与\\*星号\\*", "4. 硬件建议与*星号*"),
        ("**重点**内容", "**重点**内容"),
        ("图编译更快。([example.org][3])", "图编译更快。"),
        ("图编译 ([示例网站][12])更快", "图编译更快"),
        ("数组 a[0][1] 与 (a[1])", "数组 a[0][1] 与 (a[1])"),
        ("记\u2061为f\u2062(x)", "记为f(x)"),
        ("正\x07常\x7f文字", "正常文字"),
    ],
)
def test_markup_leftovers(line: str, expected: str) -> None:
    assert cleaned(f"标题\n{line}\n").splitlines()[1] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("即(\\frac{a}{b})的值", "即$\\frac{a}{b}$的值"),
        ("记(y = f(x_i) + \\epsilon)为输出", "记$y = f(x_i) + \\epsilon$为输出"),
        ("函数f(x_i)不变", "函数f(x_i)不变"),
        ("设置(见 batch_size 一节)", "设置(见 batch_size 一节)"),
        ("已有$x_1$(x_2)", "已有$x_1$(x_2)"),
        ("没闭合(\\alpha", "没闭合(\\alpha"),
    ],
)
def test_formulas_get_their_dollars_back(line: str, expected: str) -> None:
    assert cleaned(f"标题\n{line}\n").splitlines()[1] == expected


def test_tables_are_kept() -> None:
    page = "标题\n| 方法 | 显存 | 公式 |\n|---|---|---|\n| 甲 | 少 - 多; - 中等的量 | (x_1) |\n| 乙 | 多 | - |\n后文\n"
    assert cleaned(page).splitlines() == page.splitlines()


def test_ordinary_markdown_is_untouched() -> None:
    page = (
        "# 学习率\n\n编号 111，aaa，x_1，$a_b$，`--lr`。\n\n1. 甲\n   - 乙 -\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "```python\n# 注释\nx = [\n    1,\n]\n```\n\n- 重复的一点在这里\n- 重复的一点在这里\n"
    )
    assert cleaned(page, "page.md") == page.rstrip("\n")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\u2028", "\x85"])
@pytest.mark.parametrize("name", ["page.txt", "page.md"])
def test_every_kept_character_knows_its_place(ending: str, name: str) -> None:
    source = ending.join(["标题", "-", "一点(\\alpha)**：**x", "k^2 放大5k5^k5k倍", "x = f(1)", "完。"])
    lines = clean(document(source, name)).lines
    assert [lines[0].text, lines[-1].text] == ["标题", "完。"]
    assert sum(bool(line.content.pieces) for line in lines) >= 5
    for line in lines:
        for piece in line.content.pieces:
            copied = line.text[piece.text_start : piece.text_start + piece.length]
            assert copied == source[piece.source_start : piece.source_start + piece.length]


BIG = 400_000


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "line",
    [
        "a" + " " * BIG + "b", "1" * BIG, "\\x " + "(" * BIG, "(" * BIG + "_" + ")" * BIG, "# a" + " " * BIG + "b",
        "？" + " " * BIG + "b", "- " * (BIG // 2), "a -" + " " * BIG + "x",
        "二维码" * (BIG // 3), "。- " * (BIG // 3), "*" * BIG,
        "([" * (BIG // 2), "**：" * (BIG // 3), "汉" * BIG, "`" * BIG, "x^2 " * (BIG // 4),
    ],
    ids=range(16),
)  # fmt: skip
@pytest.mark.parametrize("name", ["page.txt", "page.md"])
def test_a_line_of_400_000_characters_is_done_in_seconds(line: str, name: str) -> None:
    """Each of these took minutes where a pattern or a loop was quadratic in the length of the line."""
    text = "\n".join(line.text for line in clean(document(f"标题\n{line}\n完。\n", name)).lines)
    assert text.startswith("标题")
    assert "完。" in text


@pytest.mark.timeout(60)
@pytest.mark.parametrize("line", ["x = f(1)", ") foo", "-", "- 一点", "普通的一行文字", "1. 一点", "```", "| a | b |"])
def test_20_000_lines_are_done_in_seconds(line: str) -> None:
    assert clean(document("标题\n" + f"{line}\n" * 20_000)).lines[0].text.startswith("标题")


def test_wrapped_lines_of_a_text_are_one() -> None:
    text = (
        "Selective gradient checkpointing keeps only some of the activations of\n"
        "the forward pass and computes the others again in the backward pass,\n"
        "which trades about a third more time for roughly half of the memory. It\n"
        "helps most with long sequences.\n\n"
        "- 流水线并行把模型按层切成几段放到不同的卡\n上，微批次依次流过各段，因此会出现气泡；\n- 第二点\n| a | b |\n"
    )
    first, _, *more = cleaned(text).splitlines()
    assert first == text.split("\n\n")[0].replace("\n", " ")
    assert more == [
        "- 流水线并行把模型按层切成几段放到不同的卡上，微批次依次流过各段，因此会出现气泡；",
        "- 第二点",
        "| a | b |",
    ]
