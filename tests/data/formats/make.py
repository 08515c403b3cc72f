"""Makes the sample files of this folder anew, with LibreOffice, pandoc and Chromium: python -m tests.data.formats.make

The texts are in this file. LibreOffice reads its flat XML forms, which are plain text, and writes the formats.
"""

import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NAMESPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in {
        "office": "office", "text": "text", "table": "table", "style": "style", "draw": "drawing",
        "presentation": "presentation", "fo": "xsl-fo-compatible", "svg": "svg-compatible", "meta": "meta",
    }.items()
) + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'  # fmt: skip
MATH = """<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><semantics><mrow><mi>softmax</mi><mo>(</mo>
<msub><mi>x</mi><mi>i</mi></msub><mo>)</mo><mo>=</mo><mfrac><msup><mi>e</mi><mrow><msub><mi>x</mi><mi>i</mi></msub></mrow></msup>
<mrow><munderover><mo>∑</mo><mrow><mi>j</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>
<msup><mi>e</mi><mrow><msub><mi>x</mi><mi>j</mi></msub></mrow></msup></mrow></mfrac></mrow></semantics></math>"""
INTRODUCTION = (
    "温度系数决定采样时概率分布有多尖锐。温度低于 1 时，概率集中到最可能的几个词上，输出更稳定；温度高于 1 时，分布变平，"
    "输出更多样，也更容易跑题。The temperature divides the logits before the softmax, so it changes how sharp the "
    "distribution is without changing the order of the tokens."
)
TOP_P = (
    "核采样只保留累计概率达到 p 的最小词集，再在其中重新归一化。候选集的大小随分布变化：模型有把握时只剩几个词，"
    "没有把握时可以有几百个词。"
)
ENGLISH = (
    "Greedy decoding picks the most likely token at every step. It is deterministic, yet it often repeats itself, "
    "because a sentence that has just been written makes itself more likely. Beam search keeps several hypotheses and "
    "compares their total scores; a length penalty keeps it from preferring short ones."
)
ITEMS = ("贪心解码：每一步取概率最大的词。", "束搜索：同时保留几个候选句子。", "Top-k 采样：只在前 k 个词里采样。")
STEPS = ("先把 logits 除以温度。", "再按累计概率截断。", "最后归一化并采样。")
TABLE = (
    ("方法", "是否随机", "主要参数"),
    ("贪心解码", "否", "无"),
    ("核采样", "是", "top_p = 0.9"),
    ("Top-k", "是", "k = 50"),
)
CODE = ("def sample(logits, temperature):", "    scaled = logits / temperature", "    return draw(softmax(scaled))")
COLUMN_TOPICS = (
    ("重复惩罚", "重复惩罚把已经出现过的词的 logits 按系数缩小，从而降低再次被选中的概率。系数太大时，连标点和专有名词也会被压低。"),
    ("最小概率", "最小概率采样以最可能的词为参照，去掉概率低于它某个比例的词。温度很高时，这种做法比核采样更稳。"),
    ("束的宽度", "束的宽度为 1 时就是贪心解码。宽度增大，得分会提高，但译文往往变短，所以要加上长度惩罚。"),
    ("Stop words", "Generation ends at the end-of-text token, at a stop string, or when the budget of tokens is spent. "
     "A stop string may span several tokens, so the text has to be checked after each step."),
    ("Speculative decoding", "A small draft model proposes several tokens and the large model checks them in one pass. "
     "Accepted tokens follow exactly the distribution of the large model, so the quality stays the same."),
)  # fmt: skip


def paragraph(text: str, style: str = "Body") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def heading(text: str, level: int) -> str:
    return f'<text:h text:style-name="Heading_20_{level}" text:outline-level="{level}">{text}</text:h>'


def listing(items: tuple[str, ...], style: str) -> str:
    return f'<text:list text:style-name="{style}">' + "".join(
        f"<text:list-item>{paragraph(item)}</text:list-item>" for item in items
    ) + "</text:list>"  # fmt: skip


def table(rows: tuple[tuple[str, ...], ...], name: str) -> str:
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell table:style-name="Cell" office:value-type="string">{paragraph(cell)}</table:table-cell>'
            for cell in row
        )
        + "</table:table-row>"
        for row in rows
    )
    columns = f'<table:table-column table:number-columns-repeated="{len(rows[0])}"/>'
    return f'<table:table table:name="{name}">{columns}{cells}</table:table>'


def code(lines: tuple[str, ...]) -> str:
    spaced = (line.replace("    ", '<text:s text:c="4"/>') for line in lines)
    return "".join(paragraph(line, "Preformatted_20_Text") for line in spaced)


