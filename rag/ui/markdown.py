"""Answer text -> Markdown that is safe to show, with its citation markers as links.

Documents and answers are data: their HTML is shown as text, an image becomes a link that nothing fetches by itself.
Gradio sanitises its output and a Content-Security-Policy forbids remote requests; this module relies on neither.
"""

import re
from collections.abc import Iterable, Mapping

from rag.text.blocks import Block, BlockKind
from rag.text.markdown import parse
from rag.types import Answer

# These enclose a known marker while the text around it is made safe.
OPEN, CLOSE = "\ue000", "\ue001"
PRIVATE = re.compile("[\ue000-\ue00a]")
KNOWN_MARKER = re.compile(f"{OPEN}(\\d+)(?:–(\\d+))?{CLOSE}")
MARKER = re.compile(r"\[(\d{1,3})\]")
MARKERS_AFTER = re.compile(r"[ \n]*((?:\[\d{1,3}\] ?)+)")
MARKERS_AT_END = re.compile(r"((?:\[\d{1,3}\])+)(\s*)$")

# Shown verbatim outside code blocks: inline code (not across a blank line), display and inline formulas.
VERBATIM = re.compile(
    r"(?P<code>(?<!`)(?P<quote>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=quote)(?!`))"
    r"|(?P<formula>\$\$.+?\$\$|(?<!\\)\$(?!\s)[^$\n]+?(?<!\s)\$|\\\(.+?\\\)|\\\[.+?\\\])",
    re.MULTILINE | re.DOTALL,
)
# Outside verbatim text; its own text may hold code.
LINK = re.compile(
    rf"(?P<verbatim>{VERBATIM.pattern})"
    r"|!?\[(?P<text>(?:[^\[\]\n`]|`[^`\n]*`){0,400})\]"
    r"\((?!\s*<?https?://)[^()\n]{0,400}(?:\([^()\n]{0,400}\)[^()\n]{0,400})?\)",
    VERBATIM.flags,
)
ADDRESS = re.compile(r"<(https?://[^<>\s]+)>")
# Delimit formulas for Gradio. It would find `$` anywhere, in code and across paragraphs; these occur nowhere.
DISPLAY = ("\ue002", "\ue003")
INLINE = ("\ue004", "\ue005")
LATEX_DELIMITERS: list[dict[str, str | bool]] = [
    {"left": DISPLAY[0], "right": DISPLAY[1], "display": True},
    {"left": INLINE[0], "right": INLINE[1], "display": False},
]
# These enclose an unsupported claim, in the same way.
GREY, GREY_END = "\ue006", "\ue007"
GREYED = re.compile(f"{GREY}([^{GREY}{GREY_END}]*){GREY_END}")
# These enclose what a citation proves, the first two its marker.
CLAIM, CLAIM_MARKER, CLAIM_END = "\ue008", "\ue009", "\ue00a"
CLAIM_OF = re.compile(f"{CLAIM}(\\d+){CLAIM_MARKER}([^{CLAIM}{CLAIM_END}]*){CLAIM_END}")
PRIVATE_MARKS = re.compile(f"[{GREY}{GREY_END}{CLAIM_END}]|{CLAIM}\\d+{CLAIM_MARKER}")
# Characters from here on need no space after them.
FULL_WIDTH = "\u2e80"
# Text between the markers of two sentences in a paragraph or list: the second sentence.
ONE_SENTENCE = re.compile(rf"\s*(?:(?:[-*+•]|\d+\.) )?{CLAIM}\d+{CLAIM_MARKER}[^{CLAIM}{CLAIM_END}]*{CLAIM_END}\s*")
# No stretch of a text longer than a sentence, or of a table, can be marked without breaking the Markdown.
NOT_ONE_LINE = re.compile(r"[\n|]|```|~~~")
# Signs of Markdown and HTML, each with its escape.
SIGNS = {ord(sign): f"&#{ord(sign)};" for sign in "<>&\"'`*_[]()\\#!|~$"}
# Gradio draws these as diagrams; quoted material stays text.
DIAGRAM = re.compile(r"mermaid\b", re.IGNORECASE)
# The browser takes a fence indented this much, outside a list, for text.
INDENTED = 4


def mark_chunk(chunk: str) -> str:
    """A chunk of a streamed answer, with its markers at its end."""
    return MARKERS_AT_END.sub(lambda match: MARKER.sub(_known, match[1]) + match[2], without_private(chunk))


def mark_answer(answer: Answer) -> str:
    """The text of a finished answer: a marker directly follows a claim and names one of its citations. A sentence's
    first citation identifies it.

    `[1]` anywhere else is text of the material, such as an index or the author's reference.
    """
    text = without_private(answer.text)
    result: list[str] = []
    position = 0
    for claim in answer.claims:
        found = text.find(without_private(claim.text), position)
        if found < 0:
            continue
        end = found + len(without_private(claim.text))
        in_one_line = not NOT_ONE_LINE.search(claim.text)
        # A claim that closes a `**` opened before it.
        torn = in_one_line and claim.text.count("**") % 2 == 1
        found -= 2 * (torn and text[position:found].endswith("**"))
        said = text[found:end]
        if in_one_line and not claim.supported:
            said = f"{GREY}{said}{GREY_END}"
        elif in_one_line and claim.citations:
            said = f"{CLAIM}{claim.citations[0]}{CLAIM_MARKER}{said}{CLAIM_END}"
        result.append(text[position:found] + said)
        position = end
        after = MARKERS_AFTER.match(text, end)
        if after and {int(number) for number in MARKER.findall(after[1])} <= set(claim.citations):
            result.append(text[end : after.start(1)] + MARKER.sub(_known, after[1]))
            position = after.end()
    result.append(text[position:])
    return "".join(result)


