"""CSV, notebooks, web pages, formulas: small cases."""

import json

import pytest
from lxml import etree

from ingest.formats import notebook, office_xml, webpage
from ingest.formats.extract import UnreadableError
from ingest.formats.markdown import MAX_COLUMNS, fence, table
from ingest.formats.mathematics import mathml_to_tex, omml_to_tex
from ingest.formats.sheets import delimited

M = "http://schemas.openxmlformats.org/officeDocument/2006/math"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_delimiters(delimiter: str) -> None:
    text = f'名字{delimiter}解释\n"a{delimiter}b"{delimiter}"两行\n的解释"\n'
    shown = f"a{delimiter}b".replace("|", r"\|").replace("\t", " ")
    assert delimited.read(text.encode("gb18030")).text == f"| 名字 | 解释 |\n|---|---|\n| {shown} | 两行 的解释 |"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            "Modell;Preis\nAlpha;1,50\nBeta;3,75\n",
            ["| Modell | Preis |", "|---|---|", "| Alpha | 1,50 |", "| Beta | 3,75 |"],
        ),
        (
            "题\t答\n甲\t一, 二, 三\n乙\t四, 五, 六\n",
            ["| 题 | 答 |", "|---|---|", "| 甲 | 一, 二, 三 |", "| 乙 | 四, 五, 六 |"],
        ),
        ('题;答\n"甲;乙";"一, 二, 三"\n', ["| 题 | 答 |", "|---|---|", "| 甲;乙 | 一, 二, 三 |"]),
        ("sep=;\n题;答\n甲;一,二\n", ["| 题 | 答 |", "|---|---|", "| 甲 | 一,二 |"]),
        ("# 导出于 2026-03-01\n题,答\n甲,一\n", ["| 题 | 答 |", "|---|---|", "| 甲 | 一 |"]),
    ],
)
def test_what_divides_the_fields_is_told_by_the_head_and_by_quotes(text: str, rows: list[str]) -> None:
    assert delimited.read(text.encode()).text.splitlines() == rows


def test_remarks_above_a_table_are_told() -> None:
    assert delimited.read("# 导出于 2026-03-01\n题,答\n甲,一\n".encode()).warnings == ("remark: 导出于 2026-03-01",)


def test_wide_tables_are_cut() -> None:
    rows = [[f"h{n}" for n in range(30)], [f"v{n}" for n in range(30)]]
    parts = table(rows).split("\n\n")
    assert len(parts) == 3
    for part in parts:
        assert part.startswith("| h0 | ")
        assert part.splitlines()[0].count("|") - 1 <= MAX_COLUMNS
    assert all(f" v{n} " in "".join(parts) for n in range(30))


def test_fences_are_longer_than_what_they_hold() -> None:
    assert fence("a\n```\nb", "text") == "````text\na\n```\nb\n````"


def test_a_notebook() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# 温度\n", "采样之前除以温度。"]},
        {"cell_type": "code", "source": "print(1)", "outputs": [
            {"output_type": "stream", "text": [f"{n}\n" for n in range(100)]},
            {"output_type": "execute_result", "data": {"image/png": "iVBOR", "text/plain": "array"}},
        ]},
        {"cell_type": "code", "source": "", "outputs": []},
        {"cell_type": "raw", "source": "not shown"},
    ]  # fmt: skip
    text = notebook.read(json.dumps({"cells": cells, "metadata": {}}).encode()).text
    assert text.startswith("# 温度\n采样之前除以温度。\n\n```python\nprint(1)\n```\n\n```text\n0\n1\n")
    assert text.endswith("11\n…\n```")
    assert "iVBOR" not in text
    assert "not shown" not in text


def test_an_old_notebook() -> None:
    sheet = {
        "cells": [{"cell_type": "heading", "level": 2, "source": ["标题"]}, {"cell_type": "code", "input": "x = 1"}]
    }
    assert notebook.read(json.dumps({"worksheets": [sheet]}).encode()).text == "## 标题\n\n```python\nx = 1\n```"


def test_a_page_without_a_frame_keeps_everything() -> None:
    """What pandoc and others export: no article element, code and tables between short paragraphs."""
    html = (
        "<title>T</title><h1>标题</h1><p>短。</p><pre>x = 1\n  y = 2</pre>"
        "<table><tr><td>a|b</td><td>c</td></tr></table><p>完。</p>"
    )
    text = webpage.read(html.encode()).text
    assert text.startswith("# 标题\n\n短。\n\n```\nx = 1\n  y = 2\n```\n")
    assert r"| a\|b | c |" in text
    assert text.endswith("完。\n")


def test_an_article_without_a_table_or_code_in_its_first_part() -> None:
    """A section that holds only code stands between sections of sentences."""
    long = "这一段足够长，讲的是梯度裁剪为什么能让训练稳定，以及阈值怎么选，还有它和学习率的关系。" * 4
    html = (
        "<body><div><a href=/>菜单</a> <a href=/2>菜单</a></div><div class=content><section><h2>一</h2><p>"
        + long
        + "</p></section>"
        "<section><h2>二</h2><pre>clip(g)</pre></section><section><h2>三</h2><p>" + long + "</p></section></div>"
        "<div><p>猜你喜欢：" + "<a href=/3>别的文章</a>，" * 20 + "</p></div></body>"
    )
    text = webpage.read(html.encode()).text
    assert "```\nclip(g)\n```" in text
    assert text.count(long) == 2
    assert "菜单" not in text
    assert "猜你喜欢" not in text


