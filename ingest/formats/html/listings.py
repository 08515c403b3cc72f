"""Code: every form of listing becomes one `pre` with the lines of the code and nothing else."""

import re
from itertools import islice
from typing import Any

from lxml import etree

from ingest.formats.html.layout import count_up, listing_of
from ingest.formats.html.tree import LeftOut, elements, is_block, lines_of, make, name_of, remove, size_of, text_of

LANGUAGE = re.compile(r"(?:language|lang|highlight(?:-source|-text)?|brush)[-:]([A-Za-z][\w+#-]{0,20})")
PARAMETER = re.compile(r"\bbrush:\s*([\w+#-]{1,20})")
NAMED = re.compile(r"[A-Za-z][\w+#-]{0,20}")
# Classes after which the next class names the language.
NAMING = frozenset({"sourceCode", "hljs", "prettyprint", "src"})
NO_LANGUAGE = frozenset({
    "none", "default", "plaintext", "nohighlight", "notranslate", "text", "txt", "plain", "code", "block", "wrapper",
    "container", "numbersource", "linenums", "shadow", "copy",
})  # fmt: skip
LEVELS = 3
PREFORMATTED = ("pre", "xmp", "listing", "plaintext")
# The share of a `pre` above which its `code` is the listing; the rest is a bar with a name and a button.
MOST = 0.4


def join_listings(root: Any, out: LeftOut) -> None:
    for table in list(root.iter("table")):
        _join_table(table, out)
    for code in list(root.iter("code")):
        _lift(code)
    for listing in elements(root, *PREFORMATTED):
        if listing.getparent() is not None and not any(name_of(p) in PREFORMATTED for p in listing.iterancestors()):
            _join(listing, out)
    for listing in list(root.iter("pre")):
        _drop_number_column(listing, out)


def _join_table(table: Any, out: LeftOut) -> None:
    found = listing_of(table)
    if found is None or table.getparent() is None:
        return
    code, others = found
    texts = [code_text(cell).strip("\n") if len(code) == 1 else code_text(cell).rstrip("\n") for cell in code]
    listing = make("pre", "\n".join(texts))
    listing.set("data-language", language_of(next(iter(code[0].iter("code", "pre")), table)) or language_of(table))
    for other in others:
        text = text_of(other)
        if text and not text.replace(" ", "").isdecimal():
            table.addprevious(make("p", text))
        else:
            out.say(text)
    inside = [parent for parent in table.iterancestors() if name_of(parent) in PREFORMATTED]
    if inside:
        listing.tag = "span"
    listing.tail = table.tail
    table.getparent().replace(table, listing)


def _lift(code: Any) -> None:
    """Turn code of several lines outside a `pre` into one."""
    if any(name_of(parent) in ("pre", "code") for parent in code.iterancestors()):
        return
    lines = code_text(code).strip("\n")
    if "\n" in lines and (elements(code, "br", "div", "p") or "pre" in str(code.get("style") or "")):
        code.tag = "pre"


def _join(listing: Any, out: LeftOut) -> None:
    language = language_of(listing)
    _drop_line_numbers(listing, out)
    codes = [code for code in listing.iter("code") if not any(name_of(p) == "code" for p in code.iterancestors())]
    whole = size_of(listing)
    if codes and whole and sum(map(size_of, codes)) > MOST * whole:
        text = "\n".join(code_text(code).removesuffix("\n") for code in codes)
        for code in codes:
            remove(code)
        out.say(*lines_of(listing))
    else:
        for button in elements(listing, "button"):
            out.take(button)
        text = code_text(listing)
    for child in list(listing):
        listing.remove(child)
    listing.text, listing.tag = text, "pre"
    listing.set("data-language", language)


