"""Slides: reading order, lists, charts, diagrams, descriptions, notes, and what is left out."""

import pytest

from ingest.formats import slides
from ingest.formats.extract import Extract
from ingest.formats.office.slides.reading_order import Box, reading_order
from tests.ingest.formats.office_files import NAMESPACES, at, frame, pptx, sp

TITLE = sp("标题", (1, 1, 80, 5), kind="title")
Slide = str | tuple[str, dict[str, str]]


def read(*decks: Slide) -> Extract:
    return slides.read(pptx(*decks))


def blocks(slide: Slide) -> list[str]:
    """The blocks of a slide below its heading."""
    return read(slide).text.split("\n\n")[1:]


def item(text: str, mark: str = "", *, level: int = 0) -> str:
    return f'<a:p><a:pPr lvl="{level}">{mark}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>'


def auto(kind: str, start: int = 0) -> str:
    at_start = f' startAt="{start}"' if start else ""
    return f'<a:buAutoNum type="{kind}"{at_start}/>'


def cache(values: dict[int, str], form: str = "General", *, text: bool = False) -> str:
    points = "".join(f'<c:pt idx="{place}"><c:v>{value}</c:v></c:pt>' for place, value in values.items())
    kind = "str" if text else "num"
    form = "" if text else f"<c:formatCode>{form}</c:formatCode>"
    return f"<c:{kind}Ref><c:{kind}Cache>{form}{points}</c:{kind}Cache></c:{kind}Ref>"


def series(
    name: str, values: dict[int, str], form: str = "General", names: tuple[str, ...] = ("一季度", "二季度")
) -> str:
    categories = cache(dict(enumerate(names)), text=True)
    title = cache({0: name}, text=True)
    return f"<c:ser><c:tx>{title}</c:tx><c:cat>{categories}</c:cat><c:val>{cache(values, form)}</c:val></c:ser>"


def words(text: str) -> str:
    return f"<c:title><c:tx><c:rich><a:p><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx></c:title>"


def chart(drawn: str, title: str = "") -> Slide:
    space = f"<c:chartSpace {NAMESPACES}><c:chart>{title}<c:plotArea>{drawn}</c:plotArea></c:chart></c:chartSpace>"
    return TITLE + frame('<c:chart r:id="c1"/>'), {"chart/c1": space}


def picture(description: str, more: str = "") -> str:
    about = (
        f'<p:nvPicPr><p:cNvPr id="4" name="图" descr="{description}">{more}</p:cNvPr><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
    )
    return f"<p:pic>{about}<p:blipFill><a:blip/></p:blipFill><p:spPr>{at((1, 30, 10, 10))}</p:spPr></p:pic>"


@pytest.mark.parametrize(
    ("boxes", "order"),
    [
        ({"丙": (1, 40, 40, 5), "甲": (1, 10, 40, 5), "乙": (1, 25, 40, 5)}, "甲乙丙"),
        ({"丙": (61, 20, 20, 9), "甲": (1, 20, 20, 9), "乙": (31, 20, 20, 9)}, "甲乙丙"),
        ({"丁": (45, 40, 30, 9), "丙": (1, 42, 30, 9), "乙": (45, 21, 30, 9), "甲": (1, 20, 30, 9)}, "甲乙丙丁"),
        ({"丁": (45, 26, 40, 40), "丙": (45, 18, 40, 6), "乙": (1, 26, 40, 40), "甲": (1, 18, 40, 6)}, "甲乙丙丁"),
        ({"乙": (5, 15, 20, 10), "甲": (1, 10, 20, 10)}, "甲乙"),
    ],
    ids=["down", "across", "rows", "columns with heads", "one over the other"],
)
def test_boxes_are_read_in_the_order_in_which_they_stand(
    boxes: dict[str, tuple[int, int, int, int]], order: str
) -> None:
    assert blocks(TITLE + "".join(sp(text, place) for text, place in boxes.items())) == list(order)


def test_every_box_is_read_once_however_many_there_are() -> None:
    boxes = [Box(n * 37 % 101, n * 53 % 97, 5, 5) for n in range(1_000)]
    for some in (boxes[:300], boxes, [*boxes[:5], None, None]):
        assert sorted(reading_order(some)) == list(range(len(some)))


def test_a_group_is_read_together_where_it_stands() -> None:
    place = '<a:xfrm><a:off x="100000" y="2000000"/><a:ext cx="3000000" cy="2000000"/></a:xfrm>'
    about = f'<p:nvGrpSpPr><p:cNvPr id="5" name=""/></p:nvGrpSpPr><p:grpSpPr>{place}</p:grpSpPr>'
    group = f"<p:grpSp>{about}{sp('组二', (1, 9, 9, 5))}{sp('组一', (1, 1, 9, 5))}</p:grpSp>"
    assert blocks(TITLE + sp("后", (1, 60, 30, 10)) + group + sp("先", (1, 8, 30, 5))) == ["先", "组一", "组二", "后"]


