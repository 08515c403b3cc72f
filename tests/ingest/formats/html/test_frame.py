"""Text and frame are told apart by structure, never by the names that a designer gave; the frame is told."""

import pytest

from tests.ingest.formats.html.pages import LONG, lines, page


@pytest.mark.parametrize(
    "frame",
    [
        "<nav><a href=/>首页</a><a href=/b>归档</a></nav>", "<div role=navigation><a href=/>首页</a></div>",
        "<header><a href=/>首页</a></header>", "<header><h1><a href=/>某站</a></h1><p>订阅</p></header>",
        "<footer><p>版权所有。备案号一。</p></footer>", "<div role=contentinfo>版权所有</div>",
        "<aside><h3>热门</h3><ul><li><a href=/1>别的文章一</a></li><li><a href=/2>别的文章二</a></li></ul></aside>",
        "<form role=search><input name=q><button>搜索</button></form>", "<form><input type=email><button>订阅</button></form>",
        "<button>复制</button>", "<div role=button>复制</div>", "<div data-clipboard-target='#x'>复制</div>",
        "<div><a href=/s1>微博</a> <a href=/s2>微信</a></div>", "<div role=dialog><p>接受饼干？</p></div>",
        "<noscript>请打开脚本</noscript>", "<select><option>1.0</option><option>2.0</option></select>",
        "<div><p>目录</p><ul><li><a href='#a'>甲</a></li><li><a href='#b'>乙</a></li></ul></div>",
        "<p><a rel=tag href=/t>标签</a></p>", "<iframe srcdoc='x'>框</iframe>",
    ],
)  # fmt: skip
def test_frame_is_left_out_and_told(frame: str) -> None:
    text = f"<h2 id=a>甲</h2><p>{LONG}</p>{{}}<h2 id=b>乙</h2><p>{LONG}</p>"
    for body in (f"<h1>题</h1>{text.format(frame)}", f"<div>{frame}</div><main><h1>题</h1>{text.format('')}</main>"):
        extract = page(body)
        assert extract.text == f"# 题\n\n## 甲\n\n{LONG}\n\n## 乙\n\n{LONG}\n"
        assert extract.removed


@pytest.mark.parametrize("name", ["related", "comments", "footer", "sidebar", "ads", "menu", "share", "cookie", "nav"])
def test_a_name_makes_no_frame(name: str) -> None:
    body = f"<h1>推荐系统</h1><p>{LONG}</p><div class='{name}' id='{name}'><h2>相似怎么算</h2><p>{LONG}</p></div>"
    assert lines(body) == ["# 推荐系统", LONG, "## 相似怎么算", LONG]
    assert lines(f"<main>{body}<section id='{name}-work'><h2>相关工作</h2><p>短。</p></section></main>")[-1] == "短。"


@pytest.mark.parametrize(
    "text",
    [
        "<aside role=note>警告：先停服务。</aside>", "<div role=alert>警告：先停服务。</div>", "<aside><p>警告：先停服务。</p></aside>",
        "<div class=callout><p>警告：先停服务。</p></div>", "<form><p>警告：先停服务。</p></form>", "<search-note>警告：先停服务。</search-note>",
        "<button>警告：先停服务，再换驱动，然后把新的配置逐台推到机器上，最后恢复流量。</button>",
    ],
)  # fmt: skip
def test_asides_and_warnings_are_text(text: str) -> None:
    found = lines(f"<article><h1>题</h1><p>{LONG}</p>{text}<p>{LONG}</p></article>")
    assert found[2].startswith("警告：先停服务")
    assert len(found) == 4


def test_headings_lose_their_signs_alone() -> None:
    found = lines(
        "<h2 id=i><a href='#i'>安装</a><a href='#i' title=x>¶</a></h2><p>甲。</p><h2>用法<span>[<a href=/e>编辑</a>]</span></h2>"
        "<p>乙。</p><dl><dt>f(x)<a href=/src>[source]</a><a href='#f'>#</a></dt><dd>丙。</dd></dl>"
    )
    assert found == ["## 安装", "甲。", "## 用法", "乙。", "f(x)：丙。"]


