"""Headings by their looks alone: short lines of their own, larger than the text or bold."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.office.word.blocks import NO_LEVEL, Block, Paragraph, Table
from rag.language.ends import PROSE
from rag.language.numbering import CHINESE_NUMBER, CHINESE_ORDINAL
from rag.text.blocks import columns

# In columns of a terminal: the longest heading, and the longest that is only bold.
LONGEST, LONGEST_BOLD = 70, 44
# How much larger than the text a heading is.
LARGER = 1.12
# How many lines must look alike if only bold distinguishes them from the text.
LEAST_ALIKE = 2
# The kinds of numbers of headings: 第三章, 三、, （三）, 3.1, (3), A., IV.
NUMBERS = (
    rf"{CHINESE_ORDINAL}[^\s\d]", rf"{CHINESE_NUMBER}{{1,4}}[、.．]", rf"[（(]{CHINESE_NUMBER}{{1,4}}[)）]",
    r"\d{1,2}(?:\.\d{1,2}){2,}", r"\d{1,2}\.\d{1,2}(?!\d)",
    r"\d{1,2}(?:[、.．]|\s)", r"[（(]\d{1,2}[)）]", r"[A-Z][、.．)）]", r"[IVX]{1,5}[、.．]", r"[\u2460-\u2473]",
)  # fmt: skip
NUMBER_KINDS = tuple(re.compile(pattern) for pattern in NUMBERS)

# The look of the headings of one level: size, and kind of number.
Kind = tuple[int, int]


def find_headings(blocks: Sequence[Block]) -> None:
    """Give a level to the paragraphs that are headings by their looks. Below a marked heading, they are deeper than
    it."""
    said = [one for one in blocks if not isinstance(one, Paragraph) or one.text.strip()]
    body, is_bold = _body_of(said)
    candidates: list[tuple[int, Paragraph, bool]] = []
    for place, one in enumerate(said):
        if isinstance(one, Paragraph) and _is_line(one):
            is_larger = one.size >= LARGER * body
            if is_larger or (
                one.is_bold and not is_bold and one.size >= body and columns(one.bare.strip()) <= LONGEST_BOLD
            ):
                candidates.append((place, one, is_larger))
    chosen = _followed(said, _with_company(candidates, said))
    if chosen:
        _give_levels(said, chosen)


def _body_of(blocks: Sequence[Block]) -> tuple[int, bool]:
    """The size of most of the text, and whether most of it is bold. Possible headings count only if there is nothing
    else."""
    plain = [one for one in blocks if isinstance(one, Paragraph) and one.level >= NO_LEVEL and not one.is_code]
    sizes: Counter[int] = Counter()
    bold: Counter[bool] = Counter()
    for one in [one for one in plain if not _is_line(one)] or plain:
        sizes[one.size] += len(one.text)
        bold[one.is_bold] += len(one.text)
    return (sizes.most_common(1)[0][0] if sizes else 0), bold[True] > bold[False]


def _is_line(paragraph: Paragraph) -> bool:
    text = paragraph.bare.strip()
    is_bullet = paragraph.label is not None and not paragraph.label.text
    return (
        paragraph.level >= NO_LEVEL
        and not is_bullet
        and not paragraph.is_code
        and "\n" not in text
        and "$" not in text
        and any(map(str.isalpha, text))
        and columns(text) <= LONGEST
        and not PROSE.search(text)
    )


def _kind(paragraph: Paragraph) -> Kind:
    text = paragraph.labelled
    return paragraph.size, next((n for n, one in enumerate(NUMBER_KINDS) if one.match(text)), len(NUMBER_KINDS))


def _with_company(candidates: Sequence[tuple[int, Paragraph, bool]], blocks: Sequence[Block]) -> dict[int, Paragraph]:
    """The candidates that are larger; or, if merely bold, a centred first line, numbered, or one of several that look
    alike and precede text, or a table where others precede text."""
    chosen: dict[int, Paragraph] = {}
    places = {place for place, _, _ in candidates}
    before_text = [
        (place, one)
        for place, one, _ in candidates
        if place + 1 < len(blocks) and place + 1 not in places and _is_plain_text(blocks[place + 1])
    ]
    alike = Counter(_kind(one) for _, one in before_text)
    stands = {place for place, _ in before_text}
    alike_ones = [place for place, one, _ in candidates if alike[_kind(one)] >= LEAST_ALIKE]
    stands |= {place for place in alike_ones if place + 1 < len(blocks) and isinstance(blocks[place + 1], Table)}
    for place, one, is_larger in candidates:
        is_numbered = _kind(one)[1] < len(NUMBER_KINDS)
        is_title = one.is_centred and place == 0
        is_above_another = is_numbered and place + 1 in places  # 一、 above （一）
        has_company = place in stands and (is_numbered or alike[_kind(one)] >= LEAST_ALIKE)
        if is_larger or is_title or has_company or is_above_another:
            chosen[place] = one
    return chosen


def _is_plain_text(block: Block) -> bool:
    return isinstance(block, Paragraph) and block.level >= NO_LEVEL and not block.is_bold and not block.is_code


def _followed(blocks: Sequence[Block], chosen: dict[int, Paragraph]) -> dict[int, Paragraph]:
    """The headings with something below them: text, or a heading of another look that is not larger."""
    kept: dict[int, Paragraph] = {}
    for place, one in sorted(chosen.items(), reverse=True):
        below = blocks[place + 1] if place + 1 < len(blocks) else None
        if below is None or (isinstance(below, Paragraph) and below.level < NO_LEVEL):
            continue
        if place + 1 in chosen and (
            place + 1 not in kept or _kind(chosen[place + 1]) == _kind(one) or chosen[place + 1].size > one.size
        ):
            continue
        kept[place] = one
    return kept


def _give_levels(blocks: Sequence[Block], chosen: dict[int, Paragraph]) -> None:
    """Rank larger headings above smaller ones and, in one size, each kind of number above those that come later."""
    marked = [n for n, one in enumerate(blocks) if isinstance(one, Paragraph) and one.level < NO_LEVEL]
    for start, end in pairwise([-1, *marked, len(blocks)]):
        within = [chosen[place] for place in range(start + 1, end) if place in chosen]
        kinds = sorted(dict.fromkeys(map(_kind, within)), key=lambda kind: -kind[0])
        head = blocks[start] if start >= 0 else None
        above = head.level if isinstance(head, Paragraph) else -1
        for one in within:
            one.become_heading(min(above + 1 + kinds.index(_kind(one)), NO_LEVEL - 1))
