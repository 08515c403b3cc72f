"""Word documents: what stands in runs, beside the text, and in wrappers; what is left out is told."""

import pytest

from ingest.formats import word
from ingest.formats.extract import Extract
from tests.ingest.formats.office_files import NAMESPACES, docx, para, row, run, tbl

RAISED, LOWERED = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'
BEGIN = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
SEPARATE = '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
END = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'


def read(body: str, *links: tuple[str, str, str], **parts: str) -> Extract:
    return word.read(docx(body, *links, **parts))


def said(body: str, *links: tuple[str, str, str], **parts: str) -> list[str]:
    """The blocks of a document."""
    return read(body, *links, **parts).text.strip().split("\n\n")


def instruction(text: str) -> str:
    return f"<w:r><w:instrText>{text}</w:instrText></w:r>"


def note(name: int, *paragraphs: str, kind: str = "footnote") -> str:
    return f'<w:{kind} w:id="{name}">{"".join(map(para, paragraphs))}</w:{kind}>'


def mark(name: int, kind: str = "footnote") -> str:
    return f'<w:r><w:{kind}Reference w:id="{name}"/></w:r>'


def test_what_is_raised_or_lowered_in_several_runs_is_one_figure() -> None:
    runs = (run("10"), run("2", RAISED), run("3", RAISED), run(" 次，x"), run("ma", LOWERED), run("x", LOWERED))
    assert said(para("".join(runs))) == ["10²³ 次，x_{max}"]


def test_what_a_style_raises_or_the_position_lifts_is_raised() -> None:
    styles = f'<w:style w:type="character" w:styleId="P"><w:name w:val="power"/><w:rPr>{RAISED}</w:rPr></w:style>'
    runs = run("m"), run("2", '<w:rStyle w:val="P"/>'), run(" 与 s"), run("-1", '<w:position w:val="6"/>')
    assert said(para("".join(runs)), styles=styles) == ["m² 与 s⁻¹"]


@pytest.mark.parametrize(
    ("properties", "kind"),
    [("<w:strike/>", "struck-out"), ("<w:vanish/>", "hidden"), ('<w:rStyle w:val="Out"/>', "hidden")],
)
def test_what_is_struck_out_or_hidden_is_no_text_and_is_told(properties: str, kind: str) -> None:
    based = '<w:style w:type="character" w:styleId="Base"><w:name w:val="b"/><w:rPr><w:vanish/></w:rPr></w:style>'
    style = '<w:style w:type="character" w:styleId="Out"><w:name w:val="o"/><w:basedOn w:val="Base"/></w:style>'
    extract = read(para(run("块大小是三十二", properties) + run("块大小是十六。")), styles=based + style)
    assert extract.text == "块大小是十六。\n"
    assert extract.warnings == (f"{kind} text was left out: “块大小是三十二”",)
    assert extract.removed == ("块大小是三十二",)


def test_tracked_changes_are_read_as_accepted() -> None:
    deleted = '<w:del w:id="1"><w:r><w:delText>精度不变。</w:delText></w:r></w:del>'
    moved = f'<w:moveFrom w:id="3">{run("移到后面。")}</w:moveFrom>'
    extract = read(
        para(f'{deleted}<w:ins w:id="2">{run("精度略降。")}</w:ins>{moved}')
        + para(f"<w:moveTo>{run('移到后面。')}</w:moveTo>")
    )
    assert extract.text == "精度略降。\n\n移到后面。\n"
    assert extract.warnings == ("deleted text (a tracked change) was left out: “精度不变。”",)


def test_a_deleted_break_joins_two_paragraphs() -> None:
    broken = f'<w:p><w:pPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr>{run("前半句，")}</w:p>'
    assert said(broken + para("后半句。")) == ["前半句，后半句。"]


def test_content_controls_of_every_kind_are_read() -> None:
    def control(content: str, properties: str = "") -> str:
        return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"

    wrapped_cell = control("<w:tc>" + para("吴工") + "</w:tc>")
    table = tbl(row("系统", "联系人"), control(row("网关", wrapped_cell)), row("向量库", "周工"))
    extract = read(
        control(control(para("套两层的一段。")))
        + control(table)
        + para(run("负责人：") + control(run("平台组")))
        + control(para("单击此处输入文字。"), "<w:showingPlcHdr/>")
    )
    assert extract.text.strip().split("\n\n") == [
        "套两层的一段。", "| 系统 | 联系人 |\n|---|---|\n| 网关 | 吴工 |\n| 向量库 | 周工 |", "负责人：平台组",
    ]  # fmt: skip
    assert extract.warnings == ("prompts of fields that nobody has filled in were left out: 1",)


