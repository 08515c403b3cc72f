"""Code is one block with its line breaks, whatever draws it."""

import pytest

from tests.ingest.formats.html.pages import page

CODE = "def f(a):\n    return a + 1"
HIGHLIGHTED = "<span class=k>def</span> f(a):\n    <span class=k>return</span> a + <span class=mi>1</span>\n"


@pytest.mark.parametrize(
    ("body", "language"),
    [
        (f"<pre><code class='language-python'>{HIGHLIGHTED}</code></pre>", "python"),
        (f"<pre lang=python>{HIGHLIGHTED}</pre>", "python"),
        (f"<div class='highlight highlight-source-python'><pre>{HIGHLIGHTED}</pre></div>", "python"),
        (f"<div class='highlight-python notranslate'><div class=highlight><pre><span></span>{HIGHLIGHTED}</pre></div></div>", "python"),
        (f"<pre class='sourceCode python'><code class='sourceCode python'>{HIGHLIGHTED}</code></pre>", "python"),
        (f"<pre><code class='hljs python'>{HIGHLIGHTED}</code></pre>", "python"),
        (f"<pre data-syntaxhighlighter-params='brush: py; gutter: false'>{CODE}</pre>", "py"),
        (f"<table><tr><td class=g><pre>1\n2\n</pre></td><td><pre>{HIGHLIGHTED}</pre></td></tr></table>", ""),
        (f"<table><tr><td><div><pre><span>1</span>\n<span>2</span></pre></div></td><td><pre><code>{HIGHLIGHTED}</code></pre></td></tr></table>", ""),
        ("<table><tr><td>1</td><td><code>def f(a):</code></td></tr><tr><td>2</td><td><code>    return a + 1</code></td></tr></table>", ""),
        ("<table><tr><td data-line-number=1></td><td>def f(a):</td></tr><tr><td data-line-number=2></td><td>    return a + 1</td></tr></table>", ""),
        ("<pre><code class='hljs python'><table><tr><td data-line-number=1></td><td>def f(a):</td></tr><tr><td data-line-number=2></td>"
         "<td>    return a + 1</td></tr></table></code></pre>", "python"),
        ("<pre><span class=n>1</span>def f(a):\n<span class=n>2</span>    return a + 1</pre>", ""),
        (f"<div><div><span>1</span><br><span>2</span></div><pre>{CODE}</pre></div>", ""),
        (f"<div><pre>{CODE}</pre><ul><li>1</li><li>2</li></ul></div>", ""),
        ("<pre><code><span style='display:block'>def f(a):<br></span><span style='display:block'>    return a + 1<br></span></code></pre>", ""),
        ("<pre><div>def f(a):</div>\n<div>    return a + 1</div></pre>", ""),
        ("<pre data-lang=python><code>def f(a):</code><code>    return a + 1</code></pre>", "python"),
        ("<pre>def f(a):<br>    return a + 1</pre>", ""),
        ("<pre><ol><li>def f(a):</li><li>    return a + 1</li></ol></pre>", ""),
        ("<p><code>def f(a):<br>&nbsp;   return a + 1</code></p>", ""),
        ("<div style='white-space: pre; font-family: monospace'>def f(a):\n    return a + 1</div>", ""),
        (f"<pre><div>python</div><button>复制代码</button><div><code class=language-python>{HIGHLIGHTED}</code></div></pre>", "python"),
    ],
)  # fmt: skip
def test_a_listing(body: str, language: str) -> None:
    assert page(f"<p>前文。</p>{body}<p>后文。</p>").text == f"前文。\n\n```{language}\n{CODE}\n```\n\n后文。\n"


def test_numbers_that_are_code_stay() -> None:
    assert page("<pre>[1,\n2,\n3]</pre>").text == "```\n[1,\n2,\n3]\n```\n"
    assert page("<pre><span class=mi>1</span>\n<span class=mi>2</span>\n</pre>").text == "```\n1\n2\n```\n"
    assert page("<table><tr><td>1</td><td>甲</td></tr><tr><td>2</td><td>乙</td></tr></table>").text.count("|") == 9


def test_what_stood_around_the_code_is_told() -> None:
    body = (
        "<table><tr><th colspan=2>quant.py</th></tr><tr><td><pre>1\n2</pre></td><td><pre>a\nb</pre></td></tr></table>"
    )
    extract = page(body)
    assert extract.text == "quant.py\n\n```\na\nb\n```\n"
    assert extract.removed == ("1 2",)


def test_code_in_lists_and_in_lines() -> None:
    extract = page("<ol start=3><li>先跑<pre>a\n  b</pre></li><li>再用 <code>x|y</code> 和 <code>`z`</code></li></ol>")
    assert extract.text == "3. 先跑\n\n   ```\n   a\n     b\n   ```\n4. 再用 `x|y` 和 `` `z` ``\n"
