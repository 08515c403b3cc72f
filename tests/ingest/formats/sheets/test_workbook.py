"""Workbooks: what is shown of their cells, how they are laid out, and what is told of the rest."""

import time

import pytest

from ingest.formats.extract import Extract
from ingest.formats.sheets import workbook as reader
from tests.ingest.formats.sheets.xlsx_file import BOLD, FILLED, STRUCK, Page, Raw, Rows, Styled, workbook


def read(page: Page | Rows, **more: Page | Rows) -> Extract:
    return reader.read(workbook({"表": page, **more}))


def blocks(page: Page | Rows) -> list[str]:
    heading, *rest = read(page).text.split("\n\n")
    assert heading == "## 表"
    return rest


def table(*rows: str) -> str:
    return "\n".join([rows[0], "|" + "---|" * (rows[0].count("|") - 1), *rows[1:]])


def test_cells_are_read_as_shown() -> None:
    cells = [
        Styled(0.125, "0.0%"), Styled(1200, "[$¥-804]#,##0.00"), Styled(46_082, "yyyy-mm-dd"), Styled(1.5, "[h]:mm"),
        Styled(120_000, "0.0E+00"), "007", Styled(7, "000"), True, Raw("<v>#N/A</v>", 't="e"'),
        Raw("<f>1+1</f><v>2</v>"), Raw("<f>A1</f><v>文</v>", 't="str"'), Raw("<v>2026-03-01</v>", 't="d"'), 12.5,
    ]  # fmt: skip
    (said,) = blocks([["项", "值"], *([f"第{n}项", cell] for n, cell in enumerate(cells))])
    assert [row.split(" | ")[1].removesuffix(" |") for row in said.splitlines()[2:]] == [
        "12.5%", "¥1,200.00", "2026-03-01", "36:00", "1.2E+05", "007", "007", "TRUE", "#N/A", "2", "文", "2026-03-01",
        "12.5",
    ]  # fmt: skip


def test_runs_of_a_text() -> None:
    runs = (
        '<is><r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>23</t></r>'
        "<r><rPr><strike/></rPr><t>旧</t></r><rPh><t>ふりがな</t></rPh><r><t>_x000A_次</t></r></is>"
    )
    assert blocks([["量"], [Raw(runs, 't="inlineStr"')]]) == [table("| 量 |", "| 10²³ 次 |")]


def test_merged_cells_stand_in_all_their_places() -> None:
    page = Page(
        [["区域", "型号", "价"], ["华北", "H100", 1], [None, "H200", 2], ["合计", None, 3]], merges=["A2:A3", "A4:B4"]
    )
    assert blocks(page) == [
        table("| 区域 | 型号 | 价 |", "| 华北 | H100 | 1 |", "| 华北 | H200 | 2 |", "| 合计 | 合计 | 3 |")
    ]


def test_titles_stand_above_and_notes_below() -> None:
    rows: Rows = [["2026 年报价", None], ["单位：元"], ["型号", "价"], ["H100", 1], ["H200", 2], ["注：不含税", None]]
    assert blocks(Page(rows, merges=["A1:B1", "A6:B6"])) == [
        "2026 年报价", "单位：元", table("| 型号 | 价 |", "| H100 | 1 |", "| H200 | 2 |"), "注：不含税",
    ]  # fmt: skip


@pytest.mark.parametrize("merges", [["A1:A2", "B1:C1", "D1:E1"], []])
def test_a_head_of_two_rows_is_one(merges: list[str]) -> None:
    rows: Rows = [
        ["方法", "训练", None, "推理", None], [None, "显存", "时间", "显存", "时间"], ["LoRA", 10, 2, 5, 1],
        ["全参", 80, 9, 5, 1],
    ]  # fmt: skip
    assert blocks(Page(rows, merges=merges)) == [
        table(
            "| 方法 | 训练 显存 | 训练 时间 | 推理 显存 | 推理 时间 |",
            "| LoRA | 10 | 2 | 5 | 1 |",
            "| 全参 | 80 | 9 | 5 | 1 |",
        )
    ]


def test_units_below_the_names_belong_to_them() -> None:
    rows: Rows = [["型号", "显存", "带宽"], [None, "GB", "TB/s"], ["H100", 80, 3.35], ["H200", 141, 4.8]]
    assert blocks(rows)[0].splitlines()[0] == "| 型号 | 显存 GB | 带宽 TB/s |"


def test_a_head_that_is_bold_is_one_whatever_stands_below() -> None:
    rows: Rows = [[Styled("2023", look=BOLD), Styled("2024", look=FILLED)], ["2021", "2022"], ["2020", "2019"]]
    assert blocks(rows) == [table("| 2023 | 2024 |", "| 2021 | 2022 |", "| 2020 | 2019 |")]


