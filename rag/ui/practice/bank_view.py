"""The question bank: the questions that fit, each with its follow-ups."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rag.language.language import Language
from rag.practice.bank import Bank, Question
from rag.practice.schedule import Knowledge, is_reworded
from rag.ui.practice.actions import ALL
from rag.ui.practice.elements import button, checkbox, heading, hint, select, words
from rag.ui.practice.resources import Kept, Material
from rag.ui.readable import text_of
from rag.ui.session.practice import Filter, Standing
from rag.ui.texts import Texts


@dataclass(frozen=True, slots=True)
class Row:
    """A question and those of its follow-ups that fit as well."""

    question: Question
    follow_ups: tuple[Question, ...] = ()


def fits(question: Question, wanted: Filter, kept: Kept, now: datetime) -> bool:
    """Whether a question stands as the filter says, and is bookmarked where that is asked for."""
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


def rows_of(bank: Bank, wanted: Filter, kept: Kept, now: datetime) -> list[Row]:
    """The questions that fit, follow-ups under the question of their page where that fits too. A topic that is gone
    holds nothing."""
    if wanted.topic is not None and wanted.topic not in bank.topics():
        return []
    every = bank.select(topic=wanted.topic, sought=wanted.words)
    found = {question.id: question for question in every if fits(question, wanted, kept, now)}
    below: dict[str, list[Question]] = {}
    for question in found.values():
        if question.parent in found:
            below.setdefault(question.parent, []).append(question)
    rows = [Row(q, tuple(below.get(q.id, ()))) for q in found.values() if q.parent not in found]
    if wanted.seed:
        random.Random(wanted.seed).shuffle(rows)
    return rows


def asked(question: Question, language: Language) -> str:
    """A question in the reader's language, where the material has it."""
    return question.english if language is Language.EN and question.english else question.text


def bank_shell(material: Material, wanted: Filter, texts: Texts, language: Language) -> str:
    """The filter; the questions are a part of their own, which changes while words are typed."""
    if not material.bank.questions:
        return heading(texts.view_bank) + hint(texts.bank_empty)
    named = {topic: material.topic(topic, language, texts.top) for topic in material.bank.topics()}
    choices = [(texts.all_topics, ALL), *((name, f"/{topic}") for topic, name in named.items())]
    topic = ALL if wanted.topic is None else f"/{wanted.topic}"
    standings = [(standing_name(standing, texts), str(standing)) for standing in Standing]
    search = (
        f'<label class="field grows"><span>{text_of(texts.search)}</span><input type="search" name="words"'
        f' maxlength="200" value="{text_of(wanted.words)}" placeholder="{text_of(texts.search_hint)}"></label>'
    )
    order = (
        button("shuffle", texts.shuffle_again if wanted.seed else texts.shuffle, "on")
        + (button("shuffle", texts.in_order, "off") if wanted.seed else "")
    )  # fmt: skip
    return (
        f"{heading(texts.view_bank)}"
        f'<form class="filter" data-act="filter" role="search">{search}'
        f"{select('topic', texts.topic, choices, topic)}"
        f"{select('standing', texts.standing, standings, str(wanted.standing))}"
        f"{checkbox('bookmarked', texts.bookmarked, checked=wanted.bookmarked)}"
        f'<div class="buttons">{order}</div></form>'
    )


def bank_part(rows: Sequence[Row], wanted: Filter, kept: Kept, now: datetime, texts: Texts, language: Language) -> str:
    """The list of questions."""
    if not rows:
        return hint(texts.none_fit)
    count = sum(1 + len(row.follow_ups) for row in rows)
    # Whoever filters looks for something; it must not hide in what is folded.
    unfolded = bool(wanted.words or wanted.standing is not Standing.ALL or wanted.bookmarked)
    items = "".join(_row(row, kept, now, texts, language, unfolded=unfolded) for row in rows[: wanted.most])
    left = len(rows) - wanted.most
    more = button("more", texts.more.format(count=left)) if left > 0 else ""
    told = text_of(texts.found.format(count=count))
    return f'<p class="hint" role="status">{told}</p><ol class="questions">{items}</ol>{more}'


def standing_name(standing: Standing | Knowledge, texts: Texts) -> str:
    return str(getattr(texts, f"standing_{standing}"))


def badges(question: Question, kept: Kept, now: datetime, texts: Texts) -> str:
    """How well a question is known, whether it is due, and whether its answer changed since."""
    card, knowledge = kept.cards.get(question.id), kept.knowledge(question)
    names = [(str(knowledge), standing_name(knowledge, texts))]
    if card is not None and card.due <= now:
        names.append(("due", texts.standing_due))
    if card is not None and is_reworded(card, question):
        names.append(("reworded", texts.reworded))
    return "".join(f'<span class="badge {name}">{text_of(shown)}</span>' for name, shown in names)


def question_link(question: Question, language: Language) -> str:
    """Opens a question."""
    text = asked(question, language)
    return button("open", text, question.id, style="question-link", html=words(text))


def bookmark(question: Question, kept: Kept, texts: Texts, language: Language) -> str:
    on = kept.jotting(question.id).bookmarked
    name = f"{texts.bookmark}: {asked(question, language)}"
    return button("bookmark", "★" if on else "☆", question.id, style="star", name=name, pressed=on)


def _row(row: Row, kept: Kept, now: datetime, texts: Texts, language: Language, *, unfolded: bool) -> str:
    below = ""
    if row.follow_ups:
        items = "".join(f"<li>{_line(one, kept, now, texts, language)}</li>" for one in row.follow_ups)
        summary = text_of(texts.follow_ups_count.format(count=len(row.follow_ups)))
        below = f"<details{' open' if unfolded else ''}><summary>{summary}</summary><ul>{items}</ul></details>"
    return f"<li>{_line(row.question, kept, now, texts, language)}{below}</li>"


def _line(question: Question, kept: Kept, now: datetime, texts: Texts, language: Language) -> str:
    return (
        f'<div class="line">{bookmark(question, kept, texts, language)}{question_link(question, language)}'
        f'<span class="badges">{badges(question, kept, now, texts)}</span></div>'
    )
