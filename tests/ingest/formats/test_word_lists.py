"""Numbers as Word counts them, and headings, those included that only look like ones."""

import pytest

from ingest.formats import word
from ingest.formats.office.numerals import written
from tests.ingest.formats.office_files import cell, docx, item, numbering, para, row, tbl

BODY = "这一部分的正文写得长一些，说明每一步怎么做、为什么这样做。"
LARGE, LARGER, BOLD = '<w:b/><w:sz w:val="28"/>', '<w:b/><w:sz w:val="36"/>', "<w:b/>"
CENTRED = '<w:jc w:val="center"/>'


def lines(body: str, **parts: str) -> list[str]:
    return [line for line in word.read(docx(body, **parts)).text.splitlines() if line]


def style(name: str, properties: str, *, based_on: str = "", called: str = "") -> str:
    based = f'<w:basedOn w:val="{based_on}"/>' * bool(based_on)
    head = f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{called or name}"/>'
    return f"{head}{based}<w:pPr>{properties}</w:pPr></w:style>"


def styled(text: str, name: str) -> str:
    return para(text, f'<w:pStyle w:val="{name}"/>')


def num(name: int, start: int = 0) -> str:
    override = f'<w:lvlOverride w:ilvl="0"><w:startOverride w:val="{start}"/></w:lvlOverride>' * bool(start)
    return f'<w:num w:numId="{name}"><w:abstractNumId w:val="0"/>{override}</w:num>'


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        ("decimal %1.", ["1. 甲", "2. 乙"]),
        ("decimal %1) 5", ["5) 甲", "6) 乙"]),
        ("decimal %1、", ["1、 甲", "2、 乙"]),
        ("decimal （%1）", ["- （1）甲", "- （2）乙"]),
        ("chineseCountingThousand 第%1条 9", ["- 第九条 甲", "- 第十条 乙"]),
        ("chineseCounting %1、", ["- 一、甲", "- 二、乙"]),
        ("upperLetter %1.", ["- A. 甲", "- B. 乙"]),
        ("lowerRoman %1) 3", ["- iii) 甲", "- iv) 乙"]),
        ("ideographTraditional %1、", ["- 甲、甲", "- 乙、乙"]),
        ("decimalEnclosedCircle %1", ["- ① 甲", "- ② 乙"]),
        ("decimalZero 附录%1", ["- 附录01 甲", "- 附录02 乙"]),
        ("bullet •", ["- 甲", "- 乙"]),
        ("none ", ["甲", "乙"]),
    ],
)
def test_every_kind_of_number(level: str, shown: list[str]) -> None:
    assert lines(item("甲") + item("乙"), numbering=numbering(level)) == shown


@pytest.mark.parametrize(
    ("form", "number", "shown"),
    [
        ("chineseCounting", 10, "十"), ("chineseCounting", 21, "二十一"), ("chineseCounting", 110, "一百一十"),
        ("chineseCounting", 1005, "一千零五"), ("chineseLegalSimplified", 12, "壹拾贰"),
        ("ideographDigital", 20, "二〇"),
        ("upperRoman", 1994, "MCMXCIV"), ("lowerLetter", 27, "aa"), ("decimalEnclosedCircle", 21, "㉑"),
        ("ordinal", 22, "22nd"), ("lowerLetter", 10**9, "1000000000"), ("upperRoman", 10**9, "1000000000"),
        ("chineseCounting", 0, "0"), ("somethingNew", 7, "7"),
    ],
)  # fmt: skip
def test_numbers_are_written_in_their_form(form: str, number: int, shown: str) -> None:
    assert written(number, form) == shown


def test_levels_count_below_each_other_and_go_on_after_other_paragraphs() -> None:
    body = (
        item("总则")
        + item("范围", 1)
        + item("术语", 1)
        + item("数据")
        + item("来源", 1)
        + para("隔开。")
        + item("清洗", 1)
    )
    levels = numbering("decimal %1.", "decimal %1.%2")
    assert lines(body, numbering=levels) == [
        "1. 总则", "   - 1.1 范围", "   - 1.2 术语", "2. 数据", "   - 2.1 来源", "隔开。", "- 2.2 清洗",
    ]  # fmt: skip


def test_a_list_begins_anew_where_it_says_so_and_else_goes_on() -> None:
    body = item("甲") + item("乙", number=2) + item("丙", number=3) + item("丁", number=3) + item("戊")
    assert lines(body, numbering=numbering("decimal %1.", nums=num(1) + num(2) + num(3, 7))) == [
        "1. 甲", "2. 乙", "7. 丙", "8. 丁", "9. 戊",
    ]  # fmt: skip


def test_a_level_that_is_not_to_restart_goes_on() -> None:
    levels = numbering("decimal 第%1章", "decimal 第%2条").replace(
        '<w:lvlText w:val="第%2条"/>', '<w:lvlText w:val="第%2条"/><w:lvlRestart w:val="0"/>'
    )
    body = item("总则") + item("甲", 1) + item("罚则") + item("乙", 1)
    assert lines(body, numbering=levels) == ["- 第1章 总则", "   - 第1条 甲", "- 第2章 罚则", "   - 第2条 乙"]


def test_legal_numbers_are_in_figures_only() -> None:
    levels = numbering("chineseCounting 第%1章", "decimal %1.%2").replace(
        '<w:lvlText w:val="%1.%2"/>', '<w:isLgl/><w:lvlText w:val="%1.%2"/>'
    )
    assert lines(item("总则") + item("范围", 1), numbering=levels) == ["- 第一章 总则", "   - 1.1 范围"]