STYLES = """<office:styles>
<style:style style:name="Standard" style:family="paragraph"><style:text-properties fo:font-size="10.5pt"
 fo:font-family="WenQuanYi Micro Hei" style:font-family-asian="WenQuanYi Micro Hei" style:font-size-asian="10.5pt"/></style:style>
<style:style style:name="Heading_20_1" style:display-name="Heading 1" style:family="paragraph"
 style:parent-style-name="Standard" style:default-outline-level="1"><style:text-properties fo:font-size="18pt"
 style:font-size-asian="18pt"/></style:style>
<style:style style:name="Heading_20_2" style:display-name="Heading 2" style:family="paragraph"
 style:parent-style-name="Standard" style:default-outline-level="2"><style:text-properties fo:font-size="14pt"
 style:font-size-asian="14pt"/></style:style>
<style:style style:name="Preformatted_20_Text" style:display-name="Preformatted Text" style:family="paragraph"
 style:parent-style-name="Standard"><style:text-properties fo:font-family="DejaVu Sans Mono" fo:font-size="9pt"/></style:style></office:styles>"""


def text_document(body: str, title: str, height: int = 20) -> str:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document {NAMESPACES} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:meta><dc:title>{title}</dc:title></office:meta>{STYLES}<office:automatic-styles>
<style:page-layout style:name="Page"><style:page-layout-properties fo:page-width="21cm" fo:page-height="{height}cm"
 fo:margin-top="2cm" fo:margin-bottom="2cm" fo:margin-left="2cm" fo:margin-right="2cm"/>
<style:header-style/><style:footer-style/></style:page-layout>
<style:style style:name="Body" style:family="paragraph" style:parent-style-name="Standard">
<style:paragraph-properties fo:margin-bottom="0.2cm"/></style:style>
<style:style style:name="Cell" style:family="table-cell"><style:table-cell-properties fo:border="0.5pt solid #000000"
 fo:padding="0.1cm"/></style:style>
<style:style style:name="Break" style:family="paragraph" style:parent-style-name="Heading_20_2">
<style:paragraph-properties fo:break-before="page"/></style:style>
<style:style style:name="Columns" style:family="section"><style:section-properties text:dont-balance-text-columns="false">
<style:columns fo:column-count="2" fo:column-gap="0.8cm"/></style:section-properties></style:style>
<text:list-style style:name="Bullets"><text:list-level-style-bullet text:level="1" text:bullet-char="•">
<style:list-level-properties text:space-before="0.3cm" text:min-label-width="0.5cm"/></text:list-level-style-bullet></text:list-style>
<text:list-style style:name="Numbers"><text:list-level-style-number text:level="1" style:num-suffix="." style:num-format="1">
<style:list-level-properties text:space-before="0.3cm" text:min-label-width="0.5cm"/></text:list-level-style-number></text:list-style>
</office:automatic-styles><office:master-styles>
<style:master-page style:name="Standard" style:page-layout-name="Page">
<style:header>{paragraph("大模型解码笔记 Decoding notes")}</style:header>
<style:footer><text:p>第 <text:page-number/> 页</text:p></style:footer></style:master-page>
</office:master-styles><office:body><office:text>{body}</office:text></office:body></office:document>"""


def article() -> str:
    formula = (
        '<text:p text:style-name="Body"><draw:frame text:anchor-type="as-char" svg:width="6cm" svg:height="1.5cm">'
        f"<draw:object>{MATH}</draw:object></draw:frame></text:p>"
    )
    return text_document(
        heading("解码策略怎么选？", 1) + paragraph(INTRODUCTION) + heading("常见方法", 2) + listing(ITEMS, "Bullets")
        + heading("步骤", 2) + listing(STEPS, "Numbers") + table(TABLE, "Methods")
        + '<text:h text:style-name="Break" text:outline-level="2">核采样 top-p</text:h>' + paragraph(TOP_P)
        + paragraph("softmax 的定义是：") + formula + heading("代码", 2) + code(CODE)
        + '<text:h text:style-name="Break" text:outline-level="2">Greedy and beam</text:h>' + paragraph(ENGLISH),
        "解码策略",
    )  # fmt: skip


def two_columns() -> str:
    topics = "".join(heading(name, 2) + paragraph(text) + paragraph(text2) for name, text, text2 in (
        (name, text, INTRODUCTION if number % 2 else ENGLISH) for number, (name, text) in enumerate(COLUMN_TOPICS)
    ))  # fmt: skip
    return text_document(
        heading("解码的更多办法", 1)
        + f'<text:section text:style-name="Columns" text:name="two">{topics}</text:section>',
        "解码的更多办法",
        height=13,
    )


def workbook() -> str:
    long_rows = (
        ("编号", "术语", "解释"),
        *((str(n), f"术语 {n}", f"第 {n} 个术语的解释，供检索使用。") for n in range(1, 61)),
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document {NAMESPACES} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:body><office:spreadsheet>{table(TABLE, "解码方法")}{table(long_rows, "术语表")}</office:spreadsheet></office:body>
</office:document>"""