def test_footnotes_stand_after_the_sentence_that_has_their_mark() -> None:
    footnotes = (
        '<w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote>'
        + note(2, "只在批量 32 时成立。")
        + note(3, "见附录。")
    )
    first = run("速度提高三成") + mark(2) + run("，成本不变。其余照旧。")
    second = run("显存减半。") + mark(3) + run("延迟不变。")
    assert said(para(first) + para(second), footnotes=footnotes) == [
        "速度提高三成，成本不变。（注：只在批量 32 时成立。）其余照旧。",
        "显存减半。（注：见附录。）延迟不变。",
    ]


def test_notes_of_cells_and_english_sentences() -> None:
    cell = f"<w:tc>{para(run('21000') + mark(2, 'endnote'))}</w:tc>"
    english = para(run("It halves the cache") + mark(2) + run(" in practice. Then more."))
    parts = {"endnotes": note(2, "不含税", kind="endnote"), "footnotes": note(2, "On one", "GPU.")}
    assert said(tbl(row("型号", "月租"), row("H100", cell)) + english, **parts) == [
        "| 型号 | 月租 |\n|---|---|\n| H100 | 21000（注：不含税） |",
        "It halves the cache in practice. (Note: On one GPU.) Then more.",
    ]


def test_the_note_of_a_heading_stands_below_it() -> None:
    heading = para(run("量化") + mark(2), '<w:outlineLvl w:val="0"/>')
    assert said(heading + para("正文。"), footnotes=note(2, "指训练后量化。")) == [
        "# 量化",
        "注：指训练后量化。",
        "正文。",
    ]
    bold = para(f"{run('一、总则', '<w:b/>')}{mark(2)}") + para("正文写得长一些，免得它短。")
    assert said(bold, footnotes=note(2, "试行。"))[:2] == ["# 一、总则", "注：试行。"]


def test_a_note_is_given_once_however_often_it_is_referred_to() -> None:
    extract = read(para(mark(2) * 1_000 + run("一句。")), footnotes=note(2, "长" * 10_000))
    assert len(extract.text) < 11_000


def test_comments_follow_their_paragraph_unless_they_are_settled() -> None:
    comments = (
        f'<w:comment w:id="0" w:author="李工">{para("只对短文本成立。")}</w:comment>'
        f'<w:comment w:id="1" w:author="王工"><w:p w14:paraId="AA">{run("已改。")}</w:p></w:comment>'
    )
    settled = (
        '<?xml version="1.0"?><x:commentsEx xmlns:x="http://schemas.microsoft.com/office/word/2012/wordml">'
        '<x:commentEx x:paraId="AA" x:done="1"/></x:commentsEx>'
    )
    extract = read(
        para(run("快三成。") + mark(0, "comment") + mark(1, "comment")), comments=comments, commentsExtended=settled
    )
    assert extract.text == "快三成。\n\n批注（李工）：只对短文本成立。\n"
    assert extract.warnings == ("resolved comments were left out: 1",)


def test_headers_are_told_once_and_numbers_of_pages_are_not() -> None:
    section = '<w:sectPr><w:headerReference r:id="part-header1"/><w:footerReference r:id="part-footer1"/></w:sectPr>'
    number = para(run("第 ") + '<w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple>' + run(" 页"))
    extract = read(
        para("正文。") + para("", section) + section,
        header1=f"<?xml version='1.0'?><w:hdr {NAMESPACES}>{para('手册 v2.1')}</w:hdr>",
        footer1=f"<?xml version='1.0'?><w:ftr {NAMESPACES}>{number}</w:ftr>",
    )  # fmt: skip
    assert extract.text == "正文。\n"
    assert extract.warnings == ("the page header was left out: “手册 v2.1”",)


def test_text_boxes_are_paragraphs_of_their_own_and_read_once() -> None:
    box = f"<w:txbxContent>{para('以十六个词元为一块。')}{para('块太小会增加开销。')}</w:txbxContent>"
    modern = f"<w:drawing><wps:wsp><wps:txbx>{box}</wps:txbx></wps:wsp></w:drawing>"
    old = f"<w:pict><v:textbox>{box}</v:textbox></w:pict>"
    both = f"<mc:AlternateContent><mc:Choice>{modern}</mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"
    for drawing in (both, old):
        assert said(para(f"{run('正文。')}<w:r>{drawing}</w:r>")) == [
            "正文。",
            "以十六个词元为一块。",
            "块太小会增加开销。",
        ]


def test_a_reading_stands_in_brackets_after_its_characters() -> None:
    ruby = f"<w:ruby><w:rt>{run('zhùyìlì')}</w:rt><w:rubyBase>{run('注意力')}</w:rubyBase></w:ruby>"
    assert said(para(f"{run('我们用')}<w:r>{ruby}</w:r>{run('这个词。')}")) == ["我们用注意力（zhùyìlì）这个词。"]


