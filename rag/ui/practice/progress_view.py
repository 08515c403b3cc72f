"""Progress: the questions due now and later, and how well each topic is known."""

from collections.abc import Sequence
from datetime import date

from rag.language.language import Language
from rag.practice.bank import Question
from rag.practice.schedule import TopicProgress
from rag.ui.elements import figures
from rag.ui.practice.bank_view import asked
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/progress_view.html")
# Number of due questions listed.
SHOWN = 50


def progress_shell(days: int, due: int, ahead: Sequence[tuple[date, int]], texts: Texts) -> str:
    streak = texts.streak.format(days=days) if days else texts.no_streak
    most = max((1, *(count for _, count in ahead)))
    shown = ahead if any(count for _, count in ahead) else ()
    return HTML("shell", streak=streak, due=due, most=most, ahead=shown, texts=texts)


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
    links = [(question.id, asked(question, language)) for question in due[:SHOWN]]
    return HTML("part", table=figures([head, *body]), due=links, texts=texts)
