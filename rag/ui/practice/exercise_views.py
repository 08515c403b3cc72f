"""The exercises: recall cards, right or wrong, and mock interviews; each has a setup, its current item, and an end."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from rag.language.language import Language
from rag.practice.bank import Question
from rag.practice.rounds import Level, Round
from rag.practice.schedule import Rating
from rag.ui.practice.bank_view import badges, standings, wording
from rag.ui.practice.elements import ago, percent
from rag.ui.practice.report_view import score_of_round
from rag.ui.practice.resources import CardsAndJottings
from rag.ui.session.practice import Practice, Standing
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/exercise_views.html")

CARD_COUNTS = (10, 20, 40)


def recall_setup(topics: Sequence[tuple[str, str]], due: int, texts: Texts) -> str:
    """The form that selects the cards. `topics` are pairs of name and value."""
    standing = Standing.DUE if due else Standing.ALL
    return HTML(
        "recall_setup", topics=topics, standings=standings(texts), standing=standing, numbers=CARD_COUNTS, texts=texts
    )


def card_shell(question: Question, topic: str, practice: Practice, texts: Texts, language: Language) -> str:
    place = texts.place.format(place=practice.dealt - len(practice.deck) + 1, count=practice.dealt)
    return HTML("recall_shell", question=wording(question, language), topic=topic, place=place, texts=texts)


def card_part(
    question: Question, kept: CardsAndJottings, names: Mapping[str, str], now: datetime, practice: Practice,
    texts: Texts,
) -> str:  # fmt: skip
    """The part of the answer that is shown, and the buttons. `names` maps headings to the reader's language."""
    named = badges(question, kept, now, texts)
    return HTML(
        "recall_part",
        question=question,
        named=named,
        reveal=practice.reveal,
        ratings=list(Rating),
        names=names,
        texts=texts,
    )


def done_shell(practice: Practice, texts: Texts) -> str:
    return HTML("recall_done", notice=texts.deck_done.format(count=practice.dealt), texts=texts)


STATEMENT_COUNTS = (10, 20)


def statements_setup(topics: Sequence[tuple[str, str]], texts: Texts) -> str:
    return HTML("statement_setup", topics=topics, numbers=STATEMENT_COUNTS, texts=texts)


def statement_shell(practice: Practice, texts: Texts) -> str:
    """The statement to judge, or the one judged last."""
    number = len(practice.judged) - practice.is_told
    place = texts.place.format(place=number + 1, count=len(practice.statements))
    return HTML("statement_shell", statement=practice.statements[number], place=place, texts=texts)


def statement_part(practice: Practice, names: Mapping[str, str], texts: Texts) -> str:
    """The two verdicts; once one is given, the correction. `names` maps headings to the reader's language."""
    if not practice.is_told:
        return HTML("verdicts", texts=texts)
    number = len(practice.judged) - 1
    statement, was_right = practice.statements[number], practice.judged[number]
    is_last = number + 1 == len(practice.statements)
    return HTML("statement_told", statement=statement, was_right=was_right, is_last=is_last, names=names, texts=texts)


def result_shell(practice: Practice, names: Mapping[str, str], texts: Texts) -> str:
    """The number of statements judged correctly, and those that were not."""
    judged = list(zip(practice.statements, practice.judged, strict=False))
    missed = [statement for statement, was_right in judged if not was_right]
    notice = texts.statements_done.format(count=len(judged), right=len(judged) - len(missed))
    return HTML("statement_result", notice=notice, missed=missed, names=names, texts=texts)


QUESTION_COUNTS = range(5, 9)
# Number of reports listed.
ROUNDS_SHOWN = 20


def interview_setup(topics: Sequence[tuple[str, str]], texts: Texts) -> str:
    levels = [(str(getattr(texts, f"level_{level}")), str(level)) for level in Level]
    return HTML(
        "interview_setup", topics=topics, levels=levels, level=Level.STANDARD, numbers=QUESTION_COUNTS, texts=texts
    )


def rounds_part(
    rounds: Sequence[Round], names: dict[str | None, str], now: datetime, practice: Practice, texts: Texts
) -> str:
    """The rounds so far, newest first; empty if there are none. `names` maps topics to their names."""
    listed = [(round, _round_line(round, names, now, practice, texts)) for round in rounds[:ROUNDS_SHOWN]]
    return HTML("rounds", listed=listed, texts=texts)


def round_shell(round: Round, question: Question, draft: str, texts: Texts, language: Language) -> str:
    place = texts.place.format(place=len(round.answered) + 1, count=round.count)
    return HTML(
        "interview_shell", question=question, text=wording(question, language), place=place, draft=draft, texts=texts
    )


def _round_line(round: Round, names: dict[str | None, str], now: datetime, practice: Practice, texts: Texts) -> str:
    if round.is_finished:
        so_far = texts.score.format(score=percent(score_of_round(round)))
    else:
        so_far = texts.answered_of.format(done=len(round.answered), count=round.count)
    topic = names.get(round.topic, round.topic or "")
    when = ago(round.begun, now, practice, texts)
    return " · ".join((when, topic, str(getattr(texts, f"level_{round.level}")), so_far))
