"""What is due, what will be, and how far each topic is."""

from collections.abc import Sequence
from datetime import date

from rag.language.language import Language
from rag.practice.bank import Question
from rag.practice.schedule import TopicProgress
from rag.ui.figures import figures
from rag.ui.practice.bank_view import question_link
from rag.ui.practice.elements import button, heading, hint
from rag.ui.readable import text_of
from rag.ui.texts import Texts

# Due questions that are listed.
SHOWN = 50


def progress_shell(days: int, due: int, ahead: Sequence[tuple[date, int]], texts: Texts) -> str:
    streak = texts.streak.format(days=days) if days else texts.no_streak
    return (
        f"{heading(texts.view_progress)}"
        f'<p class="counts">{text_of(streak)} · {text_of(texts.due_count.format(count=due))}</p>'
        f"{start_due(due, texts)}<h3>{text_of(texts.forecast)}</h3>{_forecast(ahead, texts)}"
    )


def start_due(due: int, texts: Texts) -> str:
    """The ways into what is due; empty where nothing is."""
    if not due:
        return ""
    ways = button("due", texts.answer_due, "question", style="lead-on") + button("due", texts.cards_due, "recall")
    return f'<div class="buttons">{ways}</div>'


def progress_part(
    rows: Sequence[TopicProgress],
    names: dict[str | None, str],
    due: Sequence[Question],
    texts: Texts,
    language: Language,
) -> str:
    """The table of topics, and the questions that are due."""
    head = (texts.topic, texts.standing_new, texts.standing_shaky, texts.standing_known, texts.standing_due)
    body = [
        (names.get(row.topic, row.topic), *map(str, (row.new, row.shaky, row.known, row.due)))
        for row in rows
    ]  # fmt: skip
    links = "".join(f"<li>{question_link(question, language)}</li>" for question in due[:SHOWN])
    listed = f'<h3>{text_of(texts.due_list)}</h3><ul class="go-on">{links}</ul>' if links else hint(texts.nothing_due)
    return f"<h3>{text_of(texts.topics)}</h3>{figures([head, *body])}{listed}"


def _forecast(ahead: Sequence[tuple[date, int]], texts: Texts) -> str:
    """Bars, as a table for whoever cannot see them."""
    most = max((count for _, count in ahead), default=0)
    rows = "".join(
        f'<tr><th scope="row">{day:%m-%d}</th><td><span class="count">{count}</span>'
        f'<i class="bar" style="width: {100 * count / max(1, most):.0f}%" aria-hidden="true"></i></td></tr>'
        for day, count in ahead
    )
    return f'<table class="forecast"><caption>{text_of(texts.forecast_hint)}</caption><tbody>{rows}</tbody></table>'
