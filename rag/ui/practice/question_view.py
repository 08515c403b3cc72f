"""One question: the box for an attempt, the material's answer, and the reader's notes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rag.language.language import Language
from rag.practice.bank import Question
from rag.practice.schedule import CardReview
from rag.ui.practice.bank_view import line_of
from rag.ui.practice.elements import ago, day, percent
from rag.ui.practice.resources import CardsAndJottings
from rag.ui.session.practice import Practice
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/question_view.html")
# Number of earlier attempts listed.
SHOWN = 5


@dataclass(frozen=True, slots=True)
class QuestionWithProgress:
    """A question with the reader's progress on it. `reviews` are its reviews, oldest first; `names` maps headings to
    the reader's language."""

    question: Question
    topic: str
    progress: CardsAndJottings
    reviews: Sequence[CardReview]
    now: datetime
    names: Mapping[str, str]


def question_shell(item: QuestionWithProgress, practice: Practice, texts: Texts, language: Language) -> str:
    place = practice.place(item.question)
    attempts = [review for review in reversed(item.reviews) if review.attempt][:SHOWN]
    return HTML(
        "shell",
        item=item,
        line=line_of(item.question, item.progress, item.now, texts, language),
        back=practice.back,
        place=place,
        count=len(practice.queue),
        has_next=place < len(practice.queue),
        last=_last(item, practice, texts),
        jotting=item.progress.jotting(item.question.id),
        earlier=[(ago(r.at, item.now, practice, texts), percent(r.score or 0), r.attempt) for r in attempts],
        texts=texts,
    )


def _last(item: QuestionWithProgress, practice: Practice, texts: Texts) -> str:
    """When the question is due again, and the last score."""
    card = item.progress.cards.get(item.question.id)
    parts = [texts.next_due.format(when=day(card.due, item.now, practice, texts))] if card is not None else []
    scored = next((review for review in reversed(item.reviews) if review.score is not None), None)
    if scored is not None and scored.score is not None:
        parts.append(texts.last_score.format(score=percent(scored.score)))
    return " · ".join(parts)