def test_addresses_of_links_are_kept_and_lead_nowhere_strange() -> None:
    links = (
        ("l1", "hyperlink", "https://example.org/a b"), ("l2", "hyperlink", "javascript:alert(1)"),
        ("l3", "hyperlink", "mailto:a@example.org"),
    )  # fmt: skip
    elements = "".join(f'<w:hyperlink r:id="{name}">{run(name)}</w:hyperlink>' for name, _, _ in links)
    field = BEGIN + instruction(' HYPERLINK "https://example.org/x(1)" ') + SEPARATE + run("文档") + END
    assert said(para(elements + field + run("。")), *links) == [
        "[l1](https://example.org/a%20b)l2[l3](mailto:a@example.org)[文档](https://example.org/x%281%29)。"
    ]


def test_results_of_fields_are_read_and_their_instructions_are_not() -> None:
    nested = (
        BEGIN
        + instruction(" IF ")
        + BEGIN
        + instruction(" X ")
        + SEPARATE
        + run("内")
        + END
        + SEPARATE
        + run("三")
        + END
    )
    assert said(para(run("第") + nested + run("节")) + para(BEGIN + run("断了")) + para("还在。")) == [
        "第三节",
        "还在。",
    ]


def test_forms_say_what_was_ticked_and_chosen() -> None:
    def form(data: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>{END}'

    ticked = form('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>')
    open_box = form('<w:checkBox><w:default w:val="0"/></w:checkBox>')
    chosen = form('<w:ddList><w:result w:val="1"/><w:listEntry w:val="甲"/><w:listEntry w:val="乙"/></w:ddList>')
    sign = '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>'
    assert said(para(ticked + run("同意") + open_box + run("不同意，") + chosen + sign)) == ["☑同意☐不同意，乙☑"]


def test_a_list_of_contents_is_left_out_and_told_only_where_it_ends() -> None:
    begun = BEGIN + instruction(' TOC \\o "1-3" ') + SEPARATE + run("一、总则 1")
    extract = read(para(begun) + para("二、数据 7") + para(END + run("正文开始。")))
    assert (extract.text, extract.warnings) == ("正文开始。\n", ("tables of contents were left out: 1",))
    assert said(para(begun) + para("正文在此。")) == ["一、总则 1", "正文在此。"]


def test_signs_of_symbol_fonts_are_read_or_told() -> None:
    signs = '<w:r><w:sym w:font="Symbol" w:char="F06D"/></w:r>' + run("\uf0b3", '<w:rFonts w:ascii="Symbol"/>')
    extract = read(para(signs + run(" 3") + '<w:r><w:sym w:font="Webdings" w:char="F041"/></w:r>'))
    assert extract.text == "μ≥ 3\n"
    assert extract.warnings == ("unknown signs of symbol fonts were left out: 1",)


def test_pictures_say_their_descriptions_and_embedded_things_are_told() -> None:
    def picture(description: str) -> str:
        blip = "<a:graphic><a:graphicData><a:blip/></a:graphicData></a:graphic>"
        about = f'<wp:docPr id="1" name="图 1" descr="{description}"/>'
        return f"<w:r><w:drawing><wp:inline>{about}{blip}</wp:inline></w:drawing></w:r>"

    equation = '<w:r><w:object><o:OLEObject ProgID="Equation.3"/></w:object></w:r>'
    extract = read(para(picture("损失在第三轮后不再下降") + picture("") + picture("plot.png") + equation))
    assert extract.text == "损失在第三轮后不再下降\n"
    assert extract.warnings == (
        "pictures without a description were left out: 2", "embedded objects (Equation.3) were left out: 1",
    )  # fmt: skip


def test_ten_thousand_paragraphs_without_a_style_take_no_time() -> None:
    body = "".join(para(f"第 {n} 段说明一件事。") for n in range(12_000))
    assert read(body).text.count("段说明") == 12_000


def test_a_text_that_is_monospaced_throughout_is_no_code() -> None:
    styles = (
        '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr></w:rPrDefault></w:docDefaults>'
    )
    assert said(para("全文如此。"), styles=styles) == ["全文如此。"]
    assert said(para("x = 1", look='<w:rFonts w:ascii="Consolas"/>')) == ["```\nx = 1\n```"]


def test_a_part_that_cannot_be_read_is_told() -> None:
    extract = read(para("正文。"), styles="<?xml version='1.0'?><w:styles")
    assert (extract.text, extract.warnings) == ("正文。\n", ("its part 'word/styles.xml' cannot be read",))


def test_both_editions_of_the_standard_are_read() -> None:
    def strict(text: str) -> str:
        return text.replace("http://schemas.openxmlformats.org/", "http://purl.oclc.org/ooxml/").replace("/2006/", "/")

    body = para(run("x") + "<m:oMath><m:r><m:t>y</m:t></m:r></m:oMath>")
    document = f"<?xml version='1.0'?><w:document {strict(NAMESPACES)}><w:body>{body}</w:body></w:document>"
    assert word.read(docx("", document=document)).text == "x$y$\n"
