"""A mock interview: its setup, and the question that is asked now. No grade is shown before the report."""

from collections.abc import Sequence
from datetime import datetime

from rag.language.language import Language
from rag.practice.bank import Question
from rag.practice.rounds import Level, Round
from rag.ui.practice.actions import ALL
from rag.ui.practice.bank_view import asked
from rag.ui.practice.elements import (
    ago,
    button,
    heading,
    hint,
    named_question,
    percent,
    select,
    submit,
    text_box,
    timer,
)
from rag.ui.practice.report_view import score_of_round
from rag.ui.readable import text_of
from rag.ui.session.practice import Practice
from rag.ui.texts import Texts

COUNTS = range(5, 9)
# Reports that are listed.
SHOWN = 20


def setup_shell(topics: Sequence[tuple[str, str]], texts: Texts) -> str:
    levels = [(str(getattr(texts, f"level_{level}")), str(level)) for level in Level]
    counts = [(str(count), str(count)) for count in COUNTS]
    return (
        f"{heading(texts.view_interview)}{hint(texts.interview_hint)}"
        f'<form class="filter" data-act="begin">{select("topic", texts.topic, topics, ALL)}'
        f"{select('level', texts.level, levels, str(Level.STANDARD))}"
        f"{select('count', texts.how_many, counts, '6')}"
        f'<div class="buttons">{submit(texts.start)}</div></form>'
    )


def rounds_part(
    rounds: Sequence[Round], names: dict[str | None, str], now: datetime, practice: Practice, texts: Texts
) -> str:
    """The rounds so far, the newest first; those that are not finished can be gone on with. `names` are those of the
    topics."""
    if not rounds:
        return ""
    items = "".join(f"<li>{_round(one, names, now, practice, texts)}</li>" for one in rounds[:SHOWN])
    return f'<h3>{text_of(texts.rounds)}</h3><ul class="rounds">{items}</ul>'


def round_shell(round: Round, question: Question, draft: str, texts: Texts, language: Language) -> str:
    """The question that is asked now. The box belongs to this round: an attempt that was not sent survives a reload."""
    place = texts.place.format(place=len(round.answered) + 1, count=round.count)
    box = text_box("attempt", question.id, texts.attempt, draft, rows=9, placeholder=texts.attempt_hint)
    return (
        f'<p class="crumbs">{text_of(texts.view_interview)} <span>{text_of(place)}</span> {timer(texts)}</p>'
        f'{heading(asked(question, language))}<form class="attempt" data-act="answer">{box}'
        f'{named_question(question.id)}<div class="buttons">{submit(texts.answer_round)}'
        f"{button('end', texts.end_round)}</div></form>{hint(texts.round_hint)}"
    )


def _round(round: Round, names: dict[str | None, str], now: datetime, practice: Practice, texts: Texts) -> str:
    when = ago(round.begun, now, practice, texts)
    name = f"{when} · {names.get(round.topic, round.topic or '')} · {getattr(texts, f'level_{round.level}')}"
    asked_so_far = texts.place.format(place=len(round.answered), count=round.count)
    if round.is_finished:
        told = texts.score.format(score=percent(score_of_round(round)))
        return f"{text_of(name)} · {text_of(told)} {button('report', texts.report, round.id, style='quiet')}"
    go_on = button("continue", texts.go_on_round, round.id, style="quiet")
    return f"{text_of(name)} · {text_of(asked_so_far)} {go_on}"
