"""A mock interview: its setup, and the current question. No grade is shown before the report."""

from collections.abc import Sequence
from datetime import datetime

from rag.language.language import Language
from rag.practice.bank import Question
from rag.practice.rounds import Level, Round
from rag.ui.practice.bank_view import asked
from rag.ui.practice.elements import ago, percent
from rag.ui.practice.report_view import score_of_round
from rag.ui.session.practice import Practice
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/interview_view.html")
COUNTS = range(5, 9)
# Number of reports listed.
SHOWN = 20


def setup_shell(topics: Sequence[tuple[str, str]], texts: Texts) -> str:
    levels = [(str(getattr(texts, f"level_{level}")), str(level)) for level in Level]
    return HTML("setup", topics=topics, levels=levels, level=Level.STANDARD, numbers=COUNTS, texts=texts)


def rounds_part(
    rounds: Sequence[Round], names: dict[str | None, str], now: datetime, practice: Practice, texts: Texts
) -> str:
    """The rounds so far, newest first; empty if there are none. `names` maps topics to their names."""
    listed = [(round, _told(round, names, now, practice, texts)) for round in rounds[:SHOWN]]
    return HTML("rounds", listed=listed, texts=texts)


def round_shell(round: Round, question: Question, draft: str, texts: Texts, language: Language) -> str:
    place = texts.place.format(place=len(round.answered) + 1, count=round.count)
    return HTML("shell", question=question, text=asked(question, language), place=place, draft=draft, texts=texts)


def _told(round: Round, names: dict[str | None, str], now: datetime, practice: Practice, texts: Texts) -> str:
    if round.is_finished:
        so_far = texts.score.format(score=percent(score_of_round(round)))
    else:
        so_far = texts.answered_of.format(done=len(round.answered), count=round.count)
    topic = names.get(round.topic, round.topic or "")
    when = ago(round.begun, now, practice, texts)
    return " · ".join((when, topic, str(getattr(texts, f"level_{round.level}")), so_far))