def test_a_shape_without_a_place_stands_where_its_layout_says() -> None:
    tree = f"<p:cSld><p:spTree>{sp('', (1, 50, 20, 10), kind='body')}</p:spTree></p:cSld>"
    layout = f"<p:sldLayout {NAMESPACES}>{tree}</p:sldLayout>"
    text = TITLE + sp("下面。", kind="body") + sp("上面。", (1, 15, 20, 10))
    assert blocks((text, {"slideLayout/l1": layout})) == ["上面。", "下面。"]


def test_numbers_of_lists_are_kept() -> None:
    first = (
        item("甲", auto("arabicPeriod", 4))
        + item("子", auto("alphaLcParenR"), level=1)
        + item("乙", auto("arabicPeriod", 4))
    )
    second = item("丙", auto("ea1ChsPeriod")) + item("丁", auto("ea1ChsPeriod")) + item("戊", auto("circleNumDbPlain"))
    assert blocks(TITLE + sp(first, (1, 10, 9, 9)) + sp(second, (1, 30, 9, 9))) == [
        "4. 甲\n   - a) 子\n5. 乙", "- 一. 丙\n- 二. 丁\n- ① 戊",
    ]  # fmt: skip


def test_what_is_raised_linked_and_struck_out() -> None:
    runs = (
        "<a:r><a:t>3×10</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>23</a:t></a:r>"
        "<a:r><a:rPr strike='sngStrike'/><a:t>旧价</a:t></a:r><a:r><a:t>，H</a:t></a:r>"
        "<a:r><a:rPr baseline='-25000'/><a:t>2</a:t></a:r><a:r><a:t>O，见</a:t></a:r>"
        "<a:r><a:rPr><a:hlinkClick r:id='h1'/></a:rPr><a:t>文档</a:t></a:r>"
    )
    extract = read((TITLE + sp(f"<a:p>{runs}</a:p>", (1, 9, 9, 9)), {"hyperlink/h1": "https://example.org/a"}))
    assert extract.text.endswith("\n\n3×10²³，H₂O，见[文档](https://example.org/a)")
    assert extract.warnings == ("struck-out text was left out: “旧价”",)


def test_the_values_of_a_chart_are_a_table() -> None:
    bars = f"<c:barChart>{series('准确率', {0: '0.875', 1: '0.9'}, '0.0%')}</c:barChart>"
    line = f"<c:lineChart>{series('样本数', {1: '1200.0000000000002'})}</c:lineChart>"
    assert blocks(chart(bars + line, words("季度表现"))) == [
        "季度表现", "|  | 准确率 | 样本数 |\n|---|---|---|\n| 一季度 | 87.5% |  |\n| 二季度 | 90% | 1200 |",
    ]  # fmt: skip


def test_points_dates_and_levels_of_charts() -> None:
    across, up = (cache(values) for values in ({0: "1", 1: "8"}, {0: "10.5", 1: "31"}))
    axes = f"<c:valAx>{words('批量')}</c:valAx><c:valAx>{words('延迟（ms）')}</c:valAx>"
    pairs = f"<c:ser><c:tx><c:v>甲</c:v></c:tx><c:xVal>{across}</c:xVal><c:yVal>{up}</c:yVal></c:ser>"
    points = f"<c:scatterChart>{pairs}</c:scatterChart>"
    assert blocks(chart(points + axes)) == ["延迟（ms）", "| 批量 | 甲 |\n|---|---|\n| 1 | 10.5 |\n| 8 | 31 |"]
    day = f"<c:cat>{cache({0: '45292'}, 'yyyy/m/d')}</c:cat>"
    days = f"<c:ser><c:tx><c:v>次数</c:v></c:tx>{day}<c:val>{cache({0: '3'})}</c:val></c:ser>"
    assert blocks(chart(f"<c:lineChart>{days}</c:lineChart>")) == ["|  | 次数 |\n|---|---|\n| 2024-01-01 | 3 |"]
    inner, outer = (
        "<c:lvl>" + "".join(f'<c:pt idx="{n}"><c:v>{text}</c:v></c:pt>' for n, text in level.items()) + "</c:lvl>"
        for level in ({0: "H100", 1: "H200", 2: "H100"}, {0: "北云", 2: "南算"})
    )
    levels = (
        f"<c:cat><c:multiLvlStrRef><c:multiLvlStrCache>{inner}{outer}</c:multiLvlStrCache></c:multiLvlStrRef></c:cat>"
    )
    rent = f"<c:ser><c:tx><c:v>租金</c:v></c:tx>{levels}<c:val>{cache({0: '1', 1: '2', 2: '3'})}</c:val></c:ser>"
    assert blocks(chart(f"<c:barChart>{rent}</c:barChart>")) == [
        "|  | 租金 |\n|---|---|\n| 北云 H100 | 1 |\n| 北云 H200 | 2 |\n| 南算 H100 | 3 |"
    ]


