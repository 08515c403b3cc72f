"""Sections -> passages within the token budget, cut at natural boundaries.

A question and its answer stay together while they fit; a longer answer is cut between its sections, then between
blocks, then between sentences. Each passage knows its heading path, which is embedded with it. Nothing overlaps: every
line is in one passage.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain

from ingest.structure.large_blocks import between, count_tokens, cut_part
from ingest.structure.sections import Part, Section, StructuredDocument, cut_out, put_together
from rag.language.language import Language, language_of
from rag.language.numbering import without_numbering
from rag.language.terms import simplified
from rag.text.blocks import Block, BlockKind
from rag.text.mapped import MappedText
from rag.text.roles import translation_of

# Sections smaller than this say too little on their own; they join a neighbour of the same parent.
SMALL_PASSAGE_TOKENS = 40
# Tokens of the title and the headings above a passage, and of the other ways to ask its page's question.
HEADER_TOKENS = 96
ALSO_ASKED_TOKENS = 288


@dataclass(frozen=True, slots=True)
class Draft:
    """A passage before it has a number. `header` is the context that is embedded before its text."""

    section: tuple[str, ...]
    content: MappedText
    header: str
    blocks: tuple[Block, ...] = ()

    @property
    def embedded_text(self) -> str:
        """The heading path, then the text, in simplified script."""
        return simplified(f"{self.header}\n{self.content.text}" if self.header else self.content.text)


def cut(document: StructuredDocument, *, budget: int, also_asked: Sequence[str] = ()) -> list[Draft]:
    """The passages of a document, in order. `budget` is in tokens.

    `also_asked`, other ways to ask its question, are added to the header of the first passage; those in the language of
    a translation are added to that translation's first passage.
    """
    drafts = [_draft(document.title, path, parts) for path, parts in _pack(document.root, (), budget)]
    # A section without letters or digits is not a passage; a part without any is one if its section has some.
    bodies = [_body(draft) for draft in drafts]
    saying = {draft.section for draft, body in zip(drafts, bodies, strict=True) if any(map(str.isalnum, body))}
    said = [
        draft
        for draft, body in zip(drafts, bodies, strict=True)
        if draft.content.spans and draft.section in saying and body
    ]
    # A document of headings alone has them as passages.
    drafts = said or [draft for draft in drafts if any(map(str.isalnum, draft.content.text))]
    begun: set[Language | None] = set()
    for place, draft in enumerate(drafts):
        language = translation_of(draft.section)
        if place and (language is None or language in begun):
            continue
        begun.add(language)
        drafts[place] = _asked(draft, [way for way in also_asked if language in (None, language_of(way))])
    return drafts


def _draft(title: str, path: tuple[str, ...], parts: Sequence[Part]) -> Draft:
    content, blocks = put_together(parts)
    return Draft(path, content, _header(title, path), blocks)


def bare_headings(document: StructuredDocument, drafts: Sequence[Draft]) -> tuple[str, ...]:
    """The headings without text below them that are in no passage."""
    names = dict.fromkeys(section.name for section in document.root.walk() if section.head is not None)
    said = {name for draft in drafts for name in draft.section}
    return tuple(name for name in names if name not in said and not any(name in draft.content.text for draft in drafts))


def _asked(draft: Draft, ways: Sequence[str]) -> Draft:
    if not ways:
        return draft
    return replace(draft, header=" / ".join([draft.header, _shorten(" / ".join(ways), ALSO_ASKED_TOKENS)]))


def split_draft(draft: Draft, fits: Callable[[str], bool]) -> list[Draft]:
    """Halve a draft until each part's embedded text fits the embedder; a header that leaves no room is shortened."""
    if fits(draft.embedded_text) or len(draft.content) < 2:
        return [draft]
    header = draft.header
    while header and not fits(header * 2):
        header = header[: len(header) // 2]
    size = len(draft.content)
    blocks = draft.blocks or (Block(0, size, BlockKind.PARAGRAPH, 0, size),)
    halves = _group([cut_out(draft.content, block) for block in blocks], max(1, count_tokens(draft.content.text) // 2))
    if len(halves) < 2:
        halves = [between(draft.content, blocks, *half) for half in ((0, size // 2), (size // 2, size))]
    smaller = (Draft(draft.section, content, header, blocks) for content, blocks in map(put_together, halves))
    return [piece for part in smaller if part.content.spans for piece in split_draft(part, fits)]


def _header(title: str, path: Sequence[str]) -> str:
    names: list[str] = []
    for name in (title, *path):
        plain = without_numbering(name)
        # A title that is only a number or a date, from the file's name, does not say what the document is about.
        if plain not in names and any(map(str.isalpha, plain)):
            names.append(plain)
    return _shorten(" > ".join(names), HEADER_TOKENS)


def _shorten(text: str, tokens: int) -> str:
    while count_tokens(text) > tokens:
        text = text[: max(1, len(text) * tokens // (count_tokens(text) + 1))]
    return text


def _body(draft: Draft) -> str:
    """The text without its headings; empty for a heading alone, such as a question whose answer was left out."""
    body = draft.content.text
    for heading in draft.section:
        body = body.replace(heading, "", 1)
    return body.strip("#* \n")


def _pack(section: Section, above: tuple[str, ...], budget: int) -> list[tuple[tuple[str, ...], list[Part]]]:
    path = (*above, section.name) if section.head is not None else above
    whole = list(chain.from_iterable(part.own_parts for part in section.walk()))
    has_questions = any(child.is_question for child in section.walk() if child is not section)
    if not has_questions and section.head is not None and _fit(whole, budget):
        return [(path, whole)]
    packed: list[tuple[tuple[str, ...], list[Part]]] = []
    if section.parts:
        packed += [(path, parts) for parts in _group(section.own_parts, budget)]
    for child in section.children:
        below = _pack(child, path, budget)
        if (
            len(below) == 1
            and packed
            and not child.is_question
            and below[0][0][:-1] == path
            and packed[-1][0][: len(path)] == path
        ):
            before, after = packed[-1][1], below[0][1]
            # Under a heading shared with other sections, the end of a longer section would lose its own heading.
            is_whole = packed[-1][0] == path or before[0].block.kind is BlockKind.HEADING
            is_small = any(_fit(parts, SMALL_PASSAGE_TOKENS - 1) for parts in (before, after))
            if is_whole and is_small and _fit([*before, *after], budget):
                packed[-1] = (path, [*before, *after])
                continue
        packed += below
    return packed


def _fit(parts: Sequence[Part], budget: int) -> bool:
    """Whether parts, joined by line breaks, have at most `budget` tokens. No token goes on after a line break but with
    blank lines, with which no part begins."""
    last = len(parts) - 1
    sizes = (count_tokens(part.content.text + "\n" * (place < last)) for place, part in enumerate(parts))
    return all(size <= budget for size in accumulate(sizes))


def _group(parts: Sequence[Part], budget: int) -> list[list[Part]]:
    """Neighbouring blocks in groups of about equal size within the budget; a list item stays with the first of what is
    nested in it."""
    pieces = [piece for part in parts for piece in cut_part(part, budget)]
    total = sum(size for _, size in pieces)
    count = max(1, -(-total // budget))
    groups: list[list[Part]] = [[]]
    filled = 0
    for place, (piece, size) in enumerate(pieces):
        balanced = len(groups) < count and filled + size / 2 > total / count
        if groups[-1] and (filled + size > budget or balanced):
            above = _items_above(groups[-1], piece)
            filled = sum(size for _, size in pieces[place - above : place])
            if filled + size > budget:
                above = filled = 0
            cut = len(groups[-1]) - above
            groups[-1:] = [groups[-1][:cut], groups[-1][cut:]]
        groups[-1].append(piece)
        filled += size
    return [group for group in groups if group]


def _items_above(group: Sequence[Part], piece: Part) -> int:
    """How many list items at the end of a group have nothing below them but the next, and so on down to `piece`."""
    count, below = 0, piece.block
    for part in reversed(group):
        above = part.block
        is_nested = below.level > above.level or (below.level == above.level and not below.mark)
        if not (above.mark and below.kind is not BlockKind.HEADING and is_nested):
            break
        count, below = count + 1, above
    return count