def _drop_line_numbers(listing: Any, out: LeftOut) -> None:
    """Remove the numbers that a highlighter put at the start of each line, or in a column of their own."""
    kinds: dict[str, list[Any]] = {}
    for part in elements(listing):
        text = "".join(part.itertext()).strip()
        if part is not listing and not len(part) and text.isdecimal() and len(text) < 7:
            kinds.setdefault(f"{name_of(part)} {part.get('class') or ''}", []).append(part)
    for parts in kinds.values():
        numbers = [int("".join(part.itertext())) for part in parts]
        if len(parts) < 2 or not count_up(numbers) or sum(map(size_of, parts)) == size_of(listing):
            continue
        holder = parts[0].getparent()
        is_column = holder is not listing and size_of(holder) == sum(map(size_of, parts))
        if is_column or (parts[0].get("class") and _begin_lines(listing, parts)):
            out.say(" ".join(map(str, numbers)))
            for part in parts:
                remove(part)


def _begin_lines(listing: Any, parts: list[Any]) -> bool:
    """Whether each of these begins its line, and every line has one."""
    for part in parts:
        part.text = f"\ue000{part.text or ''}"
    lines = code_text(listing).strip("\n").split("\n")
    for part in parts:
        part.text = str(part.text).removeprefix("\ue000")
    marked = sum(line.lstrip().startswith("\ue000") for line in lines)
    return marked == len(parts) and len(parts) >= len([line for line in lines if line.strip()]) - 1


def _drop_number_column(listing: Any, out: LeftOut) -> None:
    """Remove the element beside a listing that holds the number of each line and nothing else."""
    count = len(str(listing.text or "").strip("\n").split("\n"))
    for part in (listing, listing.getparent()):
        for beside in (part.getprevious(), part.getnext()) if part is not None and count > 1 else ():
            words = text_of(beside).split() if beside is not None and size_of(beside) < 7 * count else []
            numbers = [int(word) for word in words if word.isdecimal()]
            if len(words) == len(numbers) and len(words) in (count, count + 1) and count_up(numbers):
                out.say(" ".join(words))
                remove(beside)
                return


def code_text(element: Any) -> str:
    """The text of code with its line breaks, including those of elements that begin a line."""
    parts: list[str] = []

    def begin_line() -> None:
        if parts and not parts[-1].endswith("\n"):
            parts.append("\n")

    def add(text: str | None, *, between: bool) -> None:
        if text and not (between and not text.strip() and "\n" in text):
            parts.append(text)

    after_block = False
    for event, node in etree.iterwalk(element, events=("start", "end")):
        if node is element:
            if event == "start":
                add(node.text, between=False)
            continue
        if event == "start":
            if name_of(node) == "br":
                parts.append("\n")
            elif is_block(node):
                begin_line()
            add(node.text, between=False)
            after_block = False
            continue
        if event == "end" and is_block(node):
            begin_line()
            after_block = True
        add(node.tail, between=after_block and is_block(node))
    return "".join(parts).replace("\xa0", " ").replace("\u2028", "\n").replace("\u200b", "").replace("\ufeff", "")


def language_of(element: Any) -> str:
    """The language that a listing, or an element within or around it, declares."""
    inner = [code for code in element.iter("code") if code is not element][:1]
    for part in (*inner, element, *islice(element.iterancestors(), LEVELS)):
        for attribute in ("data-language", "data-lang", "lang"):
            named = str(part.get(attribute) or "").lower()
            is_code = attribute != "lang" or name_of(part) in ("pre", "code")
            if is_code and NAMED.fullmatch(named) and named not in NO_LANGUAGE:
                return named
        found = PARAMETER.search(str(part.get("data-syntaxhighlighter-params") or part.get("class") or ""))
        if found:
            return found[1]
        classes = str(part.get("class") or "").split()
        for place, name in enumerate(classes):
            match = LANGUAGE.fullmatch(name)
            if match is None and place and classes[place - 1] in NAMING:
                match = re.fullmatch(r"(?:src-)?([A-Za-z][\w+#]{0,20})", name)
            if match and match[1].lower() not in NO_LANGUAGE:
                return match[1]
        if name_of(part) in ("body", "article", "main", "section"):
            break
    return ""
