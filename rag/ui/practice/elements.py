"""Building blocks of the practice room's views (elements.html), and numbers and dates in everyday words."""

from datetime import datetime
from math import ceil

from rag.ui.session.practice import Practice
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/elements.html")
# From this many days on, people speak of weeks or give a date.
DAYS_COUNTED = 14


def view(practice: Practice, body: str) -> str:
    return HTML("view", renders=practice.renders, body=body)


def percent(score: float) -> str:
    return f"{round(100 * score)}"


def day(moment: datetime, now: datetime, practice: Practice, texts: Texts) -> str:
    """When something is due, in everyday words."""
    minutes = ceil((moment - now).total_seconds() / 60)
    days = (practice.today(moment).date() - practice.today(now).date()).days
    if minutes <= 0:
        return str(texts.due_now)
    if minutes < 60:
        return str(texts.due_minutes.format(count=minutes))
    if days <= 0:
        return str(texts.due_today)
    if days < DAYS_COUNTED:
        return str(texts.due_tomorrow if days == 1 else texts.due_days.format(count=days))
    weeks, months = round(days / 7), round(days / 30.4)
    return str(texts.due_weeks.format(count=weeks) if weeks < 9 else texts.due_months.format(count=months))


def ago(moment: datetime, now: datetime, practice: Practice, texts: Texts) -> str:
    """When something happened, in everyday words: the time if it was today, else the days since, or the date if it is
    long ago."""
    then, today = practice.today(moment), practice.today(now)
    days = (today.date() - then.date()).days
    if days <= 0:
        return str(texts.was_today.format(time=f"{then:%H:%M}"))
    if days < DAYS_COUNTED:
        return str(texts.was_yesterday if days == 1 else texts.was_days.format(count=days))
    return f"{then:%Y-%m-%d}" if then.year != today.year else f"{then:%m-%d}"
