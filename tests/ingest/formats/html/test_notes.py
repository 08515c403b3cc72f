"""Footnotes are read beside the sentence that has their mark."""

import pytest

from tests.ingest.formats.html.pages import lines, page

NOTE = "合批的窗口是五毫秒。"


@pytest.mark.parametrize(
    ("mark", "note"),
    [
        ("<sup><a href='#n'>1</a></sup>", f"<ol><li id=n>{NOTE}</li></ol>"),
        ("<sup id=r>[<a href='#n'>1</a>]</sup>", f"<ol><li id=n><p>{NOTE} <a href='#r'>↩</a></p></li></ol>"),
        ("<a href='#n' id=r role=doc-noteref><sup>1</sup></a>", f"<section><hr><ol><li id=n><p>{NOTE}<a href='#r' role=doc-backlink>↩︎</a></p></li></ol></section>"),
        ("<a href='#n' id=r>[1]</a>", f"<dl><dt id=n><span><a href='#r'>1</a></span></dt><dd><p>{NOTE}</p></dd></dl>"),
        ("<a href='#n' id=r>[1]</a>", f"<table id=n><tr><td><a href='#r'>[1]</a></td><td>{NOTE}</td></tr></table>"),
        ("<a href='#f' name=r><span>[1]</span></a>", f"<div id=x><p><a href='#r' name=f><span>[1]</span></a> {NOTE}</p></div>"),
        ("<sup><a href='#n'>1</a></sup>", f"<p id=n><sup>1</sup> {NOTE}</p>"),
        ("<a href='#n' id=r><span>[</span>1<span>]</span></a>", f"<aside id=n><span><span>[</span><a href='#r'>1</a><span>]</span></span><p>{NOTE}</p></aside>"),
        ("<sup id=r><a href='#n'>[1]</a></sup>", f"<ul><li id=n><b><a href='#r'>^</a></b> <span>{NOTE}</span></li></ul>"),
        ("[<a href='#n'>1</a>]", f"<p id=n>[1] {NOTE}</p>"),
    ],
)  # fmt: skip
def test_a_note_in_the_ways_that_programs_write_them(mark: str, note: str) -> None:
    found = page(f"<h1>题</h1><p>请求合成一批{mark}，一次算完。</p><p>后文。</p>{note}").text
    assert found == f"# 题\n\n请求合成一批[1]，一次算完。\n\n[1] {NOTE}\n\n后文。\n"


@pytest.mark.parametrize("sign", ["*", "†", "a", "①"])
def test_notes_with_signs(sign: str) -> None:
    found = lines(
        f"<p>翻倍<sup><a href='#n' id=r>{sign}</a></sup>。</p><p>后。</p><p id=n><a href='#r'>{sign}</a> 在夜间。</p>"
    )
    assert found == [f"翻倍[{sign}]。", f"[{sign}] 在夜间。", "后。"]


def test_notes_of_tables_and_lists_stand_below_them() -> None:
    found = lines(
        "<table><tr><th>a</th><th>b</th></tr><tr><td>x<sup><a href='#f'>1</a></sup></td><td>2</td></tr></table>"
        "<ul><li>一<sup><a href='#g'>2</a></sup>完<ul><li>子</li></ul></li></ul><ol><li id=f>只在夜间。</li><li id=g>注。</li></ol>"
    )
    assert found == ["| a | b |", "|---|---|", "| x[1] | 2 |", "[1] 只在夜间。", "- 一[2]完", "  [2] 注。", "  - 子"]


def test_a_note_that_is_named_twice_is_read_once() -> None:
    mark = "<sup><a href='#n'>1</a></sup>"
    assert lines(f"<p>甲{mark}。</p><p>乙{mark}。</p><ol><li id=n>注。</li></ol>") == ["甲[1]。", "[1] 注。", "乙[1]。"]


def test_links_to_sections_formulas_and_tables_are_no_marks() -> None:
    found = lines(
        "<p>见<a href='#s'>2</a>节、式<a href='#e'>(1)</a>、表<a href='#t'>1</a>。</p><h2 id=s>2 节</h2><p>文。</p>"
        "<div id=e>\\[x=1\\]</div><table id=t><tr><th>1</th><th>b</th></tr><tr><td>c</td><td>d</td></tr></table>"
    )
    assert found == ["见2节、式(1)、表1。", "## 2 节", "文。", "\\[x=1\\]", "| 1 | b |", "|---|---|", "| c | d |"]


def test_the_title_of_notes_that_have_moved_is_told() -> None:
    extract = page(
        "<p>甲<sup><a href='#n'>1</a></sup>。</p><section><h2>脚注</h2><ol><li id=n>注。</li></ol></section>"
    )
    assert extract.text == "甲[1]。\n\n[1] 注。\n"
    assert extract.removed == ("脚注",)


def test_what_stands_with_a_note_stays_as_it_is() -> None:
    found = lines(
        "<p>甲<sup><a href='#n'>1</a></sup>。</p><ol><li id=n>用 <code>--window</code>，至多 10<sup>3</sup>；见（胡，2022）。</li></ol>"
    )
    assert found == ["甲[1]。", "[1] 用 `--window`，至多 10³；见（胡，2022）。"]
