"""Tables: each value stands below its names."""

import pytest

from ingest.formats import webpage
from tests.ingest.formats.html.pages import LONG, lines, page


def test_rows_below_a_rowspan_keep_their_columns() -> None:
    rows = (
        "<tr><th>区域</th><th>型号</th><th>上限</th></tr><tr><td rowspan=3>华北</td><td>H100</td><td>16</td></tr>"
        "<tr><td>H200</td><td>8</td></tr><tr><td>B200</td><td>4</td></tr>"
        "<tr><td rowspan=2>华东</td><td rowspan=2>H100</td><td>32</td></tr><tr><td>64</td></tr>"
    )
    assert lines(f"<table>{rows}</table>")[2:] == [
        "| 华北 | H100 | 16 |", "| 华北 | H200 | 8 |", "| 华北 | B200 | 4 |", "| 华东 | H100 | 32 |", "| 华东 | H100 | 64 |",
    ]  # fmt: skip


@pytest.mark.parametrize("cell", ["th", "td"])
@pytest.mark.parametrize("groups", [("<thead>", "</thead><tbody>"), ("", "")])
def test_a_head_of_two_rows_is_one_head(cell: str, groups: tuple[str, str]) -> None:
    head = (
        f"<tr><{cell} rowspan=2>方法</{cell}><{cell} colspan=2>显存</{cell}></tr>"
        f"<tr><{cell}>训练</{cell}><{cell}>推理</{cell}></tr>"
    )
    found = lines(f"<table>{groups[0]}{head}{groups[1]}<tr><td>LoRA</td><td>24</td><td>14</td></tr></table>")
    assert found == ["| 方法 | 训练 显存 | 推理 显存 |", "|---|---|---|", "| LoRA | 24 | 14 |"]


def test_titles_captions_groups_and_remarks_stand_beside_the_table() -> None:
    found = lines(
        "<table><caption>价格表</caption><thead><tr><th colspan=3>二〇二四年</th></tr>"
        "<tr><th>型号</th><th>月租</th><th>押金</th></tr></thead><tfoot><tr><td colspan=3>以上含税。</td></tr></tfoot>"
        "<tbody><tr><th colspan=3>训练卡</th></tr><tr><th scope=row>H100</th><td>1</td><td>2</td></tr>"
        "<tr><td colspan=3>推理卡</td></tr><tr><td>L40</td><td>3</td><td>4</td></tr></tbody></table>"
    )
    head = ["| 型号 | 月租 | 押金 |", "|---|---|---|"]
    assert found == [
        "价格表", "二〇二四年", "训练卡", *head, "| H100 | 1 | 2 |", "推理卡", *head, "| L40 | 3 | 4 |", "以上含税。",
    ]  # fmt: skip


def test_names_in_the_first_column() -> None:
    found = lines(
        "<table><tr><th>型号</th><td>H100</td><td>H200</td></tr><tr><th>显存</th><td>80</td><td>141</td></tr></table>"
    )
    assert found == ["| 型号 | H100 | H200 |", "|---|---|---|", "| 显存 | 80 | 141 |"]


def test_a_head_that_is_said_again_is_no_row() -> None:
    head = "<tr><th>区</th><th>数</th></tr>"
    found = lines(f"<table>{head}<tr><td>甲</td><td>1</td></tr>{head}<tr><td>乙</td><td>2</td></tr></table>")
    assert found == ["| 区 | 数 |", "|---|---|", "| 甲 | 1 |", "| 乙 | 2 |"]


def test_a_row_span_ends_with_its_group() -> None:
    found = lines(
        "<table><thead><tr><th>区</th><th>数</th></tr></thead><tbody><tr><td rowspan=0>华北</td><td>1</td></tr>"
        "<tr><td>2</td></tr></tbody><tbody><tr><td>华东</td><td>3</td></tr></tbody></table>"
    )
    assert found[2:] == ["| 华北 | 1 |", "| 华北 | 2 |", "| 华东 | 3 |"]


def test_lists_breaks_and_tables_in_cells() -> None:
    inner = "<table><tr><th>型号</th><th>数</th></tr><tr><td>H100</td><td>16</td></tr><tr><td>H200</td><td>8</td></tr></table>"
    found = lines(
        f"<table><tr><th>区</th><th>配<br>额</th></tr><tr><td>华北</td><td>{inner}</td></tr>"
        "<tr><td>华东</td><td><ol><li>停服务</li><li>换驱动</li></ol></td></tr>"
        "<tr><td>西南</td><td><ul><li>甲</li><li>乙；</li></ul>另见<br>附表</td></tr></table>"
    )
    assert found == [
        "| 区 | 配 额 |", "|---|---|", "| 华北 | 型号: H100, 数: 16; 型号: H200, 数: 8 |",
        "| 华东 | 1. 停服务; 2. 换驱动 |", "| 西南 | 甲; 乙; 另见 附表 |",
    ]  # fmt: skip


def test_a_table_that_places_things_is_no_table() -> None:
    data = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    found = lines(
        f"<table><tr><td width=200><a href=/a>首页</a><br><a href=/b>归档</a></td>"
        f"<td><h1>标题</h1><p>{LONG}</p>{data}<p>{LONG}</p></td></tr></table>"
    )
    assert found == ["# 标题", LONG, "| a | b |", "|---|---|", "| 1 | 2 |", LONG]


def test_code_in_a_cell_keeps_its_lines() -> None:
    found = page(
        "<table><tr><th>命令</th><th>例子</th></tr><tr><td>启动</td><td><pre>serve \\\n  -p 1</pre></td></tr></table>"
    )
    assert found.text == "命令：启动\n\n例子：\n\n```\nserve \\\n  -p 1\n```\n"


def test_a_table_of_roles() -> None:
    cells = "<div role=row><span role=cell>H100</span><span role=cell>8</span></div>"
    head = "<div role=row><span role=columnheader>型号</span><span role=columnheader>数</span></div>"
    assert lines(f"<div role=table>{head}{cells}</div>") == ["| 型号 | 数 |", "|---|---|", "| H100 | 8 |"]


def test_what_stands_in_a_table_outside_of_its_cells_is_kept() -> None:
    assert lines("<table>注<tr><td>a</td><td>b</td></tr><td>孤</td></table>") == ["注", "孤", "| a | b |", "|---|---|"]


def test_html_in_another_text() -> None:
    fragment = (
        "<table><tr><th rowspan=2>方法</th><th colspan=2>显存</th></tr><tr><th>训练</th><th>推理</th></tr></table>"
    )
    assert webpage.html_to_markdown(fragment).splitlines()[0] == "| 方法 | 训练 显存 | 推理 显存 |"
    assert (
        webpage.html_to_markdown("<details><summary>问？</summary>答 10<sup>23</sup>。</details>")
        == "问？\n\n答 10²³。\n"
    )
    assert webpage.html_to_markdown("") == ""
