"""What the views of the practice room are made of: buttons and fields as practice.js knows them, quotes, dates. All
text is escaped here."""

from collections.abc import Iterable
from datetime import datetime
from math import ceil

from rag.types import Citation
from rag.ui.readable import balanced, readable, text_of
from rag.ui.session.practice import Practice
from rag.ui.texts import Texts

# Characters of a quote that go along with the button that opens its source; enough to find the place again.
QUOTE_SENT = 300
# Days that people count; then they speak of weeks, or of a date.
DAYS_COUNTED = 14


def view(practice: Practice, body: str) -> str:
    """A view under a name of its own. Gradio changes what stands on the page piece by piece, and would leave in the
    boxes of one view what was typed in those of the last."""
    return f'<view-{practice.renders} class="view">{body}</view-{practice.renders}>'


def heading(text: str) -> str:
    """Takes the focus when its view opens."""
    return f'<h2 tabindex="-1" data-focus>{words(text)}</h2>'


def hint(text: str) -> str:
    return f'<p class="hint">{text_of(text)}</p>'


def button(
    act: str,
    label: str,
    rest: str = "",
    *,
    style: str = "",
    name: str = "",
    key: str = "",
    pressed: bool | None = None,
    html: str = "",
) -> str:
    """`name` is what a button is called where its label does not say enough, `key` the key that presses it while the
    focus is in the view; `html` is its label where that is drawn."""
    named = f' aria-label="{text_of(name)}" title="{text_of(name)}"' if name else ""
    keyed = f' data-key="{text_of(key)}"' if key else ""
    shown = f' <kbd aria-hidden="true">{text_of("␣" if key == " " else key)}</kbd>' if key else ""
    state = "" if pressed is None else f' aria-pressed="{str(pressed).lower()}"'
    return (
        f'<button type="button" class="{style or "plain"}" data-act="{act}" data-rest="{text_of(rest)}"{named}{keyed}'
        f"{state}>{html or text_of(label)}{shown}</button>"
    )


def submit(label: str) -> str:
    return f'<button type="submit" class="lead-on">{text_of(label)}</button>'


def select(name: str, label: str, options: Iterable[tuple[str, str]], chosen: str = "") -> str:
    """`options` are pairs of what is shown and its value."""
    items = "".join(
        f'<option value="{text_of(value)}"{" selected" if value == chosen else ""}>{text_of(shown)}</option>'
        for shown, value in options
    )
    return f'<label class="field"><span>{text_of(label)}</span><select name="{name}">{items}</select></label>'


def checkbox(name: str, label: str, *, checked: bool = False) -> str:
    return (
        f'<label class="check"><input type="checkbox" name="{name}"{" checked" if checked else ""}>'
        f"<span>{text_of(label)}</span></label>"
    )


def named_question(question: str) -> str:
    """Says which question a form is about."""
    return f'<input type="hidden" name="question" value="{text_of(question)}">'


def text_box(field: str, question: str, label: str, text: str, *, rows: int, placeholder: str = "") -> str:
    """A box whose text practice.js keeps as it is typed, under the name of its field and question."""
    # A line feed that the text begins with would be lost: a parser drops the first one.
    return (
        f'<label class="field wide"><span>{text_of(label)}</span><textarea name="{field}" rows="{rows}"'
        f' placeholder="{text_of(placeholder)}" data-keep="{text_of(f"{field}:{question}")}">'
        f"\n{text_of(text)}</textarea></label>"
    )


def source_button(citation: Citation, texts: Texts) -> str:
    """Opens the document at a quote; where it stands is said on the button."""
    title = citation.title or citation.document
    place = " › ".join((title, *(name for name in citation.section if name != title)))
    return (
        f'<button type="button" class="source-link" data-act="source" data-document="{text_of(citation.document)}"'
        f' data-start="{citation.start}" data-title="{text_of(citation.title)}"'
        f' data-quote="{text_of(citation.quote[:QUOTE_SENT])}" aria-label="{text_of(texts.open_source)}: '
        f'{text_of(place)}">{words(place)}</button>'
    )


def prose(text: str) -> str:
    """Material as it reads, on lines of its own."""
    return f'<div class="readable prose">{readable([(balanced(text), ())], lambda markers, html: html)}</div>'


def words(text: str) -> str:
    """Material as it reads, within a line."""
    return f'<span class="readable">{readable([(balanced(text.strip()), ())], lambda markers, html: html)}</span>'


def timer(texts: Texts) -> str:
    """Runs from when its view opened."""
    return f'<span class="timer" role="timer" aria-label="{text_of(texts.timer)}" data-timer>0:00</span>'


def percent(score: float) -> str:
    return f"{round(100 * score)}"


def day(moment: datetime, now: datetime, practice: Practice, texts: Texts) -> str:
    """When something is due, as people say it."""
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
    """When something was, as people say it: the day, the date where it is long ago, and the time of today."""
    then, today = practice.today(moment), practice.today(now)
    days = (today.date() - then.date()).days
    if days <= 0:
        return str(texts.was_today.format(time=f"{then:%H:%M}"))
    if days < DAYS_COUNTED:
        return str(texts.was_yesterday if days == 1 else texts.was_days.format(count=days))
    return f"{then:%Y-%m-%d}" if then.year != today.year else f"{then:%m-%d}"
