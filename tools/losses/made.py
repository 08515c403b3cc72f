"""Documents made by chance, in every format, of pieces that are known: what an ingest must not lose."""

import csv
import io
import json
import random
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

CHARACTERS = "注意力位置编码损失梯度显存缓存批次张量流水线专家路由量化蒸馏检索召回重排答案问题端口版本甲乙丙丁三五七九"
LATIN = ("cache", "loss", "rank", "head", "token", "batch", "error", "port", "node", "queue", "shard", "merge")
SHORT = ("0", "是", "80 GB", "B", "无", "3.5%", "H200", "2 天")


@dataclass(frozen=True, slots=True)
class Made:
    """A document and the pieces of text that were put in."""

    suffix: str
    data: bytes
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """`lines` of a heading, paragraph or code, items of a list; `rows` of a table."""

    kind: str
    lines: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def make(suffix: str, seed: int) -> Made:
    """One document of a format; the same for the same seed."""
    chance = random.Random(f"{suffix} {seed}")
    blocks = [_block(chance, latin=suffix == ".pdf") for _ in range(chance.randint(1, 12))]
    if suffix in (".csv", ".xlsx"):
        blocks = [_table(chance) for _ in range(1 if suffix == ".csv" else chance.randint(1, 3))]
    pieces = tuple(piece for block in blocks for piece in (*block.lines, *(cell for row in block.rows for cell in row)))
    return Made(suffix, WRITERS[suffix](blocks, chance), pieces)


def _block(chance: random.Random, *, latin: bool = False) -> Block:
    kind = chance.choices(("heading", "paragraph", "list", "numbers", "table", "code", "quote"), (3, 6, 2, 2, 2, 1, 1))[
        0
    ]
    if kind == "table":
        return _table(chance, latin=latin)
    if kind == "heading":
        return Block(
            kind, (_words(chance, chance.randint(1, 5), latin=latin) + chance.choice(("", "", "？")) * (not latin),)
        )
    if kind == "code":
        return Block(
            kind, tuple(f"{chance.choice(LATIN)}_{chance.randrange(999)} = {n}" for n in range(chance.randint(1, 9)))
        )
    count = 1 if kind in ("paragraph", "quote") else chance.randint(1, 6)
    return Block(kind, tuple(_paragraph(chance, latin=latin) for _ in range(count)))


def _table(chance: random.Random, *, latin: bool = False) -> Block:
    width, height = chance.randint(2, 6), chance.choice((2, 3, 5, 12, 40))
    head = tuple(f"{_words(chance, 1, latin=latin)}{n}" for n in range(width))
    rows = [tuple(_cell(chance, latin=latin) for _ in range(width)) for _ in range(height - 1)]
    return Block("table", rows=(head, *rows))


def _cell(chance: random.Random, *, latin: bool) -> str:
    if latin:
        return f"{chance.choice(LATIN)} {chance.randrange(9999)}"
    long = chance.random() < 0.02
    return _paragraph(chance, latin=False) * (12 if long else 1) if long else chance.choice((*SHORT, _words(chance, 2)))


def _paragraph(chance: random.Random, *, latin: bool) -> str:
    if chance.random() < 0.2:
        return f"{chance.choice(LATIN)} {chance.randrange(999)}" if latin else chance.choice(SHORT)
    ends = "." if latin else "。"
    return (" " if latin else "").join(
        f"{_words(chance, chance.randint(2, 12), latin=latin)}{ends}" for _ in range(chance.randint(1, 6))
    )


def _words(chance: random.Random, count: int, *, latin: bool = False) -> str:
    if latin:
        return " ".join(f"{chance.choice(LATIN)}{chance.randrange(99)}" for _ in range(count))
    words = ["".join(chance.choices(CHARACTERS, k=chance.randint(2, 6))) for _ in range(count)]
    return "".join(
        f"{word} {chance.choice(LATIN)}{chance.randrange(99)} " if chance.random() < 0.2 else word for word in words
    ).strip()


