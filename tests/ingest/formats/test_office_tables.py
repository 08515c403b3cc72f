"""Tables of Word and PowerPoint on one grid."""

import pytest

from ingest.formats import slides, word
from tests.ingest.formats.office_files import cell, docx, frame, para, pptx, row, tbl


def blocks(*rows: str) -> list[str]:
    return word.read(docx(tbl(*rows))).text.strip().split("\n\n")


def table(*rows: str) -> str:
    head, *body = (f"| {' | '.join(line.split(','))} |" for line in rows)
    return "\n".join([head, "|" + "---|" * (rows[0].count(",") + 1), *body])


def down(text: str = "", across: int = 1) -> str:
    """The first of several rows of a cell; or one of the others, where it has no text."""
    return cell(text, across=across, merge="restart" if text else "continue")


@pytest.mark.parametrize("is_marked", [True, False])
def test_title_two_row_head_and_remark(is_marked: bool) -> None:
    rows = (
        row(cell("训练配置", across=3)),
        row(down("方法"), cell("训练", across=2), head=is_marked),
        row(down(), "显存", "时间", head=is_marked),
        row("LoRA", "16 GB", "2 h"),
        row(cell("注：均为单卡。", across=3)),
    )
    assert blocks(*rows) == ["训练配置", table("方法,训练 显存,训练 时间", "LoRA,16 GB,2 h"), "注：均为单卡。"]


@pytest.mark.parametrize(
    ("rows", "head"),
    [
        (
            [row("", cell("2023", across=2), cell("2024", across=2)), row("产品", *("上半年", "下半年") * 2)],
            "产品,2023 上半年,2023 下半年,2024 上半年,2024 下半年",
        ),
        (
            [row(down("指标"), cell("H100", across=2), cell("H200", across=2)), row(down(), *("8 卡", "16 卡") * 2)],
            "指标,H100 8 卡,H100 16 卡,H200 8 卡,H200 16 卡",
        ),
        (
            [row(down("型号"), down("厂商"), "价格"), row(down(), down(), "月租（元）")],
            "型号,厂商,价格 月租（元）",
        ),
    ],
)  # fmt: skip
def test_heads_of_two_rows(rows: list[str], head: str) -> None:
    values = ["A", "1", "2", "3", "4"][: head.count(",") + 1]
    assert blocks(*rows, row(*values)) == [table(head, ",".join(values))]


def test_units_below_names_belong_to_the_head() -> None:
    rows = (
        row("型号", cell("显存", across=2), "功耗"),
        row("", "容量", "带宽", "峰值"),
        row("H100", "80", "3.35", "700"),
    )
    assert blocks(*rows) == [table("型号,显存 容量,显存 带宽,功耗 峰值", "H100,80,3.35,700")]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [row("区域", cell("型号与上限", across=2)), row(down("华北"), "H100", "16"), row(down(), "H200", "8")],
            ["区域,型号与上限,型号与上限", "华北,H100,16", "华北,H200,8"],
        ),
        (
            [row(down("基本信息"), "姓名", "张三"), row(down(), "部门", "平台"), row("其他", "电话", "无")],
            ["基本信息,姓名,张三", "基本信息,部门,平台", "其他,电话,无"],
        ),
        (
            [row(cell("项目", across=2), cell("评测", across=2)), row("负责人", "李工", "职位", "工程师")],
            ["项目,项目,评测,评测", "负责人,李工,职位,工程师"],
        ),
    ],
)  # fmt: skip
def test_rows_of_values_are_no_head(rows: list[str], expected: list[str]) -> None:
    assert blocks(*rows) == [table(*expected)]


def test_a_merge_holds_in_the_right_columns_of_all_its_rows() -> None:
    rows = (
        row("区", "机型", "数量", "价格"),
        row(down("华北"), cell("整柜", across=2), "9"),
        row(down(), "H100", down("16"), "7"),
        row(down(), "H200", down(), "8"),
    )
    assert blocks(*rows) == [table("区,机型,数量,价格", "华北,整柜,整柜,9", "华北,H100,16,7", "华北,H200,16,8")]