def slides() -> str:
    def slide(title: str, body: str, notes: str) -> str:
        return f"""<draw:page draw:name="{title}" presentation:presentation-page-layout-name="L" draw:master-page-name="Default">
<draw:frame presentation:class="title" svg:x="1cm" svg:y="1cm" svg:width="20cm" svg:height="2cm"><draw:text-box>
<text:p>{title}</text:p></draw:text-box></draw:frame>{body}<presentation:notes>
<draw:page-thumbnail presentation:class="page" svg:width="10cm" svg:height="8cm" svg:x="1cm" svg:y="1cm"/>
<draw:frame presentation:class="notes" svg:x="2cm" svg:y="14cm" svg:width="15cm" svg:height="10cm"><draw:text-box>
<text:p>{notes}</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"""

    outline = (
        '<draw:frame presentation:class="outline" svg:x="1cm" svg:y="4cm" svg:width="20cm" svg:height="10cm">'
        "<draw:text-box>{}</draw:text-box></draw:frame>"
    )
    grid = (
        f'<draw:frame svg:x="1cm" svg:y="4cm" svg:width="20cm" svg:height="6cm">{table(TABLE, "Methods")}</draw:frame>'
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document {NAMESPACES} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.presentation">
<office:automatic-styles><style:page-layout style:name="PM"><style:page-layout-properties fo:page-width="25cm"
 fo:page-height="18cm"/></style:page-layout></office:automatic-styles>
<office:master-styles><style:master-page style:name="Default" style:page-layout-name="PM"/></office:master-styles>
<office:body><office:presentation>
{slide("温度的作用", outline.format(paragraph(INTRODUCTION)), "讲解时先画出分布。")}
{slide("解码方法对比", grid, "表格里的参数是常用的默认值。")}
{slide("Greedy and beam", outline.format(listing(ITEMS, "Bullets") + paragraph(ENGLISH)), "Mention the length penalty.")}
</office:presentation></office:body></office:document>"""


PDF = 'pdf:writer_pdf_Export:{"UseTaggedPDF":{"type":"boolean","value":"false"}}'
LOCKED_PDF = (
    'pdf:writer_pdf_Export:{"EncryptFile":{"type":"boolean","value":"true"},'
    '"DocumentOpenPassword":{"type":"string","value":"secret"}}'
)
KATEX = (
    '<span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow>'
    '<mi>p</mi><mo>=</mo><mn>0.9</mn></mrow><annotation encoding="application/x-tex">p = 0.9</annotation></semantics>'
    '</math></span><span class="katex-html" aria-hidden="true"><span class="base">p=0.9</span></span></span>'
)


def page() -> str:
    """A page as blogs are: navigation, share bar, comments and a footer around the article."""
    rows = "".join(
        "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>"
        for tag, row in zip(("th", "td", "td", "td"), TABLE, strict=True)
    )
    return f"""<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8"><title>解码策略怎么选？ - 某某博客</title>
<style>body{{font-family:"WenQuanYi Micro Hei"}} td,th{{border:1px solid #000}} table{{border-collapse:collapse}}</style>
<script>var tracking = "不要这段脚本";</script></head><body>
<nav class="navbar"><ul><li><a href="/">首页</a></li><li><a href="/ai">人工智能</a></li><li><a href="/login">登录</a></li></ul></nav>
<div class="wrapper"><aside class="sidebar"><h3>热门文章</h3><ul><li><a href="/1">十个提示词技巧</a></li>
<li><a href="/2">周末去哪儿</a></li></ul></aside>
<div class="post-content"><h1>解码策略怎么选？</h1><p>{INTRODUCTION}</p><h2>常见方法</h2>
<ul>{"".join(f"<li>{item}</li>" for item in ITEMS)}</ul><ol>{"".join(f"<li>{item}</li>" for item in STEPS)}</ol>
<table>{rows}</table><h2>核采样 top-p</h2><p>{TOP_P} 常用的取值是 {KATEX}。</p>
<p>温度写成 <script type="math/tex">T &gt; 0</script>，softmax 的定义是：</p>{MATH}
<p>行内 TeX \\(z_i / T\\) 保持原样，<code>top_k</code> 也是。</p><h2>代码</h2>
<pre><code class="language-python"><span class="k">def</span> sample(logits, temperature):
    scaled = logits / temperature
    <span class="k">return</span> draw(softmax(scaled))</code></pre>
<h2>Greedy and beam</h2><p>{ENGLISH}</p></div>
<div class="share-bar"><a href="#">分享到微博</a> <a href="#">收藏</a></div>
<div id="comments"><h3>评论</h3><p>路人甲：写得不错，谢谢。</p></div></div>
<footer>Copyright 某某博客 备案号 000000</footer></body></html>
"""


TEX = r"\mathrm{softmax}(x_i) = \frac{e^{x_i / T}}{\sum_{j=1}^{n} e^{x_j / T}}"


def markdown() -> str:
    """The article once more, for pandoc."""
    rows = "\n".join(f"| {' | '.join(row)} |" for row in TABLE[1:])
    lines = "\n".join(CODE)
    return f"""---
title: 解码策略
---

# 解码策略怎么选？

{INTRODUCTION} 温度 $T > 0$ 越小越稳。

{"".join(f"- {item}{chr(10)}" for item in ITEMS)}
{"".join(f"{number}. {step}{chr(10)}" for number, step in enumerate(STEPS, start=1))}
| {" | ".join(TABLE[0])} |
|---|---|---|
{rows}

# 核采样 top-p

{TOP_P}

$$
{TEX}
$$

```python
{lines}
```

# Greedy and beam

{ENGLISH}
"""


def deck() -> str:
    """Slides for pandoc: with the places for titles that the format has, and notes."""
    rows = "\n".join(f"| {' | '.join(row)} |" for row in TABLE[1:])
    return f"""# 温度的作用

- 温度低于 1：输出更稳定。
- 温度高于 1：输出更多样，$T > 1$ 时分布变平。

::: notes
讲解时先画出分布。
:::

# 解码方法对比

| {" | ".join(TABLE[0])} |
|---|---|---|
{rows}

# Greedy and beam

{ENGLISH}

::: notes
Mention the length penalty.
:::
"""


def by_pandoc(folder: Path, text: str, name: str) -> None:
    source = folder / "source.md"
    source.write_text(text, encoding="utf-8")
    subprocess.run(
        ["pandoc", "--mathml", "-o", str(HERE / name), str(source)], check=True, capture_output=True, timeout=180
    )


def printed() -> str:
    """A page to be printed: two columns by CSS, a table, code."""
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in TABLE)
    lines = "\n".join(CODE)
    return f"""<!DOCTYPE html><meta charset="utf-8"><title>核采样</title>
<style>body{{font:12px "WenQuanYi Micro Hei"}} td{{border:1px solid #000;padding:2px}} table{{border-collapse:collapse}}
pre{{font:11px "DejaVu Sans Mono"}} main{{columns:2;column-gap:30px;height:320px;column-fill:auto}}</style>
<h1>核采样</h1><main><p>{TOP_P}</p><p>{ENGLISH}</p><h2>方法</h2><table>{rows}</table><pre>{lines}</pre></main>"""


def convert(folder: Path, name: str, text: str, suffixes: tuple[str, ...]) -> None:
    source = folder / name
    source.write_text(text, encoding="utf-8")
    for suffix in suffixes:
        subprocess.run(
            ["soffice", "--headless", f"-env:UserInstallation=file://{folder}/profile", "--convert-to", suffix,
             "--outdir", str(HERE), str(source)],
            check=True, capture_output=True, timeout=180,
        )  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        convert(folder, "article.fodt", article(), ("docx", PDF))
        convert(folder, "columns.fodt", two_columns(), (PDF,))
        convert(folder, "locked.fodt", text_document(paragraph("locked"), "locked"), (LOCKED_PDF,))
        convert(folder, "methods.fods", workbook(), ("xlsx",))
        convert(folder, "slides.fodp", slides(), ("pptx",))
        by_pandoc(folder, markdown(), "pandoc.docx")
        by_pandoc(folder, markdown(), "book.epub")
        by_pandoc(folder, deck(), "deck.pptx")
        (HERE / "page.html").write_text(page(), encoding="utf-8")
        (folder / "printed.html").write_text(printed(), encoding="utf-8")
        subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
             f"--user-data-dir={folder}/chromium", f"--print-to-pdf={HERE}/printed.pdf", "--no-pdf-header-footer",
             str(folder / "printed.html")],
            check=True, capture_output=True, timeout=180,
        )  # fmt: skip


if __name__ == "__main__":
    main()
