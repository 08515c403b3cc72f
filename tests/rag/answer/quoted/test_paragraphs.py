"""What is quoted together: items with what is nested in them, tables with the line that announces them."""

from rag.answer.quoted.opening import answer_first
from rag.answer.quoted.paragraphs import paragraphs, read_together
from rag.answer.quoted.sections import Section, in_sections, parts_of
from rag.answer.quoted.writer import write_quotes
from rag.text.mapped import MappedText
from rag.text.markdown import parse
from rag.text.page import PageSection
from rag.types import Passage

TABLE = "| 公司 | 月薪 |\n| --- | --- |\n| 甲 | 38k |"
CODE = "```python\nattach(store)\n```"


def passage(text: str, heading: str = "") -> Passage:
    blocks = parse(text)
    path = (heading,) if heading else ()
    of_blocks = (PageSection.under(path),) * len(blocks)
    return Passage(0, "a.md", "记录", path, MappedText.copied(text, 0), blocks=blocks, sections=of_blocks)


def said(text: str) -> list[list[str]]:
    return [paragraph.texts for paragraph in paragraphs(passage(text))]


def written(text: str) -> str:
    return "".join(write_quotes(list(paragraphs(passage(text))), {"a.md": text}).chunks).strip()


def sections(text: str, heading: str = "") -> list[Section]:
    whole = in_sections("记录", list(paragraphs(passage(text, heading))))
    return [part for section in whole for part in parts_of(section)]


def test_what_is_nested_in_an_item_belongs_to_it() -> None:
    text = "- 换了模型\n  - 延迟\n    - 单条 45 毫秒\n- 数据库挂了\n\n  夜里两点。\n\n  - 磁盘写满\n\n说完了。"
    together = [["换了模型", "延迟", "单条 45 毫秒"], ["数据库挂了", "夜里两点。", "磁盘写满"], ["说完了。"]]
    assert said(text) == together
    assert written(text) == (
        "- 换了模型 [1]\n    - 延迟 [2]\n        - 单条 45 毫秒 [3]\n"
        "- 数据库挂了 [4]\n    夜里两点。 [5]\n    - 磁盘写满 [6]\n\n说完了。 [7]"
    )
    # A passage may begin below an item that is in another one.
    assert said("  - 延迟\n    - 单条 45 毫秒\n  - 显存") == [["延迟", "单条 45 毫秒"], ["显存"]]
    assert said("1. 灰度\n   - 看板\n2. 讲一次") == [["灰度", "看板", "讲一次"]]


def test_a_nested_item_is_read_with_those_above_it() -> None:
    text = "- 甲组。第二句。\n  - 乙\n    - 丙\n  - 丁\n\n    戊。"
    [paragraph] = paragraphs(passage(text))
    texts = {unit: text[unit.start : unit.end] for unit in paragraph.units}
    read = [[texts[unit] for unit in read_together(paragraph.units, n)] for n in range(len(paragraph.units))]
    assert read == [
        ["甲组。"],
        ["第二句。"],
        ["乙", "甲组。"],
        ["丙", "乙", "甲组。"],
        ["丁", "甲组。"],
        ["戊。", "丁", "甲组。"],
    ]


def test_a_table_belongs_to_the_line_that_announces_it() -> None:
    assert said(f"只投两个城市。\n\n{TABLE}") == [["只投两个城市。"], [TABLE]]
    assert said(f"2025 年三月的求职进度一览\n\n{TABLE}") == [["2025 年三月的求职进度一览", TABLE]]
    assert said(f"截至三月底，投过的公司和它们给的月薪如下：\n\n{TABLE}") == [
        ["截至三月底，投过的公司和它们给的月薪如下：", TABLE]
    ]
    # The last of several fields is not its title.
    assert said(f"Owner: Mia\nEdited: April 2\n\n{TABLE}") == [["Owner: Mia"], ["Edited: April 2"], [TABLE]]
    assert said(f"Owner: Mia\n截至三月底，投过的公司和它们给的月薪如下：\n\n{TABLE}") == [
        ["Owner: Mia"],
        ["截至三月底，投过的公司和它们给的月薪如下：", TABLE],
    ]


def test_pictures_are_not_quoted() -> None:
    badges = "[![CI](https://a.org/ci)](https://a.org) ![MIT](https://a.org/mit)"
    assert said(f"![PageKV](logo.png)\n\n{badges}\n\n见图 ![曲线](a.png)。") == [["见图 ![曲线](a.png)。"]]


def test_notes_with_code_and_without_headings_are_quoted_in_parts() -> None:
    """Code goes with what stands before it."""
    text = f"数据是点击日志。\n\n{CODE}\n\n{CODE}\n\n难负例配七个。"
    assert [section.texts for section in sections(text)] == [["数据是点击日志。", CODE, CODE], ["难负例配七个。"]]
    [below_a_heading] = sections(text, "用法")
    assert below_a_heading.texts == ["数据是点击日志。", CODE, CODE, "难负例配七个。"]


def test_a_sentence_that_answers_goes_before_the_code_of_its_section() -> None:
    [section] = sections(f"{CODE}\n\n只能在第一个请求之前调用。", "用法")
    assert answer_first(section, "").texts == section.texts

    def opens(code: float, sentence: float) -> str:
        told = Section(section.title, section.section, section.paragraphs, answering=((code,), (sentence,)))
        return answer_first(told, "").texts[0]

    assert opens(0.2, 0.9) == "只能在第一个请求之前调用。"
    assert opens(0.9, 0.2) == CODE


def test_a_section_knows_the_questions_in_its_tables() -> None:
    [section] = sections("卡片：\n\n| 正面 | 背面 |\n|---|---|\n| 秩是什么？ | 8 |\n| 偏置 | 0 |", "练习")
    assert section.questions == ["秩是什么？"]