def test_styles_are_numbered_and_tied_to_levels() -> None:
    list_of = '<w:numPr><w:numId w:val="1"/></w:numPr>'
    levels = numbering("chineseCounting 第%1条", "decimal （%2）")
    for depth, name in enumerate(("Clause", "Sub")):
        levels = levels.replace(f'<w:lvl w:ilvl="{depth}">', f'<w:lvl w:ilvl="{depth}"><w:pStyle w:val="{name}"/>')
    body = styled("甲", "Clause") + styled("子", "Sub") + styled("丑", "Sub") + styled("乙", "Clause")
    shown = lines(body, styles=style("Clause", list_of) + style("Sub", list_of), numbering=levels)
    assert shown == ["- 第一条 甲", "   - （1）子", "   - （2）丑", "- 第二条 乙"]


def test_headings_have_their_numbers() -> None:
    first = style("H1", '<w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/>', called="heading 1")
    second = style(
        "H2", '<w:numPr><w:ilvl w:val="1"/></w:numPr><w:outlineLvl w:val="1"/>', based_on="H1", called="heading 2"
    )
    body = (
        styled("总则", "H1")
        + para(BODY)
        + styled("范围", "H2")
        + para(BODY)
        + styled("数据", "H1")
        + styled("来源", "H2")
    )
    shown = lines(body + para(BODY), styles=first + second, numbering=numbering("decimal 第%1章", "decimal %1.%2"))
    assert [line for line in shown if line.startswith("#")] == [
        "# 第1章 总则", "## 1.1 范围", "# 第2章 数据", "## 2.1 来源",
    ]  # fmt: skip


def test_the_numbers_of_a_column_are_read_though_its_cells_are_empty() -> None:
    rows = [row(cell(item("")), text) for text in ("甲", "乙")]
    assert lines(tbl(row("序号", "项"), *rows), numbering=numbering("decimal %1")) == [
        "| 序号 | 项 |", "|---|---|", "| 1 | 甲 |", "| 2 | 乙 |",
    ]  # fmt: skip


def test_numbering_made_to_do_harm_does_none() -> None:
    levels = numbering(f"upperRoman {'%1' * 10_000} 999999999")
    body = item("甲") * 100 + para("乙", '<w:numPr><w:ilvl w:val="-9"/><w:numId w:val="1"/></w:numPr>')
    assert len(word.read(docx(body, numbering=levels)).text) < 100_000


def test_larger_bold_lines_are_headings_by_size_and_number() -> None:
    body = para("评测办法", CENTRED, look=LARGER) + para("一、总则", look=LARGE) + para("（一）目的", look=LARGE)
    body += para(BODY) + para("（二）范围", look=LARGE) + para(BODY) + para("二、数据", look=LARGE) + para(BODY)
    assert [line for line in lines(body) if line.startswith("#")] == [
        "# 评测办法", "## 一、总则", "### （一）目的", "### （二）范围", "## 二、数据",
    ]  # fmt: skip


@pytest.mark.parametrize("names", [("适用范围", "数据来源", "申诉"), ("H100 的显存多大？", "默认端口是多少？")])
def test_bold_lines_above_text_are_headings_where_there_are_several(names: tuple[str, ...]) -> None:
    body = "".join(para(name, look=BOLD) + para(BODY) for name in names)
    assert [line for line in lines(body) if line.startswith("#")] == [f"# {name}" for name in names]


def test_a_bold_line_above_a_table_is_a_heading_where_others_stand_above_text() -> None:
    grid = tbl(row("阶段", "截止"), row("全量", "六月"))
    body = (
        para("目标", look=BOLD) + para(BODY) + para("里程碑", look=BOLD) + grid + para("风险", look=BOLD) + para(BODY)
    )
    assert [line for line in lines(body) if line.startswith("#")] == ["# 目标", "# 里程碑", "# 风险"]
    assert not any(line.startswith("#") for line in lines(para(BODY) + para("表一", look=BOLD) + grid))


def test_numbers_that_word_gives_count_for_bold_lines() -> None:
    properties = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    body = "".join(para(name, properties, look=BOLD) + para(BODY) for name in ("总则", "数据"))
    assert lines(body, numbering=numbering("chineseCounting %1、"))[::2] == ["# 一、总则", "# 二、数据"]


@pytest.mark.parametrize(
    "text",
    [
        "请务必保存检查点。", "注意：先跑回放", "先跑回放，", "不要在周五上线", "下面是步骤：",
        "这一句没有句号但是写得很长很长很长很长很长很长很长很长很长很长很长很长很长很长很长很长很长很长",
    ],
)  # fmt: skip
def test_bold_sentences_are_no_headings(text: str) -> None:
    assert lines(para(BODY) + para(text, look=BOLD) + para(BODY)) == [BODY, text, BODY]


def test_where_all_is_bold_nothing_is_a_heading_for_that() -> None:
    body = "".join(para(name, look=BOLD) + para(BODY, look=BOLD) for name in ("一、总则", "二、数据"))
    assert not any(line.startswith("#") for line in lines(body))


def test_a_large_line_with_nothing_below_is_text() -> None:
    assert lines(para(BODY) + para("谢谢观看", look=LARGER)) == [BODY, "谢谢观看"]


def test_looks_stand_below_headings_that_are_marked() -> None:
    heading = style("H1", '<w:outlineLvl w:val="0"/>', called="heading 1")
    body = styled("部署", "H1") + "".join(para(name, look=BOLD) + para(BODY) for name in ("安装", "升级"))
    assert [line for line in lines(body, styles=heading) if line.startswith("#")] == ["# 部署", "## 安装", "## 升级"]