@pytest.mark.parametrize(
    "rows",
    [
        [["GX-01", 13_000], ["GX-02", 13_100], ["GX-03", 13_200]],
        [["北云", "GX-1", 100], [None, "GX-2", 110], [None, "GX-3", 120]],
        [["CPU", "64 核"], ["内存", "512 GB"], ["GPU", "8 × H100"]],
    ],
)
def test_a_table_without_a_head_keeps_its_first_row(rows: Rows) -> None:
    lines = blocks(Page(rows, merges=["A1:A3"] if len(rows[0]) == 3 else []))[0].splitlines()
    assert set(lines[0]) == {"|", " "}
    assert str(rows[0][1]) in lines[2]
    assert len(lines) == 5


def test_years_are_names() -> None:
    rows: Rows = [["型号", 2023, 2024, 2025], ["H100", 1990, 2010, 2030], ["H200", 2000, 2020, 2040]]
    assert blocks(rows)[0].splitlines()[0] == "| 型号 | 2023 | 2024 | 2025 |"


def test_tables_on_a_sheet_have_heads_of_their_own() -> None:
    rows: Rows = [
        ["型号", "显存", None, "供应商", "电话"], ["H100", 80, None, "北云", "010-1"],
        ["H200", 141, None, "南算", "020-2"], [], ["指标", "值"], ["吞吐", 905], ["延迟", 180], [], ["完"],
    ]  # fmt: skip
    assert blocks(rows) == [
        table("| 型号 | 显存 |", "| H100 | 80 |", "| H200 | 141 |"),
        table("| 供应商 | 电话 |", "| 北云 | 010-1 |", "| 南算 | 020-2 |"),
        table("| 指标 | 值 |", "| 吞吐 | 905 |", "| 延迟 | 180 |"),
        "完",
    ]


def test_a_blank_column_or_row_within_a_table_parts_nothing() -> None:
    spaced: Rows = [["名称", None, "数量"], ["卡", None, 3], ["网卡", None, 3]]
    assert blocks(spaced) == [table("| 名称 | 数量 |", "| 卡 | 3 |", "| 网卡 | 3 |")]
    head = [Styled(name, look=FILLED) for name in ("名称", "", "负责人")]
    styled: Rows = [head, ["卡", None, "甲"], ["网卡", None, "乙"]]
    assert blocks(styled) == [table("| 名称 | 负责人 |", "| 卡 | 甲 |", "| 网卡 | 乙 |")]
    below: Rows = [["型号", "价"], [], ["甲", 1], ["乙", 2], [], ["丙", 3], ["丁", 4], [], ["合计", 10]]
    assert blocks(below) == [
        table("| 型号 | 价 |", "| 甲 | 1 |", "| 乙 | 2 |", "| 丙 | 3 |", "| 丁 | 4 |", "| 合计 | 10 |")
    ]


def test_a_row_that_looks_like_the_head_begins_another_table() -> None:
    first, second = ([Styled(name, look=BOLD) for name in names] for names in (("型号", "价"), ("供应商", "电话")))
    total: Rows = [[Styled("合计", look=BOLD), Styled(3, look=BOLD)]]
    rows: Rows = [first, ["甲", 1], ["乙", 2], *total, second, ["北云", "010"], ["南算", "020"]]
    assert blocks(rows) == [
        table("| 型号 | 价 |", "| 甲 | 1 |", "| 乙 | 2 |", "| 合计 | 3 |"),
        table("| 供应商 | 电话 |", "| 北云 | 010 |", "| 南算 | 020 |"),
    ]


def test_questions_and_answers_below_a_blank_row_are_no_head() -> None:
    asked: Rows = [["什么是甲？", "甲是一。"], ["什么是乙？", "乙是二。"]]
    (whole,) = blocks([["问题", "答案"], *asked, [], *asked, [], *asked])
    assert len(whole.splitlines()) == 8
    head = [Styled("术语", look=FILLED), Styled("解释", look=FILLED)]
    (whole,) = blocks([head, ["甲", "一"], ["乙", "二"], [], ["丙", "三"], ["丁", "四"]])
    assert len(whole.splitlines()) == 6


def test_lines_of_a_form_above_a_table_are_no_head() -> None:
    rows: Rows = [
        ["客户：", "北云"],
        [],
        ["问题", "答案"],
        ["为何", "因此"],
        ["何时", "明日"],
        [],
        ["制表", "王工"],
        ["审核", "李工"],
    ]
    first, *rest = blocks(rows)
    assert first == table("| 客户： | 北云 |")
    assert rest[0] == table("| 问题 | 答案 |", "| 为何 | 因此 |", "| 何时 | 明日 |")


def test_tables_side_by_side_have_titles_of_their_own() -> None:
    rows: Rows = [
        ["表一", None, None, "表二"],
        ["型号", "显存", None, "型号", "月租"],
        ["甲", 80, None, "甲", 1],
        ["乙", 141, None, "乙", 2],
    ]
    assert blocks(Page(rows, merges=["A1:B1", "D1:E1"])) == [
        "表一", table("| 型号 | 显存 |", "| 甲 | 80 |", "| 乙 | 141 |"),
        "表二", table("| 型号 | 月租 |", "| 甲 | 1 |", "| 乙 | 2 |"),
    ]  # fmt: skip


