"""Tables of HTML in Markdown: laid out, wherever they stand, but in code."""

from ingest.formats.tables_in_markdown import with_tables
from ingest.reading.loading import document_of

SPANS = (
    "<table>\n<tr><th>区</th><th>值</th></tr>\n"
    '<tr><td rowspan="2">甲</td><td>1</td></tr>\n<tr><td>2</td></tr>\n</table>'
)
LAID_OUT = "| 区 | 值 |\n|---|---|\n| 甲 | 1 |\n| 甲 | 2 |"


def test_a_table_is_laid_out_between_its_neighbours() -> None:
    assert with_tables(f"# 题\n\n前。\n\n{SPANS}\n\n后。\n") == f"# 题\n\n前。\n\n{LAID_OUT}\n\n后。\n"
    assert with_tables(f"前。{SPANS}后。") == f"前。\n\n{LAID_OUT}\n\n后。"


def test_what_is_no_table_stays() -> None:
    for text in ("没有表格。\n", f"```html\n{SPANS}\n```\n", "<table>\n没有关上\n", "</table> 之后\n"):
        assert with_tables(text) == text


def test_markdown_files_are_read_so() -> None:
    document = document_of("a.md", ".md", f"---\ntitle: 表\n---\n{SPANS}\n".encode())
    assert document.title == "表"
    assert document.source[document.body_start :].strip() == LAID_OUT
