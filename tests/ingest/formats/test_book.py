"""EPUB: chapters in the order of the spine, with their titles and footnotes, without lists of contents."""

import io
import zipfile

from ingest.formats import book
from ingest.formats.extract import Extract

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
NCX = (
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>第一章</text></navLabel>'
    '<content src="text/one.xhtml"/><navPoint><navLabel><text>一节</text></navLabel><content src="text/one.xhtml#s"/>'
    "</navPoint></navPoint><navPoint><navLabel><text>第二章</text></navLabel><content src='text/two.xhtml'/></navPoint>"
    "</navMap></ncx>"
)


def chapter(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title/><script src="a.js"/></head><body>{body}</body></html>'
    )


def read(chapters: dict[str, str], *, order: list[str], nav: str = "", ncx: str = "") -> Extract:
    items = "".join(
        f'<item id="{name}" href="text/{name}.xhtml" media-type="application/xhtml+xml"/>' for name in chapters
    )
    items += '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>' if nav else ""
    items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>' if ncx else ""
    spine = "".join(f'<itemref idref="{name}"/>' for name in order)
    package = (
        f"<package><metadata><title>书</title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OPS/book.opf", package)
        for name, body in chapters.items():
            archive.writestr(f"OPS/text/{name}.xhtml", chapter(body))
        if nav:
            archive.writestr("OPS/nav.xhtml", chapter(nav))
        if ncx:
            archive.writestr("OPS/toc.ncx", ncx)
    return book.read(target.getvalue())


def test_chapters_stand_in_the_order_of_the_spine() -> None:
    found = read({"b": "<h1>乙</h1><p>二。</p>", "a": "<h1>甲</h1><p>一<br/>行。</p>"}, order=["a", "b", "lost"])
    assert found.text == "# 甲\n\n一\n行。\n\n# 乙\n\n二。"
    assert found.warnings == ("1 of 3 chapters are not in the file",)


def test_notes_in_another_file_are_read_beside_their_sentence() -> None:
    found = read(
        {
            "one": "<h1>甲</h1><p>显存平方增长<a href='notes.xhtml#f1'>1</a>，可用时间换<sup><a epub:type='noteref' "
            "href='notes.xhtml#f2'>2</a></sup>。</p><p>后文。</p>",
            "notes": "<h2>注释</h2><p id='f1'>注 1：融合之后变为线性。</p>"
            "<aside epub:type='footnote' id='f2'><p>约三成时间。</p></aside>",
        },
        order=["one", "notes"],
    )
    assert found.text.startswith(
        "# 甲\n\n显存平方增长[1]，可用时间换[2]。\n\n[1] 注 1：融合之后变为线性。\n\n[2] 约三成时间。\n\n后文。"
    )


def test_the_table_of_contents_gives_titles_to_chapters_that_have_none() -> None:
    chapters = {
        "one": "<p class='t'>第一章</p><p>文一。</p><p><a id='s'/>一节</p><p>文二。</p>",
        "two": "<p>文三。</p>",
    }
    expected = "# 第一章\n\n文一。\n\n## 一节\n\n文二。\n\n# 第二章\n\n文三。"
    assert read(chapters, order=["one", "two"], ncx=NCX).text == expected
    nav = (
        "<nav epub:type='toc'><ol><li><a href='text/one.xhtml'>第一章</a><ol>"
        "<li><a href='text/one.xhtml#s'>一节</a></li></ol></li><li><a href='text/two.xhtml'>第二章</a></li></ol></nav>"
    )
    assert read(chapters, order=["nav", "one", "two"], nav=nav).text == expected


def test_contents_and_numbers_of_pages_are_no_text() -> None:
    links = "".join(f"<p><a href='c{number}.xhtml'>第{number}章</a></p>" for number in range(5))
    pages = (
        "<p>甲<span epub:type='pagebreak' id='p7'>7</span>乙。</p><nav epub:type='page-list'><ol><li>7</li></ol></nav>"
    )
    found = read({"contents": f"<h1>目录</h1>{links}", "c0": f"<h1>题</h1>{pages}"}, order=["contents", "c0"])
    assert found.text == "# 题\n\n甲乙。"
    assert "第0章" in found.removed[0]


def test_everything_that_pages_have_is_read_in_books() -> None:
    table = (
        "<table><tr><th>区</th><th>数</th></tr><tr><td rowspan='2'>华北</td><td>1</td></tr><tr><td>2</td></tr></table>"
    )
    math = "<math xmlns='http://www.w3.org/1998/Math/MathML'><msub><mi>x</mi><mi>i</mi></msub></math>"
    found = read(
        {"a": f"<h1>题</h1><p>10<sup>23</sup>，<ruby>字<rt>zì</rt></ruby>，{math}。</p>{table}<pre>a\n b</pre>"},
        order=["a"],
    )
    assert found.text == (
        "# 题\n\n10²³，字（zì），$x_i$。\n\n| 区 | 数 |\n|---|---|\n| 华北 | 1 |\n| 华北 | 2 |\n\n```\na\n b\n```"
    )
