"""The strip above the question box: says that a question is being edited or a conversation is missing, or shows a
feedback form."""

from rag.ui.chat.scope import MaterialTitles, render_chips
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import TEXTS

HTML = macros_of("chat/strip.html")
REASONS = {True: ("accurate", "complete", "clear"), False: ("wrong", "incomplete", "off_topic", "unsupported")}
NOTE_CHARACTERS = 2_000


def render_strip(session: Session, material: MaterialTitles | None = None) -> str:
    """HTML; empty if there is nothing to say. The chosen documents come first."""
    chips = render_chips(session.only, material or MaterialTitles(), session.language)
    return chips + _said(session)


def _said(session: Session) -> str:
    texts = TEXTS[session.language]
    if session.editing:
        told = texts.editing.format(number=session.place_of(session.editing))
        return HTML("editing", told=told, texts=texts)
    if session.is_answering:
        return HTML("status", kind="busy", told=texts.busy)
    judged = session.find(session.judging)
    if judged is not None and judged.liked is not None:
        return HTML("opinion", judged=judged, reasons=REASONS[judged.liked], longest=NOTE_CHARACTERS, texts=texts)
    return HTML("status", kind="missing", told=texts.conversation_missing) if session.missing else ""
