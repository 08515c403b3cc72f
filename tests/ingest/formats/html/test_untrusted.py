"""Pages made to do harm, or merely odd: read in bounded time, and no word of them is lost without being told."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats import webpage
from tests.ingest.formats.html.pages import lines, page

TAGS = (
    "a", "p", "div", "section", "main", "article", "aside", "nav", "header", "footer", "ul", "ol", "li", "dl", "dt", "dd",
    "table", "tr", "td", "th", "thead", "tfoot", "caption", "pre", "code", "span", "sup", "b", "button", "details", "summary",
    "input", "label", "form", "h1", "h2", "br", "s", "q", "figure", "blockquote", "template", "noscript",
)  # fmt: skip
ATTRIBUTES = (
    "", "", "id=a", "id=b", "href='#a'", "href='#b'", "href=/x", "role=tab", "role=tabpanel", "role=tablist", "role=button",
    "role=heading", "role=row", "role=cell", "role=table", "role=list", "role='checkbox' aria-checked=true", "hidden",
    "role=doc-noteref", "role=doc-footnote", "role=doc-backlink", "style='display:none'", "style='display:block'", "for=a",
    "aria-hidden=true", "aria-controls=a", "aria-expanded=false", "onclick=\"f('b')\"", "type=radio name=n", "colspan=2",
    "type=checkbox checked", "rowspan=2", "class=x", "data-line-number=1", "data-block-type=bullet", "data-block-type=code",
    "data-inline-task-id=1", "rel=prev", "hidden=until-found", "shadowrootmode=open", "style='white-space:pre'",
)  # fmt: skip
PARTS = st.one_of(
    st.tuples(st.sampled_from(TAGS), st.sampled_from(ATTRIBUTES)).map(lambda tag: f"<{tag[0]} {tag[1]}>"),
    st.sampled_from(TAGS).map(lambda tag: f"</{tag}>"),
    st.just("字"),
)


@given(st.lists(PARTS, max_size=40))
def test_no_word_is_lost_in_silence(parts: list[str]) -> None:
    body = "".join(f"词{place:03d}号" if part == "字" else part for place, part in enumerate(parts))
    extract = webpage.read(f"<html><body>{body}</body></html>".encode())
    said = re.sub(r"\s", "", "".join([extract.text, *extract.removed]))
    assert [word for word in re.findall(r"词\d{3}号", body) if word not in said] == []


DEEP = 3_000


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * DEEP + "正文" + "</div>" * DEEP, "<div><span>" * DEEP + "正文", "<ul><li>" * DEEP + "正文", "<blockquote>" * DEEP + "正文",
        "<table><tr><td>" * DEEP + "正文", "<pre>" * DEEP + "正文", "<details><summary>" * DEEP + "正文", "<dl><dd>" * DEEP + "正文",
        "<my-part>" * DEEP + "正文", "<b><i>" * DEEP + "正文",
    ],
)  # fmt: skip
def test_deep_nesting_keeps_the_text(body: str) -> None:
    assert "正文" in page(body).text
    assert "正文" in webpage.html_to_markdown(body)


def test_elements_that_are_never_closed_are_not_nested() -> None:
    assert lines("<p>一段。" * 2_000 + "<li>项" * 2_000)[-1] == "- 项"


MANY = 4_000
HEAVY = {
    "marks": "".join(f"字<sup><a href='#n{n}'>{n}</a></sup>" for n in range(1_000))
    + "".join(f"<p id=n{n}>注</p>" for n in range(1_000)),
    "one note": "<p>" + "字<sup><a href='#n'>1</a></sup>" * MANY + "</p><p id=n>注文</p>",
    "hidden": "<div class=a hidden>x</div>" * MANY + "<div class=a>y</div>",
    "tabs": "<div role=tablist><button role=tab>a</button><button role=tab>b</button></div>" * 1_000,
    "buttons": "".join(f"<a onclick=\"f('{n}')\">x</a><div id='{n}' hidden>y</div>" for n in range(1_000)),
    "formulas": "<span class=katex><math><mi>x</mi></math></span>" * MANY,
    "spans": "<table>" + "<tr><td rowspan=999 colspan=999>甲</td><td>乙</td></tr>" * 200 + "</table>",
    "columns": "<table><tr>" + "<td>x</td>" * MANY + "</tr></table>",
    "open tags": "<div" * 100_000,
    "rules": "<style>" + ".a{display:none}" * 20_000 + "{" * 20_000 + "</style><p>x</p>",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HEAVY)
def test_excess_is_read_in_seconds(name: str) -> None:
    started = time.process_time()
    extract = page(HEAVY[name])
    assert time.process_time() - started < 15
    assert len(extract.text) < 1_000_000


def test_nothing_is_loaded() -> None:
    body = (
        "<p>甲<img src='http://127.0.0.1:9/a.png'></p><link rel=stylesheet href='http://127.0.0.1:9/a.css'>"
        "<iframe src='file:///etc/passwd'></iframe><object data='file:///etc/passwd'></object><p>乙</p>"
    )
    assert lines(f"<!DOCTYPE html SYSTEM 'http://127.0.0.1:9/x.dtd'>{body}") == ["甲", "乙"]


def test_elements_of_xhtml_that_close_themselves() -> None:
    source = (
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/></head>'
        '<body><p><a id="x"/>甲<br/>乙</p><div class="line"/><p>丙</p></body></html>'
    )
    assert webpage.read(source.encode()).text == "甲\n乙\n\n丙\n"
