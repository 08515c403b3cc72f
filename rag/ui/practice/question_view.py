"""One question: the box for an attempt, what the material answers, and what a reader keeps about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rag.language.language import Language
from rag.practice.bank import Question, QuestionKind
from rag.practice.schedule import Review
from rag.ui.practice.bank_view import asked, badges, bookmark
from rag.ui.practice.elements import (
    ago,
    button,
    day,
    heading,
    hint,
    named_question,
    percent,
    prose,
    source_button,
    submit,
    text_box,
)
from rag.ui.practice.resources import Kept
from rag.ui.readable import text_of
from rag.ui.session.practice import Practice
from rag.ui.texts import Texts

# Earlier attempts that are listed.
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what is known of it; `reviews` are its own, oldest first."""

    question: Question
    topic: str
    kept: Kept
    reviews: Sequence[Review]
    now: datetime


def question_shell(item: Asked, practice: Practice, texts: Texts, language: Language) -> str:
    question, back = item.question, getattr(texts, f"view_{practice.back}")
    kind = f" · {text_of(texts.follow_up)}" if question.kind is QuestionKind.FOLLOW_UP else ""
    jotting = item.kept.jotting(question.id)
    place = practice.place(question)
    onward = button("next", texts.next_question) if place < len(practice.queue) else ""
    counted = text_of(texts.place.format(place=place, count=len(practice.queue))) if place else ""
    box = text_box("attempt", question.id, texts.attempt, jotting.draft, rows=8, placeholder=texts.attempt_hint)
    return (
        f'<p class="crumbs">{button("go", f"← {back}", practice.back, style="quiet")} '
        f"{text_of(item.topic)}{kind} <span>{counted}</span></p>"
        f'<div class="line">{bookmark(question, item.kept, texts, language)}{heading(asked(question, language))}</div>'
        f'<p class="badges">{badges(question, item.kept, item.now, texts)} {_last(item, practice, texts)}</p>'
        f'<form class="attempt" data-act="grade">{box}{named_question(question.id)}'
        f'<div class="buttons">{submit(texts.grade)}{onward}<span class="hint">{text_of(texts.grade_keys)}</span>'
        "</div></form>"
        f"{answer_details(question, texts)}{_jottings(item, texts)}{_earlier(item, practice, texts)}"
    )


def answer_details(question: Question, texts: Texts) -> str:
    """What the material answers, folded."""
    short = f"<h3>{text_of(texts.short_answer)}</h3>{prose(question.short.quote)}" if question.short else ""
    return (
        f'<details class="answer"><summary>{text_of(texts.show_answer)}</summary>{short}'
        f"<h3>{text_of(texts.full_answer)}</h3>{prose(question.answer.quote)}"
        f"<p>{source_button(question.answer, texts)}</p></details>"
    )


def _last(item: Asked, practice: Practice, texts: Texts) -> str:
    """When the question is due again, and the last score."""
    card = item.kept.cards.get(item.question.id)
    told = [texts.next_due.format(when=day(card.due, item.now, practice, texts))] if card is not None else []
    scored = next((review for review in reversed(item.reviews) if review.score is not None), None)
    if scored is not None and scored.score is not None:
        told.append(texts.last_score.format(score=percent(scored.score)))
    return f'<span class="hint">{text_of(" · ".join(told))}</span>' if told else ""


def _jottings(item: Asked, texts: Texts) -> str:
    """What is written here is kept as it is typed."""
    question, jotting = item.question, item.kept.jotting(item.question.id)
    boxes = "".join(
        text_box(field, question.id, label, text, rows=4)
        for field, label, text in (
            ("version", texts.my_version, jotting.version),
            ("note", texts.note, jotting.note),
        )
    )
    written = " ✎" if jotting.version or jotting.note else ""
    opened = " open" if jotting.version or jotting.note else ""
    return (
        f'<details class="jottings"{opened}><summary>{text_of(texts.jottings)}{written}</summary>'
        f"{boxes}{hint(texts.jottings_hint)}</details>"
    )


def _earlier(item: Asked, practice: Practice, texts: Texts) -> str:
    attempts = [review for review in reversed(item.reviews) if review.attempt][:SHOWN]
    if not attempts:
        return ""
    items = "".join(
        f"<li><b>{text_of(ago(review.at, item.now, practice, texts))} · {percent(review.score or 0)}</b>"
        f'<p class="typed">{text_of(review.attempt)}</p></li>'
        for review in attempts
    )
    return f'<details class="earlier"><summary>{text_of(texts.earlier)}</summary><ul>{items}</ul></details>'
