"""What can be opened is text, below its label; what is hidden on purpose is left out, and told."""

import pytest

from tests.ingest.formats.html.pages import LONG, lines, page

PANELS = ["**甲法**", "甲法的正文。", "**乙法**", "乙法的正文。"]


@pytest.mark.parametrize(
    "body",
    [
        "<div><ul role=tablist><li role=tab>甲法</li><li role=tab>乙法</li></ul>"
        "<div><div role=tabpanel><p>甲法的正文。</p></div><div role=tabpanel hidden><p>乙法的正文。</p></div></div></div>",
        "<div role=tablist><button role=tab id=t1 aria-controls=p1>甲法</button><button role=tab id=t2 aria-controls=p2>乙法"
        "</button></div><div id=p1><p>甲法的正文。</p></div><div id=p2 style='display: none'><p>乙法的正文。</p></div>",
        "<div role=tablist><a role=tab id=t1>甲法</a><a role=tab id=t2>乙法</a></div>"
        "<section role=tabpanel id=x aria-labelledby=t1><p>甲法的正文。</p></section>"
        "<section role=tabpanel id=y aria-labelledby=t2 aria-hidden=true><p>乙法的正文。</p></section>",
        "<ul class=nav><li><a data-toggle=tab href='#h'>甲法</a></li><li><a data-toggle=tab href='#p'>乙法</a></li></ul>"
        "<div><div id=h><p>甲法的正文。</p></div><div id=p style='display:none'><p>乙法的正文。</p></div></div>",
        "<div><input type=radio id=a name=n checked><input type=radio id=b name=n>"
        "<div><label for=a>甲法</label><label for=b>乙法</label></div>"
        "<div><div><p>甲法的正文。</p></div><div><p>乙法的正文。</p></div></div></div>",
        "<div><input type=radio id=a name=n checked><label for=a>甲法</label><div><p>甲法的正文。</p></div>"
        "<input type=radio id=b name=n><label for=b>乙法</label><div><p>乙法的正文。</p></div></div>",
        "<div><button onclick=\"show(event, 'A')\">甲法</button><button onclick=\"show(event, 'B')\">乙法</button></div>"
        "<div id=A><p>甲法的正文。</p></div><div id=B style='display:none'><p>乙法的正文。</p></div>",
    ],
)
def test_tabs(body: str) -> None:
    extract = page(f"<h1>题</h1>{body}")
    assert [line for line in extract.text.splitlines()[1:] if line] == PANELS
    assert extract.removed == ()


@pytest.mark.parametrize(
    "body",
    [
        "<h3><button aria-expanded=false aria-controls=p>如何限制并发？</button></h3><div id=p hidden><p>用参数。</p></div>",
        "<h3><button aria-expanded=false>如何限制并发？</button></h3><div style='display:none'><p>用参数。</p></div>",
        "<h3>如何限制并发？</h3><div style='display:none'><p>用参数。</p></div><h3>另一问</h3><div style='display:none'>答。</div>",
        "<h3>如何限制并发？</h3><button onclick=\"show('p')\">显示</button><div id=p hidden><p>用参数。</p></div>",
        "<h3>如何限制并发？</h3><div hidden=until-found><p>用参数。</p></div>",
    ],
)
def test_folds_below_headings(body: str) -> None:
    assert lines(f"<p>前文。</p>{body}")[1:3] == ["### 如何限制并发？", "用参数。"]


def test_folds() -> None:
    assert lines("<details><summary>外？</summary><p>外。</p><details><summary>内？</summary>内。</details></details>") == [
        "外？", "外。", "内？", "内。",
    ]  # fmt: skip
    assert lines("<div>甲</div><button aria-expanded=false aria-controls=m>更多说明</button><div id=m hidden>余下。</div>") == [
        "甲", "**更多说明**", "余下。",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "<div class=c><div class='item active'>第一张。</div><div class=item style='display:none'>第二张。</div></div>",
        "<div><p>第一张。</p><div style='display:none'><p>第二张。</p></div><a href='javascript:;'>展开全文</a></div>",
        "<my-slide><template shadowrootmode=open><p>第一张。</p><p>第二张。</p></template></my-slide>",
        "<section style='opacity: 0; transform: translateY(20px)'><p>第一张。</p><p>第二张。</p></section>",
    ],
)
def test_what_a_script_shows_is_text(body: str) -> None:
    assert lines(f"<p>{LONG}</p>{body}") == [LONG, "第一张。", "第二张。"]


def test_a_page_that_is_shown_by_a_script() -> None:
    assert lines(f"<h1>题</h1><div style='visibility: hidden; opacity: 0'><p>{LONG}</p></div>") == ["# 题", LONG]


@pytest.mark.parametrize(
    "hidden",
    [
        "<div style='display:none'>内部讨论</div>", "<p hidden>内部讨论</p>", "<span style='visibility:hidden'>内部讨论</span>",
        "<div style='DISPLAY : NONE !important'>内部讨论</div>", "<p style='font-size:0'>内部讨论</p>", "<p><del>内部讨论</del></p>",
        "<p><s>内部讨论</s></p>", "<p><span style='text-decoration: line-through'>内部讨论</span></p>",
        "<template><p>内部讨论</p></template>", "<div role=dialog>内部讨论</div>", "<p class=secret>内部讨论</p>",
        "<p class=struck>内部讨论</p>", "<dialog>内部讨论</dialog>", "<div class=off id=x>内部讨论</div>",
    ],
)  # fmt: skip
def test_what_is_hidden_on_purpose_is_told(hidden: str) -> None:
    style = "<style>/* a */ .secret, .b {display:none} @media (x) {p {color:red}} .struck{text-decoration:line-through}#x{display:none}</style>"
    extract = page(f"<p>{LONG}</p>{hidden}<p>{LONG}</p>", head=style)
    assert extract.text == f"{LONG}\n\n{LONG}\n"
    assert extract.removed == ("内部讨论",)


def test_what_is_hidden_on_some_screens_only_is_text() -> None:
    style = (
        "<style>.none{display:none}@media (min-width:1px){.wide{display:block}}@media print{.p{display:none}}</style>"
    )
    assert lines("<p>甲</p><div class='none wide'>乙</div><div class=p>丙</div>", head=style) == ["甲", "乙", "丙"]


def test_signs_for_the_eye_alone() -> None:
    found = lines("<p>重要：<span aria-hidden=true>显存 不足</span>。<i aria-hidden=true>expand_more</i></p>")
    assert found == ["重要：显存 不足。"]
