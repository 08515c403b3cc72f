"""The page's text about automatic updates of the documents."""

from html import escape

from ingest.updates.auto_update import AutoUpdateStatus
from rag.errors import IngestError, RagError
from rag.ui.problems import SENTENCES, sentence_of, tell
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("chat/auto_update.html")
MINUTE = 60.0


def under_way_text(status: AutoUpdateStatus, texts: Texts, *, details: bool = True) -> str:
    """HTML; empty if nothing is being read and nothing is wrong. A problem's `details` may name paths of the server."""
    if not (status.on or status.once):
        return ""
    if status.problem is not None:
        notice = tell(status.problem, texts) if details else _without_details(status.problem, texts)
        return HTML("problem", notice=texts.auto_update_problem.format(problem=notice))
    if status.is_first:
        return HTML("first", done=status.done, total=status.total, left=_left(status, texts), texts=texts)
    if status.total:
        steps = texts.auto_update_fills if status.fills else texts.auto_update_steps
        return escape(steps.format(done=status.done, total=status.total))
    return escape(texts.auto_update_working) if status.last is None else ""


def auto_update_text(status: AutoUpdateStatus, texts: Texts, *, details: bool = True) -> str:
    """The same, else the last run's result. HTML; empty while off."""
    now = under_way_text(status, texts, details=details)
    if now or status.last is None or not (status.on or status.once):
        return now
    documents = status.last.documents
    kinds = [
        (texts.auto_update_added, documents.added),
        (texts.auto_update_changed, documents.changed),
        (texts.auto_update_moved, documents.moved),
        (texts.auto_update_removed, documents.removed),
    ]
    counts = texts.list_separator.join(text.format(count=count) for text, count in kinds if count)
    line = texts.auto_update_done if counts else texts.auto_update_same
    summary = escape(line.format(time=f"{status.last.at:%H:%M}", counts=counts))
    if not documents.failed:
        return summary
    failed = texts.auto_update_failed.format(count=len(documents.failed), total=documents.files)
    return f"{summary} · {escape(failed)}"


def _left(status: AutoUpdateStatus, texts: Texts) -> str:
    """The minutes that the first reading still takes; empty if not known yet."""
    seconds = status.seconds_left()
    if seconds is None:
        return ""
    if seconds < MINUTE:
        return str(texts.auto_update_minute)
    return str(texts.auto_update_minutes.format(count=round(seconds / MINUTE)))


def _without_details(problem: RagError, texts: Texts) -> str:
    sentence, command = sentence_of(problem if problem.code in SENTENCES else IngestError(problem.message), texts)
    return sentence.format(command=command)
