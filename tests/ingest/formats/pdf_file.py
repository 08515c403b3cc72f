"""Small PDF files, written by hand."""

from collections.abc import Sequence

Text = tuple[float, float, str]
"""x, y in points from the lower left, and Latin text without brackets."""

# By the name that content gives them: Helvetica, the same bold, Courier, a Chinese font with its mapping to Unicode,
# and one whose glyphs nothing names.
FONTS = {
    "F": "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    "B": "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
    "C": "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
    "Z": "<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [<< /Type "
    "/Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) "
    "/Supplement 4 >> /FontDescriptor << /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 "
    "1000 880] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >> >>] >>",
    "X": "<< /Type /Font /Subtype /Type0 /BaseFont /AAAAAA+Unnamed /Encoding /Identity-H /DescendantFonts [<< /Type "
    "/Font /Subtype /CIDFontType2 /BaseFont /AAAAAA+Unnamed /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) "
    "/Supplement 0 >> /DW 600 /FontDescriptor << /Type /FontDescriptor /FontName /AAAAAA+Unnamed /Flags 4 /FontBBox "
    "[0 -200 1000 900] /ItalicAngle 0 /Ascent 900 /Descent -200 /CapHeight 700 /StemV 80 >> >>] >>",
}
TWO_BYTES = "ZX"


def said(x: float, y: float, text: str, *, size: float = 10, font: str = "F") -> str:
    """The content that writes a text there."""
    shown = f"<{text.encode('utf-16-be').hex()}>" if font in TWO_BYTES else f"({_escaped(text)})"
    return f"BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm {shown} Tj ET\n"


def lines(x: float, y: float, texts: Sequence[str], *, step: float = 12, size: float = 10, font: str = "F") -> str:
    """The content that writes texts below each other, the first at that height."""
    return "".join(said(x, y - step * n, text, size=size, font=font) for n, text in enumerate(texts))


def rules(xs: Sequence[float], ys: Sequence[float]) -> str:
    """The content that draws the rules of a table."""
    across = "".join(f"{xs[0]} {y} m {xs[-1]} {y} l S\n" for y in ys)
    return across + "".join(f"{x} {ys[0]} m {x} {ys[-1]} l S\n" for x in xs)


def pdf(pages: Sequence[Sequence[Text]], *, drawings: str = "", size: tuple[int, int] = (595, 842)) -> bytes:
    """A PDF that paints each page's texts in the order given. `drawings` are painted on every page."""
    return pdf_of([drawings + "".join(said(x, y, text) for x, y, text in texts) for texts in pages], size=size)


def pdf_of(
    contents: Sequence[str],
    *,
    annotations: Sequence[str] = (),
    size: tuple[int, int] = (595, 842),
    page: str = "",
    catalog: str = "",
) -> bytes:
    """A PDF of pages with these contents. `annotations`, which are widgets of fields where they say so, are on the
    first; `page` and `catalog` are written into the dictionaries of each page and of the document."""
    objects = ["", "", *FONTS.values()]
    fonts = " ".join(f"/{name} {number} 0 R" for number, name in enumerate(FONTS, start=3))
    kids: list[str] = []
    widgets: list[str] = []
    notes = ""
    for annotation in annotations:
        objects.append(f"<< /Type /Annot {annotation} >>")
        notes += f"{len(objects)} 0 R "
        if "/Widget" in annotation:
            widgets.append(f"{len(objects)} 0 R")
    for content in contents:
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size[0]} {size[1]}] /Contents {len(objects)} 0 R {page} "
            f"/Resources << /Font << {fonts} >> >> {'' if kids else f'/Annots [{notes}]'} >>"
        )
        kids.append(f"{len(objects)} 0 R")
    form = f"/AcroForm << /Fields [{' '.join(widgets)}] >>" if widgets else ""
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {form} {catalog} >>"
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    out = "%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    return f"{out}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode("latin-1")


def _escaped(text: str) -> str:
    return "".join(f"\\{character}" if character in "()\\" else character for character in text)
