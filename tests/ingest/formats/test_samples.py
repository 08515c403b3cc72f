"""Real files, made by real programs, come out as the text that went in."""

from pathlib import Path

import pytest

from ingest.formats.extract import Extract, UnreadableError
from ingest.reading.loading import document_of
from ingest.reading.parser_process import ParserProcess
from tests.data.formats.make import CODE, COLUMN_TOPICS, ENGLISH, INTRODUCTION, ITEMS, STEPS, TABLE, TOP_P
from tests.paths import FORMATS as DATA

ROWS = [f"| {' | '.join(row)} |" for row in TABLE]


def read(parser: ParserProcess, name: str) -> Extract:
    return parser.extract(Path(name).suffix, (DATA / name).read_bytes())


@pytest.mark.parametrize("name", ["article.docx", "pandoc.docx", "article.pdf", "book.epub", "page.html"])
def test_an_article(parser: ParserProcess, name: str) -> None:
    extract = read(parser, name)
    lines = extract.text.splitlines()
    assert extract.is_markdown
    assert any(line.lstrip("# ") == "核采样 top-p" and line.startswith("#") for line in lines)
    assert any(line.startswith(INTRODUCTION) for line in lines)
    assert ENGLISH in lines
    for item in ITEMS:
        assert f"- {item}" in lines
    for number, step in enumerate(STEPS, start=1):
        assert f"{number}. {step}" in lines
    for row in ROWS:
        assert row in lines
    code = lines.index(CODE[0])
    assert tuple(lines[code : code + len(CODE)]) == CODE
    assert lines[code - 1].startswith("```")
    assert lines[code + len(CODE)] == "```"


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("article.docx", r"\mathrm{softmax} (x_i) = \frac{e^{x_i}}{\sum_{j = 1}^n e^{x_j}}"),
        ("pandoc.docx", r"\mathrm{softmax} (x_i) = \frac{e^{x_i / T}}{\sum_{j = 1}^n e^{x_j / T}}"),
        ("pandoc.docx", "温度 $T > 0$ 越小越稳"),
        ("book.epub", r"\mathrm{softmax}(x_i) = \frac{e^{x_i / T}}{\sum_{j=1}^{n} e^{x_j / T}}"),
        ("deck.pptx", "$T > 1$ 时分布变平"),
        ("page.html", r"\mathrm{softmax} ( x_i ) = \frac{e^{x_i}}{\sum_{j = 1}^n e^{x_j}}"),
        ("page.html", "常用的取值是 $p = 0.9$。"),
        ("page.html", "温度写成 $T > 0$，"),
        ("page.html", r"行内 TeX \(z_i / T\) 保持原样，`top_k` 也是。"),
    ],
)
def test_formulas(parser: ParserProcess, name: str, formula: str) -> None:
    assert formula in read(parser, name).text


def test_the_frame_of_a_page_is_left_out(parser: ParserProcess) -> None:
    extract = read(parser, "page.html")
    text = extract.text
    assert text.startswith("# 解码策略怎么选？\n")
    assert {"首页", "热门文章", "路人甲：写得不错，谢谢。"} <= set(extract.removed)
    document = document_of("page.html", ".html", (DATA / "page.html").read_bytes(), parser=parser)
    assert document.removed == extract.removed
    for word in ("首页", "登录", "热门文章", "周末", "分享到", "评论", "路人甲", "备案号", "脚本"):
        assert word not in text
    assert "```python\n" in text


def test_pages_of_a_pdf(parser: ParserProcess) -> None:
    extract = read(parser, "article.pdf")
    first, second, third = extract.pages
    assert first == 0
    assert extract.text[second:].startswith("## 核采样 top-p")
    assert extract.text[third:].startswith("## Greedy and beam")
    assert "Decoding notes" not in extract.text  # the running head
    assert "页" not in extract.text  # its page numbers


def test_two_columns_are_read_one_after_the_other(parser: ParserProcess) -> None:
    text = read(parser, "columns.pdf").text
    places = [text.index(f"## {name}\n\n{body}\n") for name, body in COLUMN_TOPICS]
    assert places == sorted(places)
    assert text.count(ENGLISH) == 3  # two of them go on in another column or on another page
    printed = read(parser, "printed.pdf").text
    assert printed.index(TOP_P) < printed.index(ENGLISH) < printed.index("## 方法") < printed.index(ROWS[3])


def test_a_workbook(parser: ParserProcess) -> None:
    text = read(parser, "methods.xlsx").text
    assert text.startswith("## 解码方法\n\n" + ROWS[0] + "\n|---|---|---|\n" + ROWS[1])
    assert "## 术语表\n\n| 编号 | 术语 | 解释 |" in text
    assert text.rstrip().endswith("| 60 | 术语 60 | 第 60 个术语的解释，供检索使用。 |")


@pytest.mark.parametrize("name", ["slides.pptx", "deck.pptx"])
def test_slides(parser: ParserProcess, name: str) -> None:
    extract = read(parser, name)
    starts = [extract.text[page:].splitlines()[0] for page in extract.pages]
    assert starts == ["## 温度的作用", "## 解码方法对比", "## Greedy and beam"]
    assert all(row in extract.text for row in ROWS)
    assert ENGLISH in extract.text
    if name == "deck.pptx":
        assert "- 温度低于 1：输出更稳定。\n" in extract.text
        assert "讲解时先画出分布。" in extract.text[: extract.pages[1]]


def test_a_locked_pdf(parser: ParserProcess) -> None:
    with pytest.raises(UnreadableError, match="password-protected"):
        read(parser, "locked.pdf")


SAMPLES = [path for path in sorted(DATA.glob("*.*")) if path.suffix not in (".md", ".py") and path.stem != "locked"]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_same_file_gives_the_same_text(parser: ParserProcess, path: Path) -> None:
    with ParserProcess() as other:
        assert read(parser, path.name) == read(other, path.name)


def test_samples_are_small() -> None:
    assert max(path.stat().st_size for path in DATA.iterdir() if path.is_file()) < 60_000
