"""Chapters, numbered questions and headings are found; numbered lists, fences and formulas are not taken for them."""

import pytest

from ingest.structure.sections import structure
from tests.ingest.made_up import document, questions, sections

ANSWER = "答案：\n先说结论，再说理由，最后举例。\n"


def test_numbered_questions_with_answers() -> None:
    page = f"题集\n11、什么是早停？\n{ANSWER}12、为什么要打乱数据？\n{ANSWER}13、解释权重衰减的作用。\n{ANSWER}"
    assert questions(page) == ["11、什么是早停？", "12、为什么要打乱数据？", "13、解释权重衰减的作用。"]


def test_answers_lose_their_mark() -> None:
    page = "题集\n1、什么是早停？\n答案：验证集不再变好就停。\n2、什么是热身？\n**参考答案**：学习率慢慢升高。\n"
    assert texts(page) == ["验证集不再变好就停。", "学习率慢慢升高。"]


def texts(page: str, name: str = "page.txt") -> list[str]:
    return [block.text for section in structure(document(page, name)).root.walk() for block in section.blocks]


def test_q_questions() -> None:
    page = "题集\nQ1：怎么选批大小？\n看显存。\nQ2:学习率呢\n先试三个数量级。\nQ3.最后一问\n没有了。\n"
    assert questions(page) == ["Q1：怎么选批大小？", "Q2:学习率呢", "Q3.最后一问"]


def test_questions_and_answers_without_numbers() -> None:
    page = "Q: 批大小怎么选\nA: 看显存。\n\n问：要热身吗？\n\n答：要。\n\n**Q:** 何时停\n\n**A:** 不再变好时。\n"
    assert questions(page, "page.md") == ["Q: 批大小怎么选", "问：要热身吗？", "Q: 何时停"]
    assert texts(page, "page.md") == ["看显存。", "要。", "不再变好时。"]
    assert questions("说明\n\nQ: 列\n\nK: 行\n\nV: 值\n", "page.md") == []


def test_bold_lines_above_text_are_headings_below_the_marked_ones() -> None:
    page = "## 准备\n**自我介绍**\n我叫林晓。\n\n**为什么离职：**\n- 业务收缩\n\n**只有粗体**\n\n## 复盘\n\n做完了。\n"
    root = structure(document(page, "page.md")).root
    assert [[child.name for child in part.children] for part in root.children] == [["自我介绍", "为什么离职："], []]
    assert sections("**务必早睡。**\n\n正文。\n\n**务必早起。**\n\n正文。\n", "page.md") == []
    assert sections("**只有一行**\n\n正文。\n", "page.md") == []


def test_questions_on_lines_of_their_own_are_headings() -> None:
    page = "# 集群\n\n怎么申请？\n\n发邮件。\n\n能用几张卡？\n\n四张。为什么？\n因为卡少。\n"
    assert questions(page, "page.html.md") == ["怎么申请？", "能用几张卡？"]
    assert questions("# 反问\n\n团队多大？\n\n怎么考核？\n\n新人做什么？\n", "page.md") == []


@pytest.mark.parametrize("name", ["page.md", "page.txt"])
def test_short_lines_above_blocks_of_text_without_markup_are_headings(name: str) -> None:
    minutes = "议题一：延迟\n- 现状 1.8 秒\n\n议题二：升级\n- 停机两小时\n\n待办\n林晓写评测报告，周五前\n"
    assert [heading for heading, _ in sections(f"纪要。\n\n{minutes}", name)] == [
        "议题一：延迟",
        "议题二：升级",
        "待办",
    ]
    fields = "主持：陈总\n参会：林晓、老周、阿凯\n\n时间：三月\n地点：三号楼五楼大会议室\n\n老陈 138\n老王 139\n"
    assert sections(f"纪要。\n\n{fields}", name) == []
    assert [heading for heading, _ in sections(f"# 纪要\n\n{minutes}", "page.md")] == ["纪要"]


