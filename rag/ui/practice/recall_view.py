"""Recall cards: a question, a timer, as much of the answer as the reader asks for, and a rating."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from rag.language.language import Language
from rag.practice.bank import Question
from rag.practice.schedule import Rating
from rag.ui.practice.bank_view import asked, badges, standings
from rag.ui.practice.resources import CardsAndJottings
from rag.ui.session.practice import Practice, Standing
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/recall_view.html")
COUNTS = (10, 20, 40)


def setup_shell(topics: Sequence[tuple[str, str]], due: int, texts: Texts) -> str:
    """The form that selects the cards. `topics` are pairs of name and value."""
    standing = Standing.DUE if due else Standing.ALL
    return HTML("setup", topics=topics, standings=standings(texts), standing=standing, numbers=COUNTS, texts=texts)


def card_shell(question: Question, topic: str, practice: Practice, texts: Texts, language: Language) -> str:
    place = texts.place.format(place=practice.dealt - len(practice.deck) + 1, count=practice.dealt)
    return HTML("shell", question=asked(question, language), topic=topic, place=place, texts=texts)


def card_part(
    question: Question, kept: CardsAndJottings, names: Mapping[str, str], now: datetime, practice: Practice,
    texts: Texts,
) -> str:  # fmt: skip
    """The part of the answer that is shown, and the buttons. `names` maps headings to the reader's language."""
    named = badges(question, kept, now, texts)
    return HTML(
        "part", question=question, named=named, reveal=practice.reveal, ratings=list(Rating), names=names, texts=texts
    )


def done_shell(practice: Practice, texts: Texts) -> str:
    return HTML("done", told=texts.deck_done.format(count=practice.dealt), texts=texts)