def join_markers(marked: str, documents: Mapping[int, str]) -> str:
    """Marked text that joins consecutive markers of one document, such as 2–5, at the end of the paragraph or list
    whose sentences they prove. `documents` maps each marker to its document."""
    result: list[str] = []
    position = first = 0
    matches = list(KNOWN_MARKER.finditer(marked))
    for match, after in zip(matches, [*matches[1:], None], strict=False):
        number = int(match[1])
        first = first or number
        before = marked[position : match.start()]
        position = match.end()
        if after and _are_consecutive(marked[position : after.start()], number, int(after[1]), documents):
            result.append(before.removesuffix(" "))
            if PRIVATE_MARKS.sub("", "".join(result[-2:]))[-1:] >= FULL_WIDTH:
                position += marked.startswith(" ", position)
            continue
        result += [before, f"{OPEN}{number if first == number else f'{first}–{number}'}{CLOSE}"]
        first = 0
    return "".join([*result, marked[position:]])


def _are_consecutive(between: str, number: int, after: int, documents: Mapping[int, str]) -> bool:
    is_one_paragraph = not between.strip(" ") or (ONE_SENTENCE.fullmatch(between) and "\n\n" not in between)
    return bool(is_one_paragraph) and after in (number, number + 1) and documents.get(number) == documents.get(after)


def render(
    marked: str, *, turn: int, label: str, quotes: Mapping[int, str] | None = None, unsupported: str = ""
) -> str:
    """Safe Markdown of marked text. `turn` keeps the links of repeated questions apart. A link's title is its quote, if
    known, else `label`, as in "source {number}"; `unsupported` is the title of unsupported claims. A link to anywhere
    but the web, such as a file beside the document, keeps only its text."""
    parts: list[str] = []
    position = 0
    for block in parse(marked):
        if block.kind is BlockKind.CODE:
            is_text = not block.level and len(block.indent.expandtabs(4)) >= INDENTED
            shown = _safe_text(marked[block.start : block.end]) if is_text else _safe_code(marked, block)
            parts += [_safe_prose(marked[position : block.start]), shown]
            position = block.end
    parts.append(_safe_prose(marked[position:]))

    def link(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2] or match[1])
        name = f"{first}–{last}" if last > first else str(first)
        place = f"{first}-{last}" if last > first else str(first)
        quote = (quotes or {}).get(first, "") + (" …" if quotes and last > first else "")
        return f'[{name}](#cite-{turn}-{place} "{plain(quote) or label.format(number=name)}")'

    linked = KNOWN_MARKER.sub(link, "".join(parts))
    greyed = GREYED.sub(rf'<span class="unsupported" title="{plain(unsupported)}">\1</span>', linked)
    said = CLAIM_OF.sub(rf'<span class="claim cite-{turn}-\1">\2</span>', greyed)
    return PRIVATE_MARKS.sub("", said)


def plain(text: str) -> str:
    """Text that Markdown shows literally, on one line: for titles and questions inside our own HTML."""
    return " ".join(without_private(text).translate(SIGNS).split())


def join_chunks(chunks: Iterable[str]) -> str:
    return "".join(mark_chunk(chunk) for chunk in chunks).strip()


def without_private(text: str) -> str:
    """The text without our bracket characters."""
    return PRIVATE.sub("", text)


def _known(match: re.Match[str]) -> str:
    return f"{OPEN}{match[1]}{CLOSE}"


def _safe_prose(marked: str) -> str:
    marked = LINK.sub(lambda match: match["verbatim"] or match["text"] or "", marked)
    parts: list[str] = []
    position = 0
    for match in VERBATIM.finditer(marked):
        parts += [_safe_text(marked[position : match.start()]), _safe_verbatim(match)]
        position = match.end()
    return "".join([*parts, _safe_text(marked[position:])])


def _safe_text(text: str) -> str:
    text = ADDRESS.sub(r"\1 ", text)
    return text.replace("![", "[").replace("<", "&lt;")


def _safe_verbatim(match: re.Match[str]) -> str:
    text = _without_marks(match[0])
    return _formula(text.replace("<", r"\lt ")) if match["formula"] else text


def _safe_code(marked: str, block: Block) -> str:
    """Fenced code with its end, which may not have arrived yet: our text below must not become code."""
    text = marked[block.start : block.end]
    if DIAGRAM.match(block.language):
        text = text.replace(block.language, DIAGRAM.sub("text", block.language), 1)
    text = _without_marks(text)
    if block.is_closed:
        return text
    fence = text[len(block.indent) :]
    ticks = fence[: len(fence) - len(fence.lstrip(fence[0]))]
    return f"{text.rstrip()}\n{block.indent}{ticks}"


def _without_marks(text: str) -> str:
    """Verbatim text: it cannot hold a link, so a marker stays as written."""
    return PRIVATE_MARKS.sub("", KNOWN_MARKER.sub(lambda match: match[0].replace(OPEN, "[").replace(CLOSE, "]"), text))


def _formula(text: str) -> str:
    left, right = DISPLAY if text.startswith(("$$", r"\[")) else INLINE
    width = 1 if text.startswith("$") and left == INLINE[0] else 2
    return left + text[width:-width] + right
