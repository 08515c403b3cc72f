"""A tree -> Markdown. By then its formulas are text and its code is in `pre` elements that hold nothing but text."""

import re
from collections.abc import Iterable
from typing import Any

from ingest.formats.encoding import CHINESE
from ingest.formats.html.layout import cells_of, is_layout, rows_of
from ingest.formats.html.tables import Budget, Place, has_blocks, in_a_line, lay_out
from ingest.formats.html.tree import HEADINGS, SILENT, UNSEEN, elements, is_block, name_of
from ingest.formats.markdown import fence, heading, lowered, raised, table

BREAK = "\u2028"
WHITE = re.compile("[ \t\r\n\f\v\xa0\u3000\u2000-\u200a\u202f]+")
# A line break of the source between Chinese characters does not become a space.
CHINESE_BREAK = re.compile(r"(?<=[\u2e80-\u9fff\uff00-\uffef])[ \t]*\r?\n\s*(?=[\u2e80-\u9fff\uff00-\uffef])")
# Alternative texts that say nothing about the picture, and file names.
SAYS_NOTHING = frozenset({
    "image", "img", "picture", "photo", "figure", "icon", "logo", "avatar", "alt", "alt text", "screenshot", "图",
    "图片", "图像", "插图", "照片", "截图", "图标", "头像", "图片描述", "在这里插入图片描述", "请添加图片描述",
})  # fmt: skip
FILE_NAME = re.compile(r"\S*\.(?:png|jpe?g|gif|svg|webp|bmp|avif)(?:[?#]\S*)?|https?://\S+|[\w-]{24,}", re.IGNORECASE)
# Text at the start of a line that Markdown would read as markup.
MARK = re.compile(r"(?=#{1,6}\s|\|)")
BOLD = re.compile(r"(\s*)(.*?)([\s：:，,。；;、？！?!.]*)", re.DOTALL)
TICK = re.compile(r"\A([☑☐])\s*")
ITEM = re.compile(r"(?:-|\d+[.]) ")
LONGEST_DEFINITION = 2_000
# Parts of a table that are in their proper place, as (parent, child).
IN_PLACE = frozenset({("tr", "td"), ("tr", "th"), ("table", "caption")})


def write(root: Any) -> str:
    """The Markdown of an element."""
    blocks = _Writer(root).blocks(root)
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n"


