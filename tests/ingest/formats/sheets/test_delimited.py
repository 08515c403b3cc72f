"""CSV and TSV: what divides the fields, which row is the head, and what is told."""

import pytest

from ingest.formats.extract import Extract
from ingest.formats.sheets.delimited import read, read_tabbed


def rows_of(text: str) -> list[list[str]]:
    lines = read(text.encode()).text.splitlines()
    return [[field.strip() for field in line.strip("|").split(" | ")] for line in lines if not line.startswith("|---")]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("Alpha;1,50;2,25\nBeta;3,75;4,10\n", [["", "", ""], ["Alpha", "1,50", "2,25"], ["Beta", "3,75", "4,10"]]),
        ('"a;b";"1,5"\n"c;d";"2,5"\n', [["", ""], ["a;b", "1,5"], ["c;d", "2,5"]]),
        ("日期;值\n2026-03-01;1.234,50\n", [["日期", "值"], ["2026-03-01", "1.234,50"]]),
        ('id, name, note\n1, "a, b", x\n2, "c", y\n', [["id", "name", "note"], ["1", "a, b", "x"], ["2", "c", "y"]]),
        ('id,text\n1,"he \\"said\\" so"\n2,"b"\n', [["id", "text"], ["1", 'he "said" so'], ["2", "b"]]),
        ("name,note\nx,a;b\ny,c;d\n", [["name", "note"], ["x", "a;b"], ["y", "c;d"]]),
        ("a|b|c\n1|x, y|2\n3|z|4\n", [["a", "b", "c"], ["1", "x, y", "2"], ["3", "z", "4"]]),
        ("名称\n甲, 乙\n丙\n丁\n", [["名称"], ["甲, 乙"], ["丙"], ["丁"]]),
        ("\ufeff编号,电话\n007,0138\n008,0139\n", [["编号", "电话"], ["007", "0138"], ["008", "0139"]]),
        ("GX-01,13000\nGX-02,13100\n", [["", ""], ["GX-01", "13000"], ["GX-02", "13100"]]),
        ("#,型号\n1,H100\n2,H200\n", [["#", "型号"], ["1", "H100"], ["2", "H200"]]),
        ("# id,型号\n1,H100\n2,H200\n", [["id", "型号"], ["1", "H100"], ["2", "H200"]]),
        ("a,b\n\n1,2\n\n3,4\n", [["a", "b"], ["1", "2"], ["3", "4"]]),
        ("名称,,价格\n甲,,1\n乙,,1\n", [["名称", "价格"], ["甲", "1"], ["乙", "1"]]),
        ("text,n\nfoo\x0cbar,1\nx\u2028y,2\n", [["text", "n"], ["foo bar", "1"], ["x y", "2"]]),
        ('id,msg\r\n1,"one\r\ntwo"\r\n2,b\r\n', [["id", "msg"], ["1", "one two"], ["2", "b"]]),
        ("sep=|\na|b\n1|2\n", [["a", "b"], ["1", "2"]]),
    ],
)  # fmt: skip
def test_rows(text: str, rows: list[list[str]]) -> None:
    assert rows_of(text) == rows


def test_a_title_stands_above() -> None:
    assert read("月度报表\n型号,价格\n甲,1\n乙,2\n".encode()).text.split("\n\n")[0] == "月度报表"


def test_a_head_of_two_rows() -> None:
    text = "方法,训练,,推理,\n,显存,时间,显存,时间\nLoRA,10,2,5,1\n全参,80,9,5,1\n"
    assert rows_of(text)[0] == ["方法", "训练 显存", "训练 时间", "推理 显存", "推理 时间"]


def told(found: Extract) -> str:
    (warning,) = found.warnings
    return warning


def test_ragged_rows_are_read_and_told() -> None:
    assert rows_of("a,b\n1,2,3\n4\n5,6\n")[1:] == [["1", "2", "3"], ["4", "", ""], ["5", "6", ""]]
    assert told(read(b"a,b\n1,2,3\n4\n5,6\n")) == "rows with more than the usual 2 fields: 2"


def test_a_quotation_mark_that_is_never_closed_swallows_nothing() -> None:
    found = read(b'id,text\n1,"never closed\n2,b\n3,c\n')
    assert found.text.splitlines()[2:] == ['| 1 | "never closed |', "| 2 | b |", "| 3 | c |"]
    assert "never closed" in told(found)


def test_tabs_divide_what_is_called_tsv() -> None:
    text = "问,题\t答\n一, 二\t三, 四\n".encode()
    assert read_tabbed(text).text == "| 问,题 | 答 |\n|---|---|\n| 一, 二 | 三, 四 |"
    assert "| 1 | 2 |" in read_tabbed(b"a,b\n1,2\n").text
