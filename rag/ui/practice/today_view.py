"""Today's view, where practice begins: today's questions, the reader's progress, and the map of the topics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from rag.index.topics import JobRole
from rag.language.language import Language
from rag.practice.bank import Question
from rag.practice.plan import MOST_DAILY, Plan, Today
from rag.practice.rounds import Round
from rag.practice.schedule import TopicProgress
from rag.ui.elements import figures
from rag.ui.practice.bank_view import wording
from rag.ui.practice.field_map import TALL, WIDE, boxes
from rag.ui.practice.resources import PracticeMaterial
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/today_view.html")

# The hour at which the evening begins.
EVENING = 17


@dataclass(frozen=True, slots=True)
class Glance:
    """A reader's progress: the number of consecutive days with practice, and each topic's progress."""

    streak: int
    topics: Sequence[TopicProgress]


@dataclass(frozen=True, slots=True)
class TodaysQuestion:
    """One of today's questions, and why it is one of them."""

    id: str
    text: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Field:
    """A topic on the map. `share` is the percentage of its questions that are known; shaky ones count half."""

    topic: str
    name: str
    standing: str
    hint: str
    due: str
    share: int
    style: str


def today_shell(plan: Plan, roles: Mapping[str, JobRole], now: datetime, texts: Texts, language: Language) -> str:
    """`now` is in the reader's time zone."""
    named = [(role.titles.get(language, name), name) for name, role in roles.items()]
    soonest = now.date() + timedelta(days=1)
    return HTML("shell", title=texts.view_today, plan=plan, roles=named, soonest=soonest, texts=texts)


def today_part(
    day: Today, glance: Glance, round: Round | None, material: PracticeMaterial, now: datetime, texts: Texts,
    language: Language,
) -> str:  # fmt: skip
    """`round` is an unfinished interview; `now` is in the reader's time zone."""
    listed = _listed(day, material, texts, language)
    fields = fields_of(glance.topics, material, texts, language)
    return HTML(
        "part", day=day, headline=_headline(day, now, texts), lines=_lines(day, texts), listed=listed, round=round,
        glance=_glance(glance, texts), fields=fields, texts=texts,
    )  # fmt: skip


def fields_of(
    topics: Sequence[TopicProgress], material: PracticeMaterial, texts: Texts, language: Language
) -> list[Field]:
    """The topics as fields of the map, largest first."""
    rows = sorted(topics, key=lambda row: (-_total(row), row.topic))
    counts = [_total(row) for row in rows]
    return [
        Field(
            row.topic,
            name=material.topic(row.topic, language, texts.top),
            standing=_standing(row, texts),
            hint=texts.field_hint.format(known=row.known, shaky=row.shaky, new=row.new),
            due=texts.topic_due.format(count=row.due) if row.due else "",
            share=round(100 * (row.known + row.shaky / 2) / max(1, _total(row))),
            style=f"{wide.style('')};{tall.style('t')}",
        )
        for row, wide, tall in zip(rows, boxes(counts, WIDE), boxes(counts, TALL), strict=True)
    ]


def _headline(day: Today, now: datetime, texts: Texts) -> str:
    if not day.questions:
        return str(texts.today_done if day.done else texts.today_nothing)
    name = texts.tonight if now.hour >= EVENING else texts.for_today
    return str(name.format(count=day.count))


def _lines(day: Today, texts: Texts) -> list[str]:
    """Lines on today's questions, and on how far the plan gets by the day of the interview."""
    kinds = [
        (texts.some_due, len(day.due)),
        (texts.some_weak, len(day.weak)),
        (texts.some_new, len(day.new)),
    ]
    lines = [" · ".join(text.format(count=count) for text, count in kinds if count)]
    if day.days is not None:
        within = day.new_a_day <= MOST_DAILY
        plan = texts.plan_fits if within else texts.plan_short
        lines.append(
            plan.format(days=day.days, new=min(day.new_a_day, MOST_DAILY), left=day.new_left, reached=day.reached)
        )
    return [line for line in lines if line]


def _listed(day: Today, material: PracticeMaterial, texts: Texts, language: Language) -> list[TodaysQuestion]:
    kinds = [
        ("due", texts.standing_due, day.due),
        ("shaky", texts.standing_shaky, day.weak),
        ("new", texts.standing_new, day.new),
    ]
    questions = material.bank.questions
    return [
        TodaysQuestion(q, wording(questions[q], language), kind, reason) for kind, reason, ids in kinds for q in ids
    ]


def _glance(glance: Glance, texts: Texts) -> list[tuple[str, str]]:
    known = sum(row.known for row in glance.topics)
    shaky = sum(row.shaky for row in glance.topics)
    return [
        (f"{glance.streak}", texts.days_in_a_row),
        (f"{known}", texts.standing_known),
        (f"{shaky}", texts.standing_shaky),
        (f"{sum(map(_total, glance.topics)) - known - shaky}", texts.standing_new),
    ]


def _standing(row: TopicProgress, texts: Texts) -> str:
    if not row.known + row.shaky:
        return str(texts.field_new.format(total=_total(row)))
    return str(texts.field_told.format(total=_total(row), share=round(100 * row.known / _total(row))))


def _total(row: TopicProgress) -> int:
    return row.new + row.shaky + row.known


# Number of due questions listed.
DUE_SHOWN = 50


def progress_shell(days: int, due: int, ahead: Sequence[tuple[date, int]], texts: Texts) -> str:
    streak = texts.streak.format(days=days) if days else texts.no_streak
    most = max((1, *(count for _, count in ahead)))
    shown = ahead if any(count for _, count in ahead) else ()
    return HTML("progress_shell", streak=streak, due=due, most=most, ahead=shown, texts=texts)


def progress_part(
    rows: Sequence[TopicProgress],
    names: dict[str | None, str],
    due: Sequence[Question],
    texts: Texts,
    language: Language,
) -> str:
    """The table of topics, and the due questions."""
    head = (texts.topic, texts.standing_new, texts.standing_shaky, texts.standing_known, texts.standing_due)
    body = [(names.get(row.topic, row.topic), *map(str, (row.new, row.shaky, row.known, row.due))) for row in rows]
    links = [(question.id, wording(question, language)) for question in due[:DUE_SHOWN]]
    return HTML("progress_part", table=figures([head, *body]), due=links, texts=texts)
