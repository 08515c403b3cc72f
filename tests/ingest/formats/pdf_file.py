"""Small PDF files, written by hand."""

from collections.abc import Sequence

Text = tuple[float, float, str]
"""x, y in points from the lower left, and Latin text without brackets."""


def pdf(pages: Sequence[Sequence[Text]], *, drawings: str = "", size: tuple[int, int] = (595, 842)) -> bytes:
    """A PDF that paints each page's texts in the order given. `drawings` are painted on every page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for texts in pages:
        content = drawings + "".join(f"BT /F 10 Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n" for x, y, text in texts)
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size[0]} {size[1]}] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F 3 0 R >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    out = "%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    return f"{out}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{out.index('xref')}\n%%EOF".encode(
        "latin-1"
    )