def _markdown(blocks: Sequence[Block], chance: random.Random) -> bytes:
    parts = []
    for block in blocks:
        match block.kind:
            case "heading":
                parts.append(f"{'#' * chance.randint(1, 4)} {block.lines[0]}")
            case "list" | "numbers":
                parts.append(
                    "\n".join(
                        f"{'-' if block.kind == 'list' else f'{n}.'} {line}" for n, line in enumerate(block.lines, 1)
                    )
                )
            case "table":
                head, *rows = (f"| {' | '.join(row)} |" for row in block.rows)
                parts.append("\n".join([head, "|" + "---|" * len(block.rows[0]), *rows]))
            case "code":
                parts.append("\n".join(["```python", *block.lines, "```"]))
            case "quote":
                parts.append(
                    chance.choice(
                        ("> {}", "> [!NOTE]\n> {}", ":::tip\n{}\n:::", "<details>\n<summary>{}</summary>\n</details>")
                    ).format(block.lines[0])
                )
            case _:
                parts.append(block.lines[0])
    return "\n\n".join(parts).encode()


def _plain(blocks: Sequence[Block], chance: random.Random) -> bytes:
    lines = [line for block in blocks for line in (*block.lines, *("\t".join(row) for row in block.rows), "")]
    width = chance.choice((0, 0, 40, 60))
    if width:
        lines = [
            part
            for line in lines
            for part in ([line[place : place + width] for place in range(0, len(line), width)] or [""])
        ]
    encoding = chance.choice(("utf-8", "utf-8-sig", "gb18030", "utf-16"))
    return chance.choice(("\n", "\r\n")).join(lines).encode(encoding)


def _webpage(blocks: Sequence[Block], chance: random.Random) -> bytes:
    body = _elements(blocks, chance)
    return f'<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>{body}</body></html>'.encode()


def _elements(blocks: Sequence[Block], chance: random.Random) -> str:
    parts = []
    for block in blocks:
        lines = [escape(line) for line in block.lines]
        match block.kind:
            case "heading":
                level = chance.randint(1, 4)
                part = f"<h{level}>{lines[0]}</h{level}>"
            case "list" | "numbers":
                tag = "ul" if block.kind == "list" else "ol"
                part = f"<{tag}>{''.join(f'<li>{line}</li>' for line in lines)}</{tag}>"
            case "table":
                rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in block.rows)
                part = f"<table>{rows}</table>"
            case "code":
                part = f"<pre><code>{chr(10).join(lines)}</code></pre>"
            case "quote":
                part = chance.choice((
                    "<blockquote><p>{}</p></blockquote>", "<aside>{}</aside>",
                    "<div hidden role='tabpanel'><p>{}</p></div>", "<details><summary>{}</summary></details>",
                    "<dl><dt>{}</dt></dl>", "<div class='admonition warning'><p>{}</p></div>",
                    "<figure><figcaption>{}</figcaption></figure>",
                )).format(lines[0])  # fmt: skip
            case _:
                part = f"<p>{lines[0]}</p>"
        parts.append(part)
    return "\n".join(parts)


def _book(blocks: Sequence[Block], chance: random.Random) -> bytes:
    target = io.BytesIO()
    chapters = [blocks[start : start + 4] for start in range(0, len(blocks), 4)]
    names = [f"c{n}.xhtml" for n in range(len(chapters))]
    manifest = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names)
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="b.opf" '
            'media-type="application/oebps-package+xml"/></rootfiles></container>',
        )
        archive.writestr(
            "b.opf",
            f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{manifest}</manifest><spine>{spine}</spine></package>',
        )
        for name, chapter in zip(names, chapters, strict=True):
            archive.writestr(
                name, f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{_elements(chapter, chance)}</body></html>'
            )
    return target.getvalue()


def _delimited(blocks: Sequence[Block], chance: random.Random) -> bytes:
    target = io.StringIO()
    csv.writer(target, delimiter=chance.choice(",;\t")).writerows(blocks[0].rows)
    return target.getvalue().encode(chance.choice(("utf-8", "utf-8-sig", "gb18030")))