def test_bold_items_of_a_numbered_list_are_questions() -> None:
    page = "1. **BN 和 LN 的区别**\n\n   归一化的维度。\n\n2. **Dropout 推理时怎么做**\n   - 什么都不做\n"
    page += "\n3. **热身**：步子先小。\n"
    assert questions(page, "page.md") == ["1. BN 和 LN 的区别", "2. Dropout 推理时怎么做"]
    assert questions("# 三点\n\n1. **速度**\n2. **成本**\n3. **质量**\n\n先看速度。\n", "page.md") == []


def test_numbered_lines_next_to_each_other_are_a_list() -> None:
    page = "通知\n\n请带：\n1. 身份证\n2. 学位证\n\n2.8 投递\n2.12 一面\n\n1. 概述\n1.1 背景\n很多人问。\n"
    assert [name for name, _ in sections(page)] == ["1. 概述", "1.1 背景"]


def test_interviewer_questions() -> None:
    told = "面试官想听\n结论先行。\n完整回答\n1. 先定义\n2. 再推导\n常见追问\nQ：有反例吗？\nA：有一个。\n"
    page = f"题集\n1. 层归一化放前还是放后？\n{told}2. 手推交叉熵的梯度。\n{told}3. 画出残差流\n{told}"
    assert questions(page) == ["1. 层归一化放前还是放后？", "2. 手推交叉熵的梯度。", "3. 画出残差流"]


def test_markdown_questions() -> None:
    page = f"# 题集\n\n## 基础\n\n### 1. 什么是困惑度？\n\n{ANSWER}\n### 2. 什么是交叉熵？\n\n{ANSWER}"
    assert questions(page, "page.md") == ["1. 什么是困惑度？", "2. 什么是交叉熵？"]
    assert [name for name, _ in sections(page, "page.md")][:2] == ["题集", "基础"]


def test_numbered_lists_inside_answers_are_no_questions() -> None:
    steps = "1. 取一批数据\n2. 前向\n3. 反向\n4. 更新\n5. 记录\n"
    page = f"题集\n1、训练循环怎么写？\n{ANSWER}{steps}2、推理循环怎么写？\n{ANSWER}{steps}"
    assert questions(page) == ["1、训练循环怎么写？", "2、推理循环怎么写？"]


def test_a_list_in_an_answer_may_be_longer_than_the_list_of_questions() -> None:
    steps = "1. 取一批数据\n2. 前向\n3. 反向\n4. 更新\n5. 记录\n6. 保存\n"
    page = f"题集\n1. 训练循环怎么写？\n{steps}2. 推理循环怎么写？\n{steps}"
    assert questions(page) == ["1. 训练循环怎么写？", "2. 推理循环怎么写？"]


def test_a_numbered_list_alone_is_no_list_of_questions() -> None:
    page = "步骤\n下面是流程。\n1. 取数据\n2. 训练\n3. 评估\n4. 部署\n5. 监控\n完毕。\n"
    assert questions(page) == []


def test_questions_without_marks_are_far_apart() -> None:
    told = "".join(f"第{n}行说明这一点的内容。\n" for n in range(6))
    page = "题集\n" + "".join(f"{n}. 主题{n}的解析\n{told}" for n in range(1, 7))
    assert questions(page) == [f"{n}. 主题{n}的解析" for n in range(1, 7)]


def test_chapters_and_subheadings() -> None:
    page = (
        f"题集\n一、训练篇\n1. 什么是早停？\n{ANSWER}(1)基本原理\n看验证集。\n2. 什么是热身？\n{ANSWER}"
        f"二、推理篇\n3. 什么是量化？\n{ANSWER}"
    )
    root = structure(document(page)).root
    assert [chapter.name for chapter in root.children] == ["一、训练篇", "二、推理篇"]
    assert [[s.name for s in chapter.children] for chapter in root.children] == [
        ["1. 什么是早停？", "2. 什么是热身？"],
        ["3. 什么是量化？"],
    ]
    assert [s.name for s in root.children[0].children[0].children] == ["(1)基本原理"]


def test_a_promoting_chapter_is_dropped_with_its_numbered_question() -> None:
    page = (
        f"题集\n一、正题\n1. 什么是早停？\n{ANSWER}2. 什么是热身？\n{ANSWER}"
        "二、福利\n扫码免费领取\n3. 怎么领取资料？\n加微信即可\n一键三连\n"
    )
    assert [name for name, _ in sections(page)] == ["一、正题", "1. 什么是早停？", "2. 什么是热身？"]


