"""Recall cards: a question, a timer, as much of the answer as is asked for, and how well it was known."""

from collections.abc import Sequence
from datetime import datetime

from rag.language.language import Language
from rag.practice.bank import Question
from rag.practice.schedule import Rating
from rag.ui.practice.actions import ALL
from rag.ui.practice.bank_view import asked, badges
from rag.ui.practice.elements import button, checkbox, heading, hint, prose, select, source_button, submit, timer
from rag.ui.practice.resources import Kept
from rag.ui.readable import text_of
from rag.ui.session.practice import Practice, Reveal, Standing
from rag.ui.texts import Texts

COUNTS = (10, 20, 40)


def setup_shell(topics: Sequence[tuple[str, str]], standings: Sequence[tuple[str, str]], due: int, texts: Texts) -> str:
    """Which cards are dealt. `topics` are pairs of name and value."""
    chosen = str(Standing.DUE if due else Standing.ALL)
    return (
        f"{heading(texts.view_recall)}{hint(texts.recall_hint)}"
        f'<form class="filter" data-act="deal">{select("topic", texts.topic, topics, ALL)}'
        f"{select('standing', texts.standing, standings, chosen)}"
        f"{select('count', texts.how_many, [(str(count), str(count)) for count in COUNTS], str(COUNTS[0]))}"
        f"{checkbox('bookmarked', texts.bookmarked)}{checkbox('shuffled', texts.shuffled, checked=True)}"
        f'<div class="buttons">{submit(texts.start)}</div></form>'
    )


def card_shell(question: Question, topic: str, practice: Practice, texts: Texts, language: Language) -> str:
    place = texts.place.format(place=practice.dealt - len(practice.deck) + 1, count=practice.dealt)
    return (
        f'<p class="crumbs">{button("go", "← " + texts.end_deck, "recall", style="quiet")} {text_of(topic)} '
        f"<span>{text_of(place)}</span> {timer(texts)}</p>{heading(asked(question, language))}"
    )


def card_part(question: Question, kept: Kept, now: datetime, practice: Practice, texts: Texts) -> str:
    """What is shown of the answer, and what can be done."""
    shown, ways = "", ""
    if practice.reveal is Reveal.NOTHING and question.short is not None:
        ways += button("reveal", texts.show_short, str(Reveal.SHORT), style="lead-on", key=" ")
    if practice.reveal is not Reveal.FULL:
        key = "" if practice.reveal is Reveal.NOTHING and question.short is not None else " "
        ways += button("reveal", texts.show_full, str(Reveal.FULL), key=key)
    if practice.reveal is not Reveal.NOTHING and question.short is not None:
        shown += f"<h3>{text_of(texts.short_answer)}</h3>{prose(question.short.quote)}"
    if practice.reveal is Reveal.FULL:
        shown += f"<h3>{text_of(texts.full_answer)}</h3>{prose(question.answer.quote)}"
    if shown:
        shown += f"<p>{source_button(question.answer, texts)}</p>"
    rates = "".join(
        button("rate", str(getattr(texts, f"rating_{rating}")), str(rating), style=f"rate {rating}", key=str(number))
        for number, rating in enumerate(Rating, start=1)
    )
    rating = f'<div class="rates" role="group" aria-label="{text_of(texts.rate)}">{rates}</div>' if shown else ""
    return (
        f'<p class="badges">{badges(question, kept, now, texts)}</p><div class="buttons">{ways}</div>'
        f'<div class="revealed" aria-live="polite">{shown}</div>{rating}'
    )


def done_shell(practice: Practice, texts: Texts) -> str:
    ways = button("go", texts.again_deck, "recall", style="lead-on") + button("go", texts.view_progress, "progress")
    return (
        f"{heading(texts.view_recall)}<p>{text_of(texts.deck_done.format(count=practice.dealt))}</p>"
        f'<div class="buttons">{ways}</div>'
    )
