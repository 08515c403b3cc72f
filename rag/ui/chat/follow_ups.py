"""Suggestions after an answer: follow-ups that the cited pages name (their sections 追问 or "Follow-ups"), and other
parts of the page cited first."""

from collections.abc import Iterable, Iterator, Sequence

from rag.language.language import Language, has_chinese, language_of
from rag.language.messages import MESSAGES, Intent
from rag.language.terms import fold
from rag.text.page import FollowUps, Outline, PageOf
from rag.text.roles import SectionRole
from rag.types import Answer, AnswerKind, Citation

COUNT = 3
MAX_CHARACTERS = 90


def follow_ups(answer: Answer, page_of: PageOf, asked: Sequence[str]) -> tuple[str, ...]:
    """Up to COUNT questions from the documents that an answer cites, in the order of its citations, without those
    already asked. None for a refusal or if the documents name none."""
    taken = {_same(question) for question in asked}
    result: list[str] = []
    for citation in _first_of_each(answer.citations):
        page = page_of(citation.document)
        for question in _named_by(page.outline, citation.end, language_of(answer.question)) if page else ():
            if _same(question) not in taken and len(question) <= MAX_CHARACTERS:
                taken.add(_same(question))
                result.append(question)
    return tuple(result[:COUNT])


def offers(answer: Answer, page_of: PageOf, wanted: Intent | None) -> tuple[str, ...]:
    """Requests for more, the code and the mistakes of the page cited first, in a reader's words, if it has them and the
    answer did not just give them."""
    page = page_of(answer.citations[0].document) if answer.citations else None
    if page is None or answer.kind is not AnswerKind.ANSWER:
        return ()
    source, outline = page
    quoted = "\n".join(citation.quote for citation in answer.citations)
    has = {
        Intent.MORE: len({section.heading.lower() for section in outline.sections if section.path}) > 2,
        Intent.CODE: any(source[start:end] not in quoted for start, end in outline.code),
        Intent.MISTAKES: wanted is not Intent.MISTAKES
        and any(SectionRole.MISTAKES in section.roles for section in outline.sections),
    }
    return tuple(text for intent, text in MESSAGES[language_of(answer.question)].items() if has[intent])


def _named_by(outline: Outline, position: int, language: Language) -> Sequence[str]:
    """A document's follow-ups; for a question in English the English ones, if it has an English part."""
    if language is Language.EN:
        headings = [section.heading for section in outline.sections]
        if translated := [name for name in headings if name.endswith("?") and not has_chinese(name)][1:]:
            return translated
    return questions_after(outline.follow_ups, position)


def questions_after(sections: Sequence[FollowUps], position: int) -> Sequence[str]:
    """The questions of the first section of follow-ups after a position in a source, else of the last one."""
    after = (section for section in sections if section.heading_end > position)
    return next(after, sections[-1]).questions if sections else ()


def _first_of_each(citations: Iterable[Citation]) -> Iterator[Citation]:
    seen: set[str] = set()
    for citation in citations:
        if citation.document not in seen:
            seen.add(citation.document)
            yield citation


def _same(question: str) -> str:
    return "".join(character for character in fold(question) if character.isalnum())