def _notebook(blocks: Sequence[Block], chance: random.Random) -> bytes:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "source": "\n".join(block.lines), "outputs": [], "metadata": {}, "execution_count": None}
        if block.kind == "code"
        else {"cell_type": "markdown", "source": _markdown([block], chance).decode(), "metadata": {}}
        for block in blocks
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _word(blocks: Sequence[Block], chance: random.Random) -> bytes:
    import docx

    document = docx.Document()
    for block in blocks:
        if block.kind == "table":
            table = document.add_table(len(block.rows), len(block.rows[0]))
            for cells, row in zip(table.rows, block.rows, strict=True):
                for cell, text in zip(cells.cells, row, strict=True):
                    cell.text = text
        elif block.kind == "heading":
            document.add_heading(block.lines[0], chance.randint(1, 3))
        else:
            style = {"list": "List Bullet", "numbers": "List Number", "quote": "Quote"}.get(block.kind)
            for line in block.lines:
                document.add_paragraph(line, style)
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def _slides(blocks: Sequence[Block], chance: random.Random) -> bytes:
    import pptx
    from pptx.util import Inches

    deck = pptx.Presentation()
    for block in blocks:
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        if block.kind == "table":
            slide.shapes.title.text = ""
            shape = slide.shapes.add_table(
                len(block.rows), len(block.rows[0]), Inches(1), Inches(2), Inches(8), Inches(4)
            )
            for number, row in enumerate(block.rows):
                for column, text in enumerate(row):
                    shape.table.cell(number, column).text = text
            continue
        slide.shapes.title.text = block.lines[0]
        for place, line in enumerate(block.lines[1:]):
            box = slide.shapes.add_textbox(Inches(1), Inches(2 + place), Inches(8), Inches(1))
            box.text_frame.text = line
    target = io.BytesIO()
    deck.save(target)
    return target.getvalue()


def _workbook(blocks: Sequence[Block], chance: random.Random) -> bytes:
    import xlsxwriter

    target = io.BytesIO()
    with xlsxwriter.Workbook(target, {"in_memory": True}) as book:
        for block in blocks:
            sheet = book.add_worksheet()
            first, left = chance.randint(0, 3), chance.randint(0, 2)
            for number, row in enumerate(block.rows):
                for column, text in enumerate(row):
                    sheet.write_string(first + number, left + column, text)
    return target.getvalue()


def _pdf(blocks: Sequence[Block], chance: random.Random) -> bytes:
    """Lines of Latin text, 60 characters wide, 40 on a page."""
    lines = [line for block in blocks for line in (*block.lines, *("   ".join(row) for row in block.rows), "")]
    wrapped = [part for line in lines for part in wrap(line, 60) or [""]]
    pages = [wrapped[start : start + 40] for start in range(0, len(wrapped), 40)] or [[]]
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for page in pages:
        shown = "".join(
            f"BT /F 11 Tf 1 0 0 1 60 {780 - 17 * n} Tm ({line}) Tj ET\n" for n, line in enumerate(page) if line
        )
        objects.append(f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F 3 0 R >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    bodies = [f"{number} 0 obj\n{body}\nendobj\n" for number, body in enumerate(objects, 1)]
    out = "%PDF-1.4\n" + "".join(bodies)
    starts = [9]
    starts += [starts[0] + sum(map(len, bodies[: n + 1])) for n in range(len(bodies) - 1)]
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return f"{out}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode("latin-1")


WRITERS: dict[str, Callable[[Sequence[Block], random.Random], bytes]] = {
    ".md": _markdown, ".txt": _plain, ".html": _webpage, ".epub": _book, ".csv": _delimited, ".ipynb": _notebook,
    ".docx": _word, ".pptx": _slides, ".xlsx": _workbook, ".pdf": _pdf,
}  # fmt: skip
FORMATS = tuple(WRITERS)
