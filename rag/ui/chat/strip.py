"""What stands above the question box at times: that a question is being edited, a form for what one thinks,
or that a conversation is not there."""

from html import escape

from rag.ui.chat.scope import Material, render_chips
from rag.ui.session.session import Session
from rag.ui.texts import TEXTS, Texts

REASONS = {True: ("accurate", "complete", "clear"), False: ("wrong", "incomplete", "off_topic", "unsupported")}
NOTE_CHARACTERS = 2_000


def render_strip(session: Session, material: Material | None = None) -> str:
    """HTML; empty where there is nothing to say. What is answered from stands above the rest."""
    chips = render_chips(session.only, material or Material(), session.language)
    return chips + _said(session)


def _said(session: Session) -> str:
    texts = TEXTS[session.language]
    if session.editing:
        told = texts.editing.format(number=session.place_of(session.editing))
        return (
            f'<p class="editing">{escape(told)} <button type="button" class="do-unedit-0">{escape(texts.cancel)}'
            "</button></p>"
        )
    if session.busy:  # shown by asking.js to whoever wants to send the next question
        return f'<p class="busy" role="status">{escape(texts.busy)}</p>'
    judged = session.find(session.judging)
    if judged is not None and judged.liked is not None:
        return _opinion(judged.number, judged.liked, texts)
    return f'<p class="missing" role="status">{escape(texts.conversation_missing)}</p>' if session.missing else ""


def reason_name(reason: str, texts: Texts) -> str:
    return str(getattr(texts, f"reason_{reason}"))


def _opinion(number: int, liked: bool, texts: Texts) -> str:
    choices = "".join(
        f'<label><input type="checkbox" name="reason" value="{reason}"><span>{escape(reason_name(reason, texts))}'
        "</span></label>"
        for reason in REASONS[liked]
    )
    return (
        f'<form class="opinion" data-number="{number}">'
        f"<p>{escape(texts.why_liked if liked else texts.why_disliked)}</p>"
        f'<div class="reasons">{choices}</div><div class="row"><input name="note" maxlength="{NOTE_CHARACTERS}"'
        f' placeholder="{escape(texts.note_placeholder)}" aria-label="{escape(texts.note_placeholder)}">'
        f'<button type="submit">{escape(texts.keep_opinion)}</button>'
        f'<button type="button" class="do-unjudge-0">{escape(texts.skip)}</button></div></form>'
    )
