"""The page's text about automatic updates of the documents."""

from html import escape

from ingest.updates.auto_update import AutoUpdateStatus
from rag.ui.problems import tell
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("chat/auto_update.html")


def under_way_text(status: AutoUpdateStatus, texts: Texts) -> str:
    """HTML; empty if nothing is being read and nothing is wrong."""
    if not (status.on or status.once):
        return ""
    if status.problem is not None:
        told = texts.auto_update_problem.format(problem=tell(status.problem, texts))
        return HTML("problem", told=told)
    if status.total:
        steps = texts.auto_update_fills if status.fills else texts.auto_update_steps
        return escape(steps.format(done=status.done, total=status.total))
    return escape(texts.auto_update_working) if status.last is None else ""


def auto_update_text(status: AutoUpdateStatus, texts: Texts) -> str:
    """The same, else the last run's result. HTML; empty while off."""
    now = under_way_text(status, texts)
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
    told = escape(line.format(time=f"{status.last.at:%H:%M}", counts=counts))
    if not documents.failed:
        return told
    failed = texts.auto_update_failed.format(count=len(documents.failed), total=documents.files)
    return f"{told} · {escape(failed)}"