def test_an_empty_page_is_refused_or_empty() -> None:
    assert webpage.read(b"<html></html>").text.strip() == ""
    with pytest.raises(UnreadableError, match="contains no HTML"):
        webpage.read(b"<?xml version='1.0'?>")


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        ("<msqrt><mi>d</mi></msqrt>", r"\sqrt{d}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
        ("<mover><mi>x</mi><mo>^</mo></mover>", r"\hat{x}"),
        ("<mi>log</mi><mo>\u2061</mo><mi>p</mi>", r"\log p"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable>",
         r"\begin{matrix} 1 & 0 \\ 0 & 1 \end{matrix}"),
        ("<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mn>2</mn></msup>", "{( a )}^2"),
        ("<semantics><mi>x</mi><annotation encoding='application/x-tex'>\\theta </annotation></semantics>", r"\theta"),
        ("<mtext>if </mtext><mfrac><mi>a</mi></mfrac>", r"\text{if}"),
    ],
)  # fmt: skip
def test_mathml(mathml: str, tex: str) -> None:
    assert mathml_to_tex(etree.fromstring(f"<math>{mathml}</math>")) == tex


@pytest.mark.parametrize(
    ("omml", "tex"),
    [
        ("<m:rad><m:deg/><m:e><m:r><m:t>d</m:t></m:r></m:e></m:rad>", r"\sqrt{d}"),
        ("<m:acc><m:accPr><m:chr m:val='̃'/></m:accPr><m:e><m:r><m:t>x</m:t></m:r></m:e></m:acc>", r"\tilde{x}"),
        ("<m:func><m:fName><m:r><m:t>log</m:t></m:r></m:fName><m:e><m:r><m:t>p</m:t></m:r></m:e></m:func>", r"\log p"),
        ("<m:m><m:mr><m:e><m:r><m:t>1</m:t></m:r></m:e><m:e><m:r><m:t>0</m:t></m:r></m:e></m:mr>"
         "<m:mr><m:e><m:r><m:t>0</m:t></m:r></m:e><m:e><m:r><m:t>1</m:t></m:r></m:e></m:mr></m:m>",
         r"\begin{matrix} 1 & 0 \\ 0 & 1 \end{matrix}"),
        ("<m:f><m:num/><m:den/></m:f>", r"\frac{}{}"),
    ],
)  # fmt: skip
def test_omml(omml: str, tex: str) -> None:
    assert omml_to_tex(etree.fromstring(f"<m:oMath xmlns:m='{M}'>{omml}</m:oMath>")) == tex


def page_of(body: str) -> str:
    return webpage.extract_fragment(f"<html><body>{body}</body></html>")


def test_raised_and_lowered_characters_stay_off_the_line() -> None:
    said = page_of(
        "<p>3×10<sup>23</sup> 次，学习率 10<sup>-4</sup>，CO<sub>2</sub>，x<sub>i</sub>，见<sup>[1]</sup></p>"
    )
    assert said.strip() == "3×10²³ 次，学习率 10⁻⁴，CO₂，x_{i}，见[1]"


def test_a_cell_over_several_rows_or_columns_stands_in_all_of_them() -> None:
    rows = "<tr><th>区域</th><th colspan=2>型号与上限</th></tr><tr><td rowspan=2>华北</td><td>H100</td><td>16</td></tr>"
    said = page_of(f"<table>{rows}<tr><td>H200</td><td>8</td></tr></table>")
    assert said.splitlines() == [
        "| 区域 | 型号与上限 | 型号与上限 |",
        "|---|---|---|",
        "| 华北 | H100 | 16 |",
        "| 华北 | H200 | 8 |",
    ]


@pytest.mark.parametrize("span", ["100000000", "0", "-3", "x", ""])
def test_spans_that_cannot_be_meant_do_no_harm(span: str) -> None:
    cells = f"<tr><td colspan='{span}' rowspan='{span}'>甲</td><td>乙</td></tr><tr><td>丙</td></tr>"
    said = page_of(f"<table>{cells * 30}</table>")
    assert "乙" in said
    assert "丙" in said
    assert len(said) < 200_000


def test_what_a_picture_shows_is_said() -> None:
    assert page_of("<p>如图<img alt='显存随批大小线性增长' src='a.png'></p>").strip() == "如图显存随批大小线性增长"
    assert page_of("<p>如图<img alt='plot.png' src='a.png'></p>").strip() == "如图"


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def word_paragraph(runs: str) -> str:
    return office_xml.text_of(etree.fromstring(f'<w:p xmlns:w="{W}">{runs}</w:p>'))


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ('<w:vertAlign w:val="superscript"/>', "10²³"),
        ('<w:vertAlign w:val="subscript"/>', "10₂₃"),
        ("<w:strike/>", "10"),
        ("<w:dstrike/>", "10"),
        ("<w:vanish/>", "10"),
        ('<w:strike w:val="0"/>', "1023"),
        ("<w:b/>", "1023"),
    ],
)
def test_runs_of_word_that_are_raised_struck_out_or_hidden(properties: str, said: str) -> None:
    run = f"<w:r><w:rPr>{properties}</w:rPr><w:t>23</w:t></w:r>"
    assert word_paragraph(f"<w:r><w:t>10</w:t></w:r>{run}") == said