class _Writer:
    def __init__(self, root: Any) -> None:
        self.budget = Budget()
        self._with_blocks: set[Any] = set()
        self._cells: dict[Any, str] = {}
        for element in elements(root):
            for parent in element.iterancestors() if is_block(element) else ():
                if parent in self._with_blocks:
                    break
                self._with_blocks.add(parent)

    # Blocks

    def blocks(self, element: Any) -> list[str]:
        """The blocks within an element."""
        found: list[str] = []
        run = [str(element.text or "")]
        for child in element:
            if self._stands_alone(child):
                found += [*_paragraphs("".join(run)), *self._block(child)]
                run = []
            else:
                run.append(self.inline(child))
            run.append(str(child.tail or ""))
        return [*found, *_paragraphs("".join(run))]

    def _stands_alone(self, element: Any) -> bool:
        name = name_of(element)
        return bool(name) and name not in SILENT and (is_block(element) or element in self._with_blocks)

    def _block(self, element: Any) -> list[str]:
        name = name_of(element)
        if name in HEADINGS:
            text = self.line(element, bold=False)
            return [heading(text, int(name[1]))] if text else []
        if name == "pre":
            code = str(element.text or "")
            return [fence(code.rstrip(), str(element.get("data-language") or ""))] if code.strip() else []
        if name in ("ul", "ol", "menu", "dir"):
            text = self._list(element)
            return [text] if text else []
        if name == "li":
            return [self._item(element, "- ")]
        if name == "table":
            return self._table(element)
        if name == "blockquote":
            lines = "\n\n".join(self.blocks(element)).split("\n")
            return ["\n".join(f"> {line}".rstrip() for line in lines)] if any(lines) else []
        if name == "dl":
            return self._definitions(element)
        if name in ("summary", "legend"):
            text = self.line(element, bold=False)
            return [_bold(text)] if text else []
        if name == "figure":
            return list(dict.fromkeys(self.blocks(element)))
        return [] if name == "hr" else self.blocks(element)

    def _list(self, element: Any) -> str:
        number = _number(element.get("start"), 1)
        items = _paragraphs(str(element.text or ""))
        for child in element:
            name = name_of(child)
            if name in ("ul", "ol") and items:  # between the items, as some editors nest their lists
                mark = 3 if name_of(element) == "ol" else 2
                items.append(_indented(self._list(child), " " * mark))
            elif name and name not in SILENT:
                number = _number(child.get("value"), number)
                item = self._item(child, f"{number}. " if name_of(element) == "ol" else "- ")
                if item:
                    items.append(item)
                    number += 1
            items += _paragraphs(str(child.tail or ""))
        return "\n".join(filter(None, items))

    def _item(self, element: Any, mark: str) -> str:
        blocks = self.blocks(element) if name_of(element) == "li" else self._block_or_line(element)
        if not blocks:
            return ""
        parts = [TICK.sub(lambda tick: "[x] " if tick[1] == "☑" else "[ ] ", blocks[0], count=1)]
        parts += (block if ITEM.match(block) else f"\n{block}" for block in blocks[1:])
        return mark + _indented("\n".join(parts), " " * len(mark)).lstrip(" ")

    def _block_or_line(self, element: Any) -> list[str]:
        return self._block(element) if self._stands_alone(element) else list(filter(None, [self.line(element)]))

    def _definitions(self, element: Any) -> list[str]:
        """`预填充：一次算完…`; a definition of several blocks is written below its term."""
        found = _paragraphs(" ".join(str(text or "") for text in (element.text, *(child.tail for child in element))))
        terms: list[str] = []
        for child in _entries(element):
            if name_of(child) == "dt":
                terms.append(self.line(child, bold=False).rstrip(":： "))
                continue
            blocks = self.blocks(child)
            name = "、".join(filter(None, terms)) if CHINESE.search("".join(terms)) else ", ".join(filter(None, terms))
            terms = []
            if name and len(blocks) == 1 and _is_line(blocks[0]):
                found.append(f"{name}{'：' if CHINESE.search(name + blocks[0]) else ': '}{blocks[0]}")
            else:
                found += [*([_bold(name)] if name else []), *blocks]
        return [*found, *(_bold(term) for term in terms if term)]

    # Tables

    def _table(self, element: Any) -> list[str]:
        if is_layout(element):
            cells = [cell for row in rows_of(element) for cell in cells_of(row)]
            captions = [part for part in element if name_of(part) == "caption"]
            return [*self._between(element), *(block for part in (*captions, *cells) for block in self.blocks(part))]
        found = lay_out(element, self.cell, self.budget)
        blocks = [*self._between(element), *found.above]
        for title, rows in found.sections or [("", [])]:
            blocks += [title] if title else []
            if has_blocks(element):
                blocks += self._records(found.head, rows)
            elif rows or not title:
                blocks.append(table([found.head, *([place.text for place in row] for row in rows)]))
        return [block for block in (*blocks, *found.below) if block]

    def _between(self, element: Any) -> list[str]:
        """The content of a table outside its cells, where HTML allows none."""
        blocks = _paragraphs(str(element.text or ""))
        for part in element:
            name = name_of(part)
            if name in ("thead", "tbody", "tfoot", "tr"):
                blocks += self._between(part)
            elif name and (name_of(element), name) not in IN_PLACE:
                blocks += self._block_or_line(part)
            blocks += _paragraphs(str(part.tail or ""))
        return blocks

    def _records(self, head: list[str], rows: list[list[Place]]) -> list[str]:
        """Rows whose cells hold blocks, written one after the other: each cell below the name of its column."""
        blocks: list[str] = []
        for row in rows:
            names = [*head, *[""] * len(row)]
            for name, place in zip(names, row, strict=False):
                inner = self.blocks(place.cell)
                if len(inner) == 1 and _is_line(inner[0]):
                    blocks.append(f"{name}：{inner[0]}" if name else inner[0])
                elif inner:
                    blocks += [f"{name}：", *inner] if name else inner
        return blocks

    def cell(self, element: Any) -> str:
        """The content of a cell in one line."""
        if element not in self._cells:  # tables within tables ask for it again and again
            self._cells[element] = self.line(element, in_cell=True)
        return self._cells[element]

    # Lines

    def line(self, element: Any, *, bold: bool = True, in_cell: bool = False) -> str:
        """The content of an element in one line, its blocks one after the other."""
        parts = [str(element.text or "")]
        for child in element:
            parts += [self._in_line(child, bold=bold, in_cell=in_cell), str(child.tail or "")]
        text = _tidy("".join(parts)).replace(BREAK, " ")
        return re.sub(r"\s*\x00(?:\s*\x00)*\s*", "; ", WHITE.sub(" ", text).strip(" \x00"))

    def _in_line(self, element: Any, *, bold: bool, in_cell: bool) -> str:
        name = name_of(element)
        if name == "table":
            between = " ".join(self._between(element))
            return f" {between} {in_a_line(element, self.cell, self.budget)} "
        if name == "pre":
            return f" {_code_span(' '.join(str(element.text or '').split()))} "
        if not self._stands_alone(element):
            return self.inline(element, bold=bold, in_cell=in_cell)
        if name in ("ul", "ol"):
            items = (self.line(child, bold=bold, in_cell=in_cell).rstrip("；;") for child in element if name_of(child))
            said = [f"{number}. {item}" if name == "ol" else item for number, item in enumerate(filter(None, items), 1)]
            stray = " ".join(str(text or "") for text in (element.text, *(child.tail for child in element)))
            return "\x00" + "\x00".join([*([stray] if stray.strip() else []), *said]) + "\x00"
        return f" {self.line(element, bold=bold, in_cell=in_cell)} "

    def inline(self, element: Any, *, bold: bool = True, in_cell: bool = False) -> str:
        name = name_of(element)
        if not name or name in SILENT:
            return ""
        if name == "br":
            return BREAK
        if name == "img":
            return _said_of(element, in_cell=in_cell)
        if name in ("code", "tt", "samp"):
            return _code_span("".join(element.itertext()))
        inner = "".join(self._parts(element, bold=bold, in_cell=in_cell))
        if name == "sup":
            return raised(inner)
        if name == "sub":
            return lowered(inner)
        if name in ("strong", "b") and bold and BREAK not in inner and inner.strip(" *"):
            return inner if "**" in inner else _bold(inner)
        return inner

    def _parts(self, element: Any, *, bold: bool, in_cell: bool) -> Iterable[str]:
        yield str(element.text or "")
        for child in element:
            yield self._in_line(child, bold=bold, in_cell=in_cell)
            yield str(child.tail or "")