def test_comments_in_fences_are_no_headings() -> None:
    page = "# 页\n\n```python\n# 不是标题\n1. x\n## 也不是\n```\n\n~~~\n# 这也不是\n~~~\n\n## 是标题\n\n正文。\n"
    assert [name for name, _ in sections(page, "page.md")] == ["页", "是标题"]


def test_numbered_lines_in_fences_are_no_questions() -> None:
    fence = "```\n2、不是题目？\n```\n"
    page = f"题集\n1、什么是早停？\n{ANSWER}{fence}2、什么是热身？\n{ANSWER}"
    assert questions(page) == ["1、什么是早停？", "2、什么是热身？"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("## 标题 ##", "标题"),
        ("### **粗** 标题  ", "粗 标题"),
        ("# C# 与 F", "C# 与 F"),
        ("   ## 缩进", "缩进"),
    ],
)
def test_names_of_markdown_headings(line: str, name: str) -> None:
    assert sections(f"{line}\n\n正文。\n", "page.md") == [(name, False)]


def test_a_heading_without_text_or_space_is_text() -> None:
    assert sections("#标签\n\n####### 七级\n\n正文。\n", "page.md") == []


def test_the_title_is_the_first_line_of_a_page() -> None:
    assert structure(document("题集之一\n正文在此。\n")).title == "题集之一"
    assert structure(document(f"1、什么是早停？\n{ANSWER}2、什么是热身？\n{ANSWER}")).title == "1、什么是早停？"
    assert structure(document("正文" * 60 + "\n", "folder/name.txt")).title == "name"
    assert structure(document("# 页名\n\n正文。\n", "page.md")).title == "页名"
    assert structure(document("Q: 何时停？\nA: 不再变好时。\n", "folder/notes.md")).title == "notes"


def test_every_line_stands_in_one_section() -> None:
    page = f"题集\n引言。\n一、训练篇\n1. 什么是早停？\n{ANSWER}- 一点\n- 两点\n\n| a |\n|---|\n| 1 |\n"
    page += f"2. 什么是热身？\n{ANSWER}"
    root = structure(document(page)).root
    lines = [
        line
        for section in root.walk()
        for block in [*([section.heading] if section.heading else []), *section.blocks]
        for line in block.text.splitlines()
    ]
    expected = [line for line in page.splitlines()[1:] if line]
    assert lines == [line for line in expected if line != "答案："]


def test_blocks_are_whole() -> None:
    page = "# 页\n\n一段\n两行\n\n- 点\n  续行\n- 点\n\n```\na\n\nb\n```\n\n$$\nx\n\ny\n$$\n\n| a |\n|---|\n| 1 |\n尾\n"
    (section,) = structure(document(page, "page.md")).root.children
    assert [block.text for block in section.blocks] == [
        "一段\n两行", "- 点\n  续行", "- 点", "```\na\n\nb\n```", "$$\nx\n\ny\n$$", "| a |\n|---|\n| 1 |", "尾",
    ]  # fmt: skip


@pytest.mark.timeout(30)
def test_long_headings_and_long_counts_take_no_long_time() -> None:
    for line in ("# a" + " " * 100_000 + "b", "1. a？" + " " * 100_000 + "b", "#" + " " * 100_000):
        *_, last = structure(document(f"{line}\n正文\n", "page.md")).root.walk()
        assert last.blocks[-1].text.endswith("正文")
    *_, last = structure(document("".join(f"{n % 1000}. 点\n" for n in range(8_000)), "page.md")).root.walk()
    assert last.blocks[-1].text.endswith("999. 点")


@pytest.mark.parametrize("mark", ["answer：", "Answer: ", "**答案：**", "**Answer**: ", "标准答案："])
def test_marks_of_answers_in_both_languages(mark: str) -> None:
    page = f"题集\n1. 端口是多少？\n{mark}八千\n2. 几张卡？\n{mark}**八**张\n"
    blocks = [block.text for section in structure(document(page)).root.walk() for block in section.blocks]
    assert blocks == ["八千", "**八**张"]
