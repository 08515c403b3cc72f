"""Removes what scraping adds to a page and repairs what it breaks; every character left keeps its place.

Removals are reported line by line.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from ingest.formats.encoding import CHINESE
from ingest.structure.lines import Line
from ingest.structure.scraped.code_blocks import fence_code, split_glued_fence
from ingest.structure.scraped.formulas import has_marked_threefold, keep_formulas_once
from rag.language.numbering import CHINESE_ITEM, LIST_NUMBER
from rag.text.mapped import MappedText
from rag.text.sentences import joint, unwrapped_lines

SCRAPED_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
FRAME = re.compile(
    r"^\s*(更多推荐|相关推荐|所有评论\s*[(（]\d+[)）]|最新评论|分享到.*|阅读全文|展开全文|版权声明.*|转载请注明.*)\s*$"
)
REFERENCE = re.compile(r"[(（]\[[^\][\n]{1,60}\]\[\d+\][)）]")
# Lines that beg for clicks, advertise or belong to the page's frame. Each alternative was seen on real pages; a text
# about scanning codes, or a 👉 before a point, does not count.
PROMOTION = re.compile(
    r"(扫一扫|长按|关注|保存|上方|下方|下面|文末|官方).{0,8}二维码|二维码.{0,8}(领取|获取|添加|进群|入群|免费)"
    r"|扫码.{0,8}(领取|获取|关注|添加|加群|加我|进群|入群|下载|免费)|二v码|微信扫|加微信|公众号回复|免费领取|免费分享|免费送|100%免费"
    r"|学习资源包|大礼包|资料包|点个收藏|点赞收藏|一键三连|求关注|上传CSDN|CSDN官方认证|🆓|👇\s*👇|👉.{0,16}👈|👉.{0,4}(获取|领取|点击)"
    r"|全套视频教程|学习路线大纲|篇幅有限.{0,20}(展示|分享|放)|(资源|面试题|项目实战)合集$|商业化落地方案$|\d{1,4}本.{0,12}书籍$"
)
# A longer line may be a whole text without line breaks: only its promoting sentences go.
MAX_PROMOTION = 200
SENTENCE = re.compile(r"[^。！？!?]*(?:[。！？!?]+|\Z)")
REFERENCE_LEFTOVER = re.compile(rf"(?:(?<!\s)\s+)?{REFERENCE.pattern}")
BOLD_PUNCTUATION = re.compile(r"(\*\*)[：:，,。；;](\*\*)")
ESCAPED = re.compile(r"\\(?=\*|_(?!\w)|#|\d+[.、])")
TRAILING_BULLET = re.compile(r"(?<=[^\s-])\s*-$")
GLUED_ITEM = re.compile(r"(?<=[。;；:：)）])\s*(?=- .{0,12}[\u4e00-\u9fff])")
LONE_BULLET = re.compile(r"^\s*[-*•·]\s*$")
BULLET = re.compile(rf"^\s*(?:[-*•·]|{LIST_NUMBER})\s")
NUMBERED = re.compile(rf"^\s*(?:#{{1,6}}\s|Q?\d{{1,3}}\s*[、.．:：]|{CHINESE_ITEM}|[(（]\d+[)）])")
CHAPTER = re.compile(rf"^\s*(?:{CHINESE_ITEM}|#{{1,3}}\s)")
FORMULA_MARK = re.compile(r"\\[A-Za-z]+|\b[A-Za-z]_\w\b")
# A line is repeated by the scraper when its list item holds code; the repeat follows within the item's own list.
REPEAT_WINDOW = 40
MAX_FORMULA_CHARACTERS = 1_000
# A sentence that inline code has broken into lines is shorter than this.
MAX_JOINED_CHARACTERS = 2_000


def is_scraped(name: str, lines: Iterable[Line]) -> bool:
    """Whether a document in Markdown is scraped, so that no other is repaired; texts without markup always are.

    Saved pages (.html) are; documents of other formats are if their lines outside of code have traces that nobody
    writes by hand: the frame of a page ("所有评论(12)"), formulas three times in a row, or the numbered references that
    a chat leaves behind.
    """
    if PurePosixPath(name).suffix.lower() in SCRAPED_SUFFIXES:
        return True
    prose = [line.text for line in lines if not line.is_code]
    return any(map(FRAME.match, prose)) or any(map(REFERENCE.search, prose)) or any(map(has_marked_threefold, prose))


def repair(lines: Sequence[Line], removed: list[str]) -> list[Line]:
    """The lines of scraped Markdown, repaired; `removed` gets what is left out."""
    weak = _has_threefold(lines)
    return _outside_code(_without_promotion(lines, removed), lambda line: _repair_line(line, weak=weak))


def repair_without_markup(raw: Sequence[MappedText], removed: list[str]) -> list[Line]:
    """The lines of a text without markup, which get back their fences and lists; `removed` gets what is left out."""
    lines = [piece for line in _without_promoting_chapters(raw, removed) for piece in split_glued_fence(line)]
    lines = [part for line in lines for whole in _split_trailing_bullet(line) for part in _split_glued_items(whole)]
    text = _without_promotion(map(Line, lines), removed)
    weak = _has_threefold(text)
    fenced = fence_code([line.content for line in text])
    whole = _join_wrapped(_outside_code(fenced, lambda line: _with_math(_repair_line(line, weak=weak))))
    return _drop_repeats(_join_broken_lines(_restore_lists(whole)), removed)


def _has_threefold(lines: Iterable[Line]) -> bool:
    return any(has_marked_threefold(line.text) for line in lines if not line.is_code)


def _join_wrapped(lines: Sequence[Line]) -> list[Line]:
    """Join lines of prose that were wrapped at a width."""
    result: list[Line] = []
    for run in _runs_of_prose(lines):
        place = 0
        for whole in unwrapped_lines([f"{line.text}\n" for line in run]):
            first, *more = run[place : place + whole.count("\n")]
            content = first.content
            for line in more:
                content = MappedText.join(joint(content.text, line.text), (content.strip(), line.content.strip()))
            result.append(replace(first, content=content))
            place += 1 + len(more)
    return result


def _runs_of_prose(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Runs of lines that may be one paragraph or list item; any other line by itself."""
    run: list[Line] = []
    for line in lines:
        is_prose = not line.is_code and bool(line.text.strip()) and not line.text.lstrip().startswith("|")
        if run and (not is_prose or any(mark.match(line.text) for mark in (BULLET, LONE_BULLET, NUMBERED))):
            yield run
            run = []
        if is_prose:
            run.append(line)
        else:
            yield [line]
    if run:
        yield run


