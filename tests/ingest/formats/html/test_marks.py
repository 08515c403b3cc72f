"""Raised letters, readings, ticks, formulas, pictures, terms: what stands off the line, or is drawn."""

import pytest

from tests.ingest.formats.html.pages import lines, page


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("3×10<sup>23</sup>，10<sup>-4</sup>，O(n<sup>2</sup>)，x<sup>n+1</sup>，e<sup>−x<sup>2</sup></sup>",
         "3×10²³，10⁻⁴，O(n²)，xⁿ⁺¹，e^{−x²}"),
        ("10<span style='vertical-align:super'>23</span>，H<span style='vertical-align: sub'>2</span>O", "10²³，H₂O"),
        ("CO<sub>2</sub>，x<sub>i</sub>，1<sup>st</sup>，某某<sup>®</sup>", "CO₂，x_{i}，1st，某某®"),
        ("<ruby>注意力<rp>(</rp><rt>zhùyìlì</rt><rp>)</rp></ruby>很重要", "注意力（zhùyìlì）很重要"),
        ("<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>", "漢字（かん じ）"),
        ("价格 <del>三十元</del> <ins>二十元</ins>", "价格 二十元"),
        ("他说<q>少即是多</q>", "他说“少即是多”"),
        ("任务：<input type=checkbox checked> 已压测 <input type=checkbox> 未灰度", "任务：☑ 已压测 ☐ 未灰度"),
        ("<input type=checkbox id=a checked><label for=a>已压测</label>", "☑ 已压测"),
        ("<label for=a>已压测</label><input type=checkbox id=a>", "☐ 已压测"),
        ("<label><input type=radio name=q> 80 GB</label><br><label><input type=radio name=q checked> 141 GB</label>",
         "☐ 80 GB\n☑ 141 GB"),
        ("<span role=checkbox aria-checked=true></span><span>写复盘</span>", "☑ 写复盘"),
        ("点击<button>保存</button>按钮", "点击保存按钮"),
        ("状态 <span role=img aria-label=成功>✅</span>", "状态 成功"),
        ("状态 <svg role=img aria-label=失败><path d=M0 /></svg>", "状态 失败"),
        ("中文\n换行 English\nwrap&nbsp;&#8203;零宽&shy;", "中文换行 English wrap 零宽"),
        ("第一段。<br><br>第二段。<br>第三行。", "第一段。\n\n第二段。\n第三行。"),
        ("<b>注意：</b>先停<strong>服务</strong>，<b>为什么？</b>", "**注意**：先停**服务**，为什么？"),
        ("# 不是标题", "\\# 不是标题"),
    ],
)  # fmt: skip
def test_a_line(body: str, said: str) -> None:
    assert page(f"<p>{body}</p>").text == f"{said}\n"


@pytest.mark.parametrize(
    "formula",
    [
        "<span class=katex><span class=katex-mathml><math><semantics><msub><mi>x</mi><mi>i</mi></msub><annotation "
        "encoding='application/x-tex'>x_i</annotation></semantics></math></span><span class=katex-html aria-hidden=true>xi</span></span>",
        "<span class=MathJax_Preview>x</span><span class=MathJax><nobr>xi</nobr><span class=MJX_Assistive_MathML><math><mi>x</mi></math>"
        "</span></span><script type='math/tex'>x_i</script>",
        "<mjx-container class=MathJax jax=CHTML><mjx-math aria-hidden=true><mjx-mi>xi</mjx-mi></mjx-math><mjx-assistive-mml><math><msub>"
        "<mi>x</mi><mi>i</mi></msub></math></mjx-assistive-mml></mjx-container>",
        "<span class=mwe-math-element><span style='display: none'><math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x_i"
        "</annotation></semantics></math></span><img class=mwe-math-fallback-image-inline aria-hidden=true alt='x_i' src=a></span>",
        "<span data-eeimg=1 data-tex='x_i'>x_i</span>",
        "<img eeimg=1 alt='x_i' src=a>",
        "<img class='latex' alt='x_i' src=a>",
    ],
)
def test_a_formula_is_read_once(formula: str) -> None:
    assert page(f"<p>设 {formula} 为输入，{formula}也是。</p>").text == "设 $x_i$ 为输入，$x_i$也是。\n"


def test_displayed_formulas_and_drawings_without_a_source() -> None:
    math = "<math display=block><mi>n</mi><mo>=</mo><mn>8</mn></math>"
    assert lines(f"<p>设</p><div>{math}</div><p>成立。</p>") == ["设", "$$ n = 8 $$", "成立。"]
    assert lines("<p>设 <span class=katex><span class=katex-html aria-hidden=true>x=1</span></span>。</p>") == [
        "设 x=1。"
    ]


def test_pictures_say_what_they_are_said_to_show() -> None:
    assert lines("<figure><img alt='架构图：三层' src=a><figcaption>架构图：三层</figcaption></figure>") == [
        "架构图：三层"
    ]
    assert lines("<figure><img alt='时序图' src=a><figcaption>图一</figcaption></figure>") == ["时序图", "图一"]
    assert lines("<p><img alt='✓'> 通过<img alt='IMG_2031.jpg'><img alt='图片'></p>") == ["✓ 通过"]
    extract = page(f"<p>图<img alt='显存曲线' src='data:image/png;base64,{'A' * 900}'></p>")
    assert extract.text == "图显存曲线\n"
    assert extract.warnings == ("1 picture embedded in the page left out",)


def test_terms_and_lists() -> None:
    found = lines(
        "<dl><div><dt>甲</dt><dt>乙</dt><dd>同义。</dd></div><dt>丙:</dt><dd><p>一。</p><p>二。</p></dd><dt>KV</dt><dd>key</dd></dl>"
    )
    assert found == ["甲、乙：同义。", "**丙**", "一。", "二。", "KV: key"]
    nested = "<ul><li>一</li><ul><li>二</li></ul><li><p>三</p><p>续</p><ol><li value=4>四</li></ol></li>散</ul>"
    assert lines(nested) == ["- 一", "  - 二", "- 三", "  续", "  4. 四", "散"]


def test_blocks_that_an_editor_names_by_an_attribute() -> None:
    found = lines(
        "<div data-block-type=heading2><div>一、召回</div></div><div data-block-type=bullet><div>稠密</div></div>"
        "<div data-block-type=bullet><div>稀疏</div></div><div role=heading aria-level=3>二</div>"
        "<div style='white-space: pre-wrap'>首行\n次行</div>"
    )
    assert found == ["## 一、召回", "- 稠密", "- 稀疏", "### 二", "首行", "次行"]