def _entries(element: Any) -> Iterable[Any]:
    """The terms and definitions of a list; each pair may have an element around it."""
    for child in element:
        name = name_of(child)
        texts = (child.text, *(part.tail for part in child)) if name in ("div", "section") else ("text",)
        if not any((text or "").strip() for text in texts) and any(name_of(part) in ("dt", "dd") for part in child):
            yield from (part for part in child if name_of(part))
        elif name:
            yield child


def _said_of(picture: Any, *, in_cell: bool) -> str:
    """The alternative text of a picture, if it says something."""
    said = " ".join(str(picture.get("alt") or "").split())
    if not said or said.lower() in SAYS_NOTHING or FILE_NAME.fullmatch(said):
        return ""
    is_sign = not any(map(str.isalnum, said))
    return said if in_cell or is_sign or len(said) > 1 else ""


def _bold(text: str) -> str:
    """A label in bold. Whole sentences need no bold, and `：**` before a letter would not end it."""
    found = BOLD.fullmatch(text)
    if found is None or not found[2] or re.search(r"[。？！?!.]", found[3]):
        return text
    return f"{found[1]}**{found[2]}**{found[3]}"


def _code_span(text: str) -> str:
    code = UNSEEN.sub("", WHITE.sub(" ", text.replace(BREAK, " "))).strip()
    if not code:
        return " " if text else ""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    mark, space = "`" * (longest + 1), " " if longest else ""
    return f"{mark}{space}{code}{space}{mark}"


def _tidy(text: str) -> str:
    text = CHINESE_BREAK.sub("", UNSEEN.sub("", text))
    return BREAK.join(line.strip() for line in WHITE.sub(" ", text).split(BREAK))


def _paragraphs(text: str) -> list[str]:
    """Paragraphs of a run of text: two line breaks end one."""
    lines = _tidy(text.replace("\x00", " ")).split(BREAK)
    joined = "\n".join(MARK.sub(r"\\", line, count=1) if MARK.match(line) else line for line in lines)
    return [part.strip("\n") for part in re.split(r"\n{2,}", joined) if part.strip()]


def _indented(text: str, by: str) -> str:
    return "\n".join(f"{by}{line}" if line.strip() else line for line in text.split("\n"))


def _is_line(block: str) -> bool:
    return "\n" not in block and len(block) <= LONGEST_DEFINITION and not re.match(r"(?:#|\||>|`{3}|-|\d+[.]) ?", block)


def _number(value: str | None, otherwise: int) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 7 else otherwise
