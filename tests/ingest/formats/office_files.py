"""Small Word and PowerPoint files, written by hand: what stands in them is what a test says."""

import io
import zipfile

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
C = "http://schemas.openxmlformats.org/drawingml/2006/chart"
DGM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
NAMESPACES = (
    f'xmlns:w="{W}" xmlns:a="{A}" xmlns:p="{P}" xmlns:c="{C}" xmlns:dgm="{DGM}" xmlns:r="{R}" xmlns:mc="{MC}" '
    f'xmlns:m="{M}" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
)
# A relation is its name, its kind, and its target; a target with a scheme is outside of the file.
Relation = tuple[str, str, str]
OUTSIDE = ' TargetMode="External"'


def relations(*listed: Relation) -> str:
    found = "".join(
        f'<Relationship Id="{name}" Type="{R}/{kind}" Target="{target}"{OUTSIDE * (":" in target)}/>'
        for name, kind, target in listed
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{found}</Relationships>'
    )


def archive(parts: dict[str, str]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, text in parts.items():
            opened.writestr(name, text)
    return target.getvalue()


def docx(body: str, *links: Relation, **parts: str) -> bytes:
    """A Word document. `parts` are the contents of others, by their kind: styles, numbering, footnotes, header1."""
    own = [(f"part-{name}", name.rstrip("0123456789"), f"{name}.xml") for name in parts]
    files = {
        "_rels/.rels": relations(("rId1", "officeDocument", "word/document.xml")),
        "word/document.xml": f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relations(*links, *own),
    }
    for name, text in parts.items():
        files[f"word/{name}.xml"] = text if text.startswith("<?") else f"<w:{name} {NAMESPACES}>{text}</w:{name}>"
    return archive(files)


def run(text: str, properties: str = "") -> str:
    return f'<w:r>{f"<w:rPr>{properties}</w:rPr>" * bool(properties)}<w:t xml:space="preserve">{text}</w:t></w:r>'


def para(text: str = "", properties: str = "", *, look: str = "") -> str:
    """A paragraph of one run, or of the runs that are given."""
    runs = text if text.startswith("<") else run(text, look) * bool(text)
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' * bool(properties)}{runs}</w:p>"


def cell(text: str = "", *, across: int = 1, merge: str = "") -> str:
    """`merge` is "restart" for the first of several rows, "continue" for the others."""
    span = f'<w:gridSpan w:val="{across}"/>' * (across > 1)
    down = f'<w:vMerge w:val="{merge}"/>' * bool(merge)
    return f"<w:tc><w:tcPr>{span}{down}</w:tcPr>{text if text.startswith('<') else para(text)}</w:tc>"


def row(*cells: str, head: bool = False) -> str:
    properties = "<w:trPr><w:tblHeader/></w:trPr>" * head
    return f"<w:tr>{properties}{''.join(one if one.startswith('<') else cell(one) for one in cells)}</w:tr>"


def tbl(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def numbering(*levels: str, nums: str = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>') -> str:
    """One scheme; each level is `form text`, such as `decimal %1.%2`, with a start after a third blank."""
    written = ""
    for depth, level in enumerate(levels):
        form, text, start = [*level.split(" "), "1"][:3]
        about = "".join(f'<w:{n} w:val="{v}"/>' for n, v in (("start", start), ("numFmt", form), ("lvlText", text)))
        written += f'<w:lvl w:ilvl="{depth}">{about}</w:lvl>'
    return f'<w:abstractNum w:abstractNumId="0">{written}</w:abstractNum>{nums}'


def item(text: str, depth: int = 0, number: int = 1) -> str:
    return para(text, f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>')


def pptx(*slides: str | tuple[str, dict[str, str]], shared: dict[str, str] | None = None) -> bytes:
    """A presentation. A slide is what stands in its tree of shapes, or that and the texts of its parts by name, each
    `kind/name`: {"chart/c1": "<c:chartSpace…"}; an attribute of the slide stands before its tree as `show="0"|`."""
    files = {"_rels/.rels": relations(("rId1", "officeDocument", "ppt/presentation.xml"))}
    listed = "".join(f'<p:sldId id="{256 + n}" r:id="s{n}"/>' for n in range(len(slides)))
    files["ppt/presentation.xml"] = f"<p:presentation {NAMESPACES}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
    files["ppt/_rels/presentation.xml.rels"] = relations(
        *((f"s{n}", "slide", f"slides/slide{n}.xml") for n in range(len(slides)))
    )
    for number, slide in enumerate(slides):
        text, parts = (slide, {}) if isinstance(slide, str) else slide
        attributes, _, tree = text.rpartition("|")
        files[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {NAMESPACES} {attributes}><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:sld>"
        )
        own: list[Relation] = []
        for key, content in parts.items():
            kind, _, name = key.partition("/")
            if not content.startswith("<"):
                own.append((name, kind, content))
            else:
                files[f"ppt/{name}.xml"] = content
                own.append((name, kind, f"../{name}.xml"))
        files[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(*own)
    return archive(files | (shared or {}))


def at(place: tuple[int, int, int, int] | None) -> str:
    if place is None:
        return ""
    x, y, width, height = (value * 100_000 for value in place)
    return f'<a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'


def sp(text: str, place: tuple[int, int, int, int] | None = None, *, kind: str = "", name: str = "") -> str:
    """A shape with text; `kind` is that of the place that it takes, `name` more attributes of its own."""
    holder = f'<p:ph type="{kind}"/>' * bool(kind)
    paragraphs = (
        text if text.startswith("<") else "".join(f"<a:p><a:r><a:t>{one}</a:t></a:r></a:p>" for one in text.split("\n"))
    )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="x" {name}/><p:cNvSpPr/><p:nvPr>{holder}</p:nvPr></p:nvSpPr>'
        f"<p:spPr>{at(place)}</p:spPr><p:txBody><a:bodyPr/><a:lstStyle/>{paragraphs}</p:txBody></p:sp>"
    )


def frame(content: str, place: tuple[int, int, int, int] = (1, 20, 50, 20)) -> str:
    """A frame that holds a table, a chart or a diagram."""
    about = '<p:nvGraphicFramePr><p:cNvPr id="3" name="x"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>'
    graphic = f"<a:graphic><a:graphicData>{content}</a:graphicData></a:graphic>"
    return f"<p:graphicFrame>{about}{at(place).replace('a:xfrm', 'p:xfrm')}{graphic}</p:graphicFrame>"