def test_a_chart_that_claims_too_many_points() -> None:
    drawn = f"<c:barChart>{series('甲', {0: '1', 10**9: '2'})}</c:barChart>"
    assert len(read(chart(drawn)).text) < 200


def test_charts_without_values_are_told() -> None:
    assert read(chart("<c:barChart/>")).warnings == ("charts and diagrams without values were left out: 1",)
    missing = read(TITLE + frame('<c:chart r:id="nowhere"/>')).warnings
    assert missing == ("drawings, headers and footers whose data are not in the file were left out: 1",)


def test_a_diagram_is_a_list_in_its_order() -> None:
    def point(name: int, text: str) -> str:
        return f'<dgm:pt modelId="{name}"><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>'

    links = "".join(
        f'<dgm:cxn modelId="9{n}" srcId="{source}" destId="{target}" srcOrd="{order}"/>'
        for n, (source, target, order) in enumerate([(0, 2, 1), (0, 1, 0), (1, 3, 0), (3, 1, 0)])
    )
    points = f'<dgm:pt modelId="0" type="doc"/>{point(1, "回放")}{point(2, "灰度")}{point(3, "离线")}'
    data = (
        f"<dgm:dataModel {NAMESPACES}><dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>{links}</dgm:cxnLst></dgm:dataModel>"
    )
    assert blocks((TITLE + frame('<dgm:relIds r:dm="d1"/>'), {"diagramData/d1": data})) == ["- 回放\n   - 离线\n- 灰度"]


def test_descriptions_of_pictures_stand_in_reading_order() -> None:
    decorative = '<a:extLst><a:ext><adec:decorative xmlns:adec="urn:x" val="1"/></a:ext></a:extLst>'
    pictures = picture("流程图：先回放，再灰度") + picture("") + picture("", decorative) + picture("image1.png")
    extract = read(TITLE + sp("下", (1, 60, 20, 5)) + pictures + sp("上", (1, 10, 20, 5)))
    assert extract.text.split("\n\n")[1:] == ["上", "流程图：先回放，再灰度", "下"]
    assert extract.warnings == ("pictures without a description were left out: 2",)


def test_notes_and_comments_are_marked_as_such() -> None:
    tree = sp("讲到这里停一下。", kind="body") + sp("3", kind="sldNum")
    notes = f"<p:notes {NAMESPACES}><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:notes>"
    comments = f'<p:cmLst {NAMESPACES}><p:cm authorId="0"><p:text>数据要更新</p:text></p:cm></p:cmLst>'
    slide = TITLE + sp("正文。", (1, 9, 9, 9)), {"notesSlide/n1": notes, "comments/k1": comments}
    assert blocks(slide) == ["正文。", "备注：讲到这里停一下。", "批注：数据要更新"]


def test_hidden_slides_are_left_out_and_the_others_keep_their_numbers() -> None:
    extract = read('show="0"|' + sp("藏一"), TITLE + sp("见二。", (1, 9, 9, 9)), 'show="0"|' + sp("藏三"), sp("见四"))
    assert extract.text == "## 标题\n\n见二。\n\n## 见四"
    assert [extract.text[start:].split("\n")[0] for start in extract.pages] == [
        "## 标题",
        "## 标题",
        "## 见四",
        "## 见四",
    ]
    assert extract.warnings == ("hidden slides were left out: 1, 3",)
    assert extract.removed == ("藏一", "藏三")


def test_hidden_shapes_and_footers_are_told_and_numbers_are_not() -> None:
    extract = read(
        TITLE + sp("藏", name='hidden="1"') + sp("内部资料", kind="ftr") + sp("12", kind="sldNum") + sp("正文。")
    )
    assert extract.text == "## 标题\n\n正文。"
    assert extract.warnings == (
        "hidden text was left out: “藏”", "the footer of the slides was left out: “内部资料”",
    )  # fmt: skip


def test_the_first_of_several_forms_is_read() -> None:
    forms = f"<mc:Choice>{sp('新式。')}</mc:Choice><mc:Fallback>{sp('旧式。')}</mc:Fallback>"
    assert blocks(f"{TITLE}<mc:AlternateContent>{forms}</mc:AlternateContent>") == ["新式。"]


def test_a_title_is_one_line_and_no_item() -> None:
    assert read(sp("甲\n乙")).text == "## 1\n\n甲\n乙"
    assert read(sp(item("甲", auto("arabicPeriod")))).text == "## 1\n\n1. 甲"
    assert (
        read(sp("<a:p><a:r><a:t>大</a:t></a:r><a:br/><a:r><a:t>题</a:t></a:r></a:p>", kind="ctrTitle")).text
        == "## 大 题"
    )