def test_contents_breadcrumbs_and_ways_to_other_pages() -> None:
    extract = page(
        f"<main><ol><li><a href=/>首页</a></li><li><a href=/d>文档</a></li></ol><h1>题</h1><h2>目录</h2><ul><li><a href='#a'>甲</a>"
        f"<ul><li><a href='#b'>乙</a></li></ul></li></ul><h2 id=a>甲</h2><p>{LONG}</p><h3 id=b>乙</h3><p>{LONG}</p>"
        "<div><a href=/edit>编辑此页</a></div><div><a href=/p>上一篇</a></div></main>"
    )
    assert extract.text == f"# 题\n\n## 甲\n\n{LONG}\n\n### 乙\n\n{LONG}\n"
    assert set(extract.removed) == {"首页", "文档", "目录", "甲", "乙", "编辑此页", "上一篇"}


def test_links_that_a_heading_promises_are_text() -> None:
    found = lines(
        f"<p>{LONG}</p><h2>参考资料</h2><ul><li><a href=http://a>分页论文</a></li><li><a href=http://b>合批博客</a></li></ul>"
        "<h2>下一步</h2><div><a href=/a><h3>安装</h3><p>先装驱动。</p></a><a href=/b><h3>部署</h3><p>再起服务。</p></a></div>"
    )
    assert found == [
        LONG, "## 参考资料", "- 分页论文", "- 合批博客", "## 下一步", "### 安装", "先装驱动。", "### 部署", "再起服务。",
    ]  # fmt: skip


def test_links_within_a_page_that_a_browser_has_saved() -> None:
    saved = "<!-- saved from url=(0023)https://example.org/a -->"
    contents = "".join(f"<li><a href='https://example.org/a#{name}'>{name}</a></li>" for name in "xyz")
    text = "".join(
        f"<h2 id={name}>{name}<a href='https://example.org/a#{name}'>#</a></h2><p>{LONG}</p>" for name in "xyz"
    )
    found = page(f"<ul>{contents}</ul>{text}", head=saved)
    assert [line for line in found.text.splitlines() if line.startswith("#")] == ["## x", "## y", "## z"]
    assert found.removed == ("x", "y", "z")


def test_titles_authors_and_quotations_have_heads_and_feet_of_their_own() -> None:
    found = lines(
        f"<header><h1>题</h1><p>某人</p><div><p>摘要在此。</p></div></header><p>{LONG}</p>"
        "<blockquote><p>少即是多。</p><footer>— 某人</footer></blockquote>"
    )
    assert found == ["# 题", "某人", "摘要在此。", LONG, "> 少即是多。", ">", "> — 某人"]


def test_the_heading_of_a_page_may_stand_outside_of_its_article() -> None:
    found = lines(
        f"<div><div><a href=/>某站</a></div><h1>题</h1><div>三天前</div><article><p>{LONG}</p></article></div>"
    )
    assert found == ["# 题", LONG]


def test_several_articles_are_one_talk() -> None:
    turns = "".join(f"<article><h5>{who}</h5><p>{LONG}</p></article>" for who in ("问", "答", "问"))
    assert lines(f"<main>{turns}<form><textarea></textarea></form></main>").count(LONG) == 3


@pytest.mark.parametrize("name", ["noscript", "dialog", "nav", "header", "footer", "form", "object"])
def test_what_holds_most_of_a_page_is_no_frame(name: str) -> None:
    text = "".join(f"<p>{number}、{LONG}</p>" for number in range(9))
    assert len(lines(f"<p>页眉</p><{name}>{text}</{name}>")) == 10


def test_a_page_of_links_is_its_links() -> None:
    found = lines("<h1>资料</h1><ul><li><a href=http://a>甲论文</a></li><li><a href=http://b>乙论文</a></li></ul>")
    assert found == ["# 资料", "- 甲论文", "- 乙论文"]
