"""The question bank: the questions that match the filter, each with its follow-ups."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rag.language.language import Language
from rag.practice.bank import Bank, Question
from rag.practice.schedule import Knowledge, is_reworded
from rag.ui.practice.actions import ALL
from rag.ui.practice.elements import HTML as ELEMENTS
from rag.ui.practice.resources import CardsAndJottings, PracticeMaterial
from rag.ui.session.practice import Filter, Standing
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/bank_view.html")
# Pairs of a badge's class in the style sheet and its label.
Badges = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question and those of its follow-ups that match the filter too."""

    question: Question
    follow_ups: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A question as shown in a list."""

    id: str
    text: str
    badges: Badges
    is_marked: bool


def fits(question: Question, wanted: Filter, kept: CardsAndJottings, now: datetime) -> bool:
    """Whether a question has the standing that the filter asks for, and a bookmark if the filter asks for one."""
    if wanted.bookmarked and not kept.jotting(question.id).bookmarked:
        return False
    match wanted.standing:
        case Standing.ALL:
            return True
        case Standing.DUE:
            card = kept.cards.get(question.id)
            return card is not None and card.due <= now
        case _:
            return kept.knowledge(question) == wanted.standing.value


def rows_of(bank: Bank, wanted: Filter, kept: CardsAndJottings, now: datetime) -> list[QuestionRow]:
    """The questions that match the filter, with follow-ups below their page's question if that matches too. A topic
    that no longer exists has no rows."""
    if wanted.topic is not None and wanted.topic not in bank.topics():
        return []
    every = bank.select(topic=wanted.topic, sought=wanted.words)
    found = {question.id: question for question in every if fits(question, wanted, kept, now)}
    below: dict[str, list[Question]] = {}
    for question in found.values():
        if question.parent in found:
            below.setdefault(question.parent, []).append(question)
    rows = [QuestionRow(q, tuple(below.get(q.id, ()))) for q in found.values() if q.parent not in found]
    if wanted.seed:
        random.Random(wanted.seed).shuffle(rows)
    return rows


def wording(question: Question, language: Language) -> str:
    """A question in the reader's language, if the material has a translation."""
    return question.english if language is Language.EN and question.english else question.text


def names_in(bank: Bank, language: Language) -> dict[str, str]:
    """The English of headings, for English readers; empty for others, since most pages are in Chinese."""
    if language is not Language.EN:
        return {}
    english = {question.text: question.english for question in bank.questions.values() if question.english}
    return english | {name: name for name in english.values()}


def bank_shell(material: PracticeMaterial, wanted: Filter, texts: Texts, language: Language) -> str:
    """The filter. The questions are a separate part, which changes as words are typed."""
    if not material.bank.questions:
        return ELEMENTS("empty", title=texts.view_bank, notice=texts.bank_empty)
    topics = [(texts.all_topics, ALL)]
    topics += [(material.topic(topic, language, texts.top), f"/{topic}") for topic in material.bank.topics()]
    topic = ALL if wanted.topic is None else f"/{wanted.topic}"
    return HTML("shell", wanted=wanted, topics=topics, topic=topic, standings=standings(texts), texts=texts)


def bank_part(
    rows: Sequence[QuestionRow], wanted: Filter, kept: CardsAndJottings, now: datetime, texts: Texts, language: Language
) -> str:
    """The list of questions."""

    def line(question: Question) -> Line:
        return line_of(question, kept, now, texts, language)

    return HTML(
        "part",
        rows=[(line(row.question), [line(one) for one in row.follow_ups]) for row in rows[: wanted.most]],
        count=sum(1 + len(row.follow_ups) for row in rows),
        left=len(rows) - wanted.most,
        # Readers who filter look for something, which a fold must not hide.
        unfolded=wanted.words or wanted.standing is not Standing.ALL or wanted.bookmarked,
        texts=texts,
    )


def line_of(question: Question, kept: CardsAndJottings, now: datetime, texts: Texts, language: Language) -> Line:
    is_marked = kept.jotting(question.id).bookmarked
    return Line(question.id, wording(question, language), badges(question, kept, now, texts), is_marked)


def standing_name(standing: Standing | Knowledge, texts: Texts) -> str:
    return str(getattr(texts, f"standing_{standing}"))


def standings(texts: Texts) -> list[tuple[str, str]]:
    """The standings as choices of a field: pairs of name and value."""
    return [(standing_name(standing, texts), str(standing)) for standing in Standing]


def badges(question: Question, kept: CardsAndJottings, now: datetime, texts: Texts) -> Badges:
    """Badges that say how well a question is known, whether it is due, and whether its answer has changed since."""
    card, knowledge = kept.cards.get(question.id), kept.knowledge(question)
    named = [(str(knowledge), standing_name(knowledge, texts))]
    if card is not None and card.due <= now:
        named.append(("due", texts.standing_due))
    if card is not None and is_reworded(card, question):
        named.append(("reworded", texts.reworded))
    return named