def is_promotion(line: str) -> bool:
    return bool(PROMOTION.search(line) or FRAME.match(line))


def _without_promoting_chapters(lines: Sequence[MappedText], removed: list[str]) -> list[MappedText]:
    """Drop each chapter that is promotion: it has at least three promoting lines, and they are at least a sixth of it.
    A document of one chapter is never dropped."""
    starts = [0, *(index for index, line in enumerate(lines) if index and CHAPTER.match(line.text))]
    kept: list[MappedText] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        filled = [line.text for line in lines[start:end] if line.text.strip()]
        promoting = sum(is_promotion(text) for text in filled)
        is_chapter = len(starts) > 1 and bool(CHAPTER.match(lines[start].text))
        if is_chapter and promoting >= 3 and promoting * 6 >= len(filled):
            removed += filled
        else:
            kept += lines[start:end]
    return kept


def _without_promotion(lines: Iterable[Line], removed: list[str]) -> list[Line]:
    kept: list[Line] = []
    for line in lines:
        if line.is_code or not is_promotion(line.text):
            kept.append(line)
        elif len(line.text) <= MAX_PROMOTION:
            removed.append(line.text)
        else:
            begging = [found for found in SENTENCE.finditer(line.text) if is_promotion(found[0])]
            removed += (found[0] for found in begging)
            kept.append(Line(line.content.without(found.span() for found in begging)))
    return kept


def _split_trailing_bullet(line: MappedText) -> list[MappedText]:
    """`…中执行。 -`: the bullet of the next item was glued to the end of this line."""
    text = line.text.rstrip()
    match = TRAILING_BULLET.search(text)
    if match is None or re.fullmatch(r"[-|: ]+", text.strip()):
        return [line]
    return [line[: match.start()], line[len(text) - 1 : len(text)]]


def _split_glued_items(line: MappedText) -> list[MappedText]:
    """`调用 f(); - 沿着指针回溯;`: the line break before the next item was lost."""
    if line.text.startswith("|"):
        return [line]
    cuts = [match.span() for match in GLUED_ITEM.finditer(line.text)]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(line)]
    return [line[start:end] for start, end in zip(starts, ends, strict=True)]


def _outside_code(lines: Iterable[Line], repair: Callable[[MappedText], MappedText]) -> list[Line]:
    return [line if line.is_code else Line(repair(line.content)) for line in lines]