def test_a_row_over_all_columns_names_what_is_below() -> None:
    rows: Rows = [["城市", "型号", "价"], ["华北"], ["北京", "H100", 1], ["华南"], ["深圳", "H100", 3]]
    assert blocks(Page(rows, merges=["A2:C2", "A4:C4"])) == [
        "### 华北", table("| 城市 | 型号 | 价 |", "| 北京 | H100 | 1 |"),
        "### 华南", table("| 城市 | 型号 | 价 |", "| 深圳 | H100 | 3 |"),
    ]  # fmt: skip


def test_a_table_that_the_file_declares() -> None:
    page = Page([["甲", 1], ["乙", 2], ["尾注"]], table='ref="A1:B2" headerRowCount="0"')
    assert blocks(page) == [table("|  |  |", "| 甲 | 1 |", "| 乙 | 2 |"), "尾注"]


def test_remarks_stand_below_with_the_names_of_row_and_column() -> None:
    rows: Rows = [["供应商", "型号", "月租"], ["北云", "H100", 21_000], [None, "H200", 26_000]]
    remarks = {"C3": "王工:\n含三个月押金", "C1": "不含税", "A2": "已签约", "F9": "空格上的备注"}
    assert blocks(Page(rows, merges=["A2:A3"], remarks=remarks))[1:] == [
        "- 月租: 不含税\n- 北云 · H100: 已签约\n- 北云 · H200 · 月租 26000: 含三个月押金",
        "空格上的备注",
    ]


def test_threads_of_remarks_and_their_answers() -> None:
    page = Page(
        [["型号", "价"], ["甲", 1]], remarks={"B2": "[Threaded comment] …"}, threads={"B2": "含税吗？", "B2+": "含"}
    )
    assert blocks(page)[1] == "- 甲 · 价 1: 含税吗？ / 含"


def test_texts_over_the_cells_are_read() -> None:
    assert blocks(Page([["型号", "价"], ["甲", 1]], boxes=["价格三月起生效"]))[1] == "价格三月起生效"


def test_what_is_hidden_is_told() -> None:
    page = Page(
        [["型号", "密", "价"], ["甲", 9, 1], ["乙", 9, 2], ["丙", 9, Styled(3, ";;;")],
         [Styled("丁", look=STRUCK), 9, 4], ["戊", 9, Raw("<f>SUM(C2:C5)</f><v></v>")]],
        hidden_rows=[3], hidden_columns=[2],
    )  # fmt: skip
    found = read(page, 草稿=Page([["秘"]], state="veryHidden"))
    assert found.text.split("\n\n")[1] == table("| 型号 | 价 |", "| 甲 | 1 |", "| 丙 |  |", "|  | 4 |", "| 戊 |  |")
    told = [warning.removeprefix("the sheet '表': ") for warning in found.warnings]
    assert [warning.split(" (")[0] for warning in told] == [
        "hidden rows were left out: 3",
        "hidden columns were left out: B",
        "formulas without a computed value were left out: C6",
        "struck-out cells were left out: A5",
        "cells hidden by their number format were left out: C4",
        "the sheet '草稿' is hidden and was left out",
    ]


def test_hidden_rows_part_no_table() -> None:
    page = Page([["型号", "价"], ["甲", 1], ["乙", 2], ["丙", 3]], hidden_rows=[3])
    assert blocks(page) == [table("| 型号 | 价 |", "| 甲 | 1 |", "| 丙 | 3 |")]


def test_a_wide_table_keeps_the_names_of_its_rows() -> None:
    rows: Rows = [
        ["供应商", "机型", *(f"指标{n}" for n in range(15))],
        *(["北云", f"G{r}", *range(15)] for r in range(3)),
    ]
    first, second = blocks(rows)
    assert first.startswith("| 供应商 | 机型 | 指标0 |")
    assert second.startswith("| 供应商 | 机型 | 指标10 |")
    assert "| 北云 | G2 | 10 | 11 |" in second


def test_columns_without_a_word_are_dropped() -> None:
    assert blocks([["型号", "", "价", ""], ["甲", "", 1, ""], ["乙", "", 1, ""]]) == [
        table("| 型号 | 价 |", "| 甲 | 1 |", "| 乙 | 1 |")
    ]


def test_days_count_from_1904_where_the_file_says_so() -> None:
    page: Rows = [["日"], [Styled(44_620, "yyyy-mm-dd")]]
    assert "2026-03-01" in reader.read(workbook({"表": page}, from_1904=True)).text


def test_merges_without_bound_end_soon() -> None:
    rows: Rows = [[f"{row}-{column}" for column in range(40)] for row in range(400)]
    started = time.process_time()
    found = read(Page(rows, merges=["A1:XFD1048576"] * 100))
    assert "places of merged cells" in found.warnings[0]
    assert time.process_time() - started < 10


def test_every_second_row_and_column_blank_ends_soon() -> None:
    rows: list[list[str | None]] = []
    for row in range(3_000):
        rows += [[f"{row}-{column}" if column % 2 else None for column in range(40)], []]
    started = time.process_time()
    assert "2999-39" in read(rows).text
    assert time.process_time() - started < 20
