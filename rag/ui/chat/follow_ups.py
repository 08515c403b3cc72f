"""Suggestions after an answer: follow-ups that the cited pages name (their sections 追问 or "Follow-ups"), and other
parts of the page cited first."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from rag.language.headings import FOLLOW_UPS_BEGIN, FOLLOW_UPS_END, MARKED_QUESTION, QUESTION
from rag.language.language import Language, has_chinese, language_of
from rag.language.messages import MESSAGES, Intent
from rag.language.terms import fold
from rag.text.blocks import PROSE, Block, BlockKind
from rag.text.markdown import parse
from rag.text.roles import SectionRole, roles_in
from rag.types import Answer, AnswerKind, Citation

COUNT = 3
# Documents whose blocks are kept.
PAGES_KEPT = 64
MAX_CHARACTERS = 90
# Characters read after the heading of such a section.
REACH = 20_000


def follow_ups(answer: Answer, source_of: Callable[[str], str | None], asked: Sequence[str]) -> tuple[str, ...]:
    """Up to COUNT questions from the documents that an answer cites, in the order of its citations, without those
    already asked. None for a refusal or if the documents name none."""
    taken = {_same(question) for question in asked}
    result: list[str] = []
    for citation in _first_of_each(answer.citations):
        source = source_of(citation.document)
        for question in _named_by(source, citation.end, language_of(answer.question)) if source else ():
            if _same(question) not in taken and len(question) <= MAX_CHARACTERS:
                taken.add(_same(question))
                result.append(question)
    return tuple(result[:COUNT])


def offers(answer: Answer, source_of: Callable[[str], str | None], wanted: Intent | None) -> tuple[str, ...]:
    """Requests for more, the code and the mistakes of the page cited first, in a reader's words, if it has them and the
    answer did not just give them."""
    source = source_of(answer.citations[0].document) if answer.citations else None
    if source is None or answer.kind is not AnswerKind.ANSWER:
        return ()
    quoted = "\n".join(citation.quote for citation in answer.citations)
    headings = {heading.lower() for heading in _texts(source, BlockKind.HEADING)}
    has = {
        Intent.MORE: len(headings) > 2,
        Intent.CODE: any(code not in quoted for code in _texts(source, BlockKind.CODE)),
        Intent.MISTAKES: SectionRole.MISTAKES in roles_in(headings) and wanted is not Intent.MISTAKES,
    }
    return tuple(text for intent, text in MESSAGES[language_of(answer.question)].items() if has[intent])


def _named_by(source: str, position: int, language: Language) -> list[str]:
    """A document's follow-ups; for a question in English the English ones, if it has an English part."""
    if language is Language.EN:
        _, *translated = [h for h in _texts(source, BlockKind.HEADING) if h.endswith("?") and not has_chinese(h)] or [
            ""
        ]
        if translated:
            return translated
    return questions_after(source, position)


def questions_after(source: str, position: int) -> list[str]:
    """The questions of the first follow-up section after a position in a source, else of the last one."""
    sections = list(FOLLOW_UPS_BEGIN.finditer(source))
    if not sections:
        return []
    section = next((found for found in sections if found.end() > position), sections[-1])
    level = len(section["marks"] or section["english"] or "")
    text = source[section.end() : section.end() + REACH]
    return list(_questions(text, parse(text), level))


def _questions(text: str, blocks: Iterable[Block], level: int) -> Iterator[str]:
    """The questions of a section whose heading has `level` marks (0: a plain line): headings, list items, and lines
    marked as questions."""
    for block in blocks:
        if block.kind is BlockKind.HEADING and block.level <= (level or 6):
            return
        if block.kind is not BlockKind.HEADING and block.kind not in PROSE:
            continue
        is_marked = block.kind in (BlockKind.HEADING, BlockKind.LIST_ITEM)
        for number, line in enumerate(text[block.body_start : block.body_end].splitlines()):
            whole = f"{block.mark} {line}" if block.mark and not number else line
            if not level and FOLLOW_UPS_END.match(whole):
                return
            question = (QUESTION if is_marked and not number else MARKED_QUESTION).match(line)
            if question:
                yield " ".join(question[1].strip("* ").split())


def _first_of_each(citations: Iterable[Citation]) -> Iterator[Citation]:
    seen: set[str] = set()
    for citation in citations:
        if citation.document not in seen:
            seen.add(citation.document)
            yield citation


def _same(question: str) -> str:
    return "".join(character for character in fold(question) if character.isalnum())


def _texts(source: str, kind: BlockKind) -> list[str]:
    """The texts of a document's blocks of a kind."""
    return [source[block.body_start : block.body_end] for block in _blocks(source) if block.kind is kind]


@lru_cache(PAGES_KEPT)
def _blocks(source: str) -> tuple[Block, ...]:
    """The blocks of a document. Reading one takes some ten milliseconds."""
    return parse(source)