def _repair_line(line: MappedText, *, weak: bool) -> MappedText:
    for pattern, group in ((REFERENCE_LEFTOVER, 0), (ESCAPED, 0)):
        line = line.without(match.span(group) for match in pattern.finditer(line.text))
    line = line.without(
        span for match in BOLD_PUNCTUATION.finditer(line.text) for span in (match.span(1), match.span(2))
    )
    return keep_formulas_once(line, weak=weak)


def _with_math(line: MappedText) -> MappedText:
    r"""`(\frac{a}{b})` has lost the backslashes of `\(…\)`: give it dollar signs so that it is set as a formula."""
    if ("\\" not in line.text and "_" not in line.text) or "$" in line.text or line.text.startswith("|"):
        return line
    parts: list[MappedText] = []
    position = 0
    for start, end in _brackets(line.text):
        if start < position or end - start > MAX_FORMULA_CHARACTERS:
            continue
        inner = line.text[start + 1 : end]
        if (
            CHINESE.search(inner)
            or "`" in inner
            or not FORMULA_MARK.search(inner)
            or (start and line.text[start - 1].isalnum() and not CHINESE.match(line.text[start - 1]))
        ):
            continue
        parts += [line[position:start], MappedText.added("$"), line[start + 1 : end].strip(), MappedText.added("$")]
        position = end + 1
    return MappedText.join("", [*parts, line[position:]]) if parts else line


def _brackets(text: str) -> list[tuple[int, int]]:
    """The positions of every pair of brackets, outer ones first."""
    pairs = []
    open_places = []
    for place, character in enumerate(text):
        if character == "(":
            open_places.append(place)
        elif character == ")" and open_places:
            pairs.append((open_places.pop(), place))
    return sorted(pairs)


def _restore_lists(lines: Sequence[Line]) -> list[Line]:
    """Join a lone `-` to the line after it."""
    result: list[Line] = []
    pending = False
    for line in lines:
        if line.is_code:
            pending = False
        elif LONE_BULLET.match(line.text):
            pending = True
            continue
        elif not line.text.strip():
            if pending:
                continue
        else:
            if pending and not BULLET.match(line.text) and not NUMBERED.match(line.text):
                line = Line(MappedText.added("- ") + line.content.strip())
            pending = False
        result.append(line)
    return result


def _drop_repeats(lines: Sequence[Line], removed: list[str]) -> list[Line]:
    """Drop list items that repeat an earlier one word for word a few lines on: they come from the scraper."""
    result: list[Line] = []
    recent: list[str] = []
    for line in lines:
        text = line.text.strip()
        if not line.is_code:
            if NUMBERED.match(text) and not BULLET.match(text):
                recent.clear()
            if text.startswith("- ") and _repeats(text, recent):
                removed.append(text)
                continue
            recent = [*recent[-REPEAT_WINDOW:], text]
        result.append(line)
    return result


def _repeats(text: str, recent: Sequence[str]) -> bool:
    if text in recent:
        return len(text) > 6  # `- 优点:` may head several lists
    return text[-1] not in ":：" and any(earlier.startswith(text) for earlier in recent)


def _join_broken_lines(lines: Sequence[Line]) -> list[Line]:
    """Join lines that were broken where inline code begins: `从 loss 调用` + `loss.backward();` is one sentence."""
    result: list[Line] = []
    for line in lines:
        text = line.text.strip()
        if (
            not line.is_code
            and result
            and not result[-1].is_code
            and len(result[-1].text) < MAX_JOINED_CHARACTERS
            and _continues(result[-1].text.strip(), text)
        ):
            separator = " " if text[0].isalnum() else ""
            result[-1] = Line(MappedText.join(separator, (result[-1].content, line.content.strip())))
        else:
            result.append(line)
    return result


def _continues(previous: str, text: str) -> bool:
    if not previous or not text or previous.startswith(("|", "#")) or NUMBERED.match(text) or BULLET.match(text):
        return False
    if text[0] in ")）];；,，。" or previous[-1] in "(（":
        return True
    starts_with_code = bool(re.match(r"[A-Za-z_`]", text)) and not re.match(r"[QA][:：]", text)
    long_enough = len(previous) >= 16 or previous.startswith("- ")
    return (
        starts_with_code
        and long_enough
        and bool(re.search(r"[\u4e00-\u9fff,，、]$", previous))
        and not NUMBERED.match(previous)
    )