def test_rows_that_begin_late_keep_their_columns() -> None:
    late = "<w:tr><w:trPr><w:gridBefore w:val='1'/></w:trPr>" + cell("乙") + "</w:tr>"
    assert blocks(row("一", "二"), row("甲", "丙"), late) == [table("一,二", "甲,丙", ",乙")]


def test_rows_over_all_columns_divide_the_table_and_each_part_has_the_head() -> None:
    rows = (
        row("名称", "数量"),
        row(cell("一、硬件", across=2)),
        row("GPU", "8"),
        row(cell("二、软件", across=2)),
        row("许可", "4"),
    )
    assert blocks(*rows) == ["一、硬件", table("名称,数量", "GPU,8"), "二、软件", table("名称,数量", "许可,4")]
    assert blocks(row("名称", "数量"), row(cell("暂无。", across=2))) == [table("名称,数量"), "暂无。"]


def test_a_table_in_a_cell_keeps_names_and_values_together() -> None:
    inner = tbl(row("档位", "价格"), row("标准", "10 元"), row("加急", "20 元"))
    assert blocks(row("服务", "报价"), row("标注", cell(para("按条计：") + inner))) == [
        table("服务,报价", "标注,按条计： 档位：标准，价格：10 元；档位：加急，价格：20 元")
    ]


def test_a_frame_around_text_is_no_table() -> None:
    inner = tbl(row("档位", "价格"), row("标准", "10 元"))
    assert blocks(row(cell(para("提示") + para("先回放。") + inner))) == [
        "提示",
        "先回放。",
        table("档位,价格", "标准,10 元"),
    ]


def test_old_merges_deleted_and_hidden_rows() -> None:
    def merged(value: str, text: str) -> str:
        return f'<w:tc><w:tcPr><w:hMerge w:val="{value}"/></w:tcPr>{para(text)}</w:tc>'

    hidden = f"<w:tr><w:trPr><w:hidden/></w:trPr>{cell('暗')}{cell('行')}{cell('。')}</w:tr>"
    extract = word.read(
        docx(tbl(row(merged("restart", "跨"), merged("continue", ""), "丙"), row("1", "2", "3"), hidden))
    )
    assert extract.text.strip() == table("跨,跨,丙", "1,2,3")
    assert extract.warnings == ("hidden text was left out: “暗行。”",)


def test_merges_made_to_do_harm_are_bounded_and_told() -> None:
    rows = [row(cell("长" * 20_000, across=10**9), cell("短", merge="continue")) for _ in range(50)]
    extract = word.read(docx(tbl(*rows) + para("还在。" * 20_000)))
    assert len(extract.text) < 5_000_000
    assert extract.warnings == ("merged cells were not repeated in all their places: they hold too much text",)


def test_tables_nested_as_deeply_as_xml_allows() -> None:
    nest = para("核")
    for number in range(60):
        nest = tbl(row(cell(nest), f"边{number}"))
    assert "核" in word.read(docx(nest)).text


def slide_cell(text: str, attributes: str = "") -> str:
    return f"<a:tc {attributes}><a:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"


def test_merged_cells_of_slides() -> None:
    rows = [
        [slide_cell("价目表", 'gridSpan="3"'), *[slide_cell("", 'hMerge="1"')] * 2],
        [slide_cell("方法", 'rowSpan="2"'), slide_cell("训练", 'gridSpan="2"'), slide_cell("", 'hMerge="1"')],
        [slide_cell("", 'vMerge="1"'), slide_cell("显存"), slide_cell("时间")],
        [slide_cell("LoRA", 'rowSpan="2"'), slide_cell("16 GB"), slide_cell("2 h")],
        [slide_cell("", 'vMerge="1"'), slide_cell("24 GB"), slide_cell("1 h")],
    ]
    content = frame("<a:tbl>" + "".join(f"<a:tr>{''.join(cells)}</a:tr>" for cells in rows) + "</a:tbl>")
    text = slides.read(pptx(content)).text
    assert text.split("\n\n")[1:] == ["价目表", table("方法,训练 显存,训练 时间", "LoRA,16 GB,2 h", "LoRA,24 GB,1 h")]
