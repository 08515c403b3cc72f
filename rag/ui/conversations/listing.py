"""The list of conversations, as HTML."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from html import escape
from itertools import groupby

from rag.ui.conversations.snippet import marked, snippet
from rag.ui.conversations.store import LISTED, Listed
from rag.ui.session.session import Session
from rag.ui.texts import TEXTS, Texts


def render_list(
    listed: Sequence[Listed], session: Session, now: datetime, *, unkept: bool = False, set_aside: Sequence[str] = ()
) -> str:
    """`now` is a local time; `unkept` where nothing can be kept, `set_aside` names damaged files."""
    texts = TEXTS[session.language]
    notes = []
    if unkept or session.unkept:
        notes.append(f'<p class="note problem">{escape(texts.conversations_unkept)}</p>')
    if set_aside:
        files = texts.list_separator.join(set_aside)
        notes.append(f'<p class="note problem">{escape(texts.conversations_set_aside.format(files=files))}</p>')
    if session.deleted is not None:
        notes.append(
            f'<p class="note" role="status">{escape(texts.deleted)} '
            f'<button type="button" class="do-restore-0">{escape(texts.undo)}</button></p>'
        )
    if not listed:
        empty = texts.conversations_not_found.format(sought=session.sought)
        notes.append(f'<p class="note">{escape(empty if session.sought.strip() else texts.conversations_none)}</p>')
    groups = "".join(
        f"<h2>{escape(day)}</h2><ul>{''.join(_item(item, session, texts) for item in items)}</ul>"
        for day, items in groupby(listed[:LISTED], lambda item: _day(item, now, texts))
    )
    if len(listed) > LISTED:
        groups += f'<p class="note">{escape(texts.conversations_more)}</p>'
    return (
        f'<nav class="conversations" data-conversation="{session.conversation or 0}"'
        f' aria-label="{escape(texts.conversations)}">{_close(texts)}{"".join(notes)}{groups}'
        f'<label class="import">{escape(texts.import_conversation)}'
        '<input type="file" accept=".json,application/json" data-import></label></nav>'
    )


def _close(texts: Texts) -> str:
    """Where the list is a drawer, this closes it."""
    return f'<button type="button" class="close-drawer" aria-label="{escape(texts.close)}">×</button>'


def _day(item: Listed, now: datetime, texts: Texts) -> str:
    day = datetime.fromtimestamp(item.updated, now.tzinfo).date()
    if day >= now.date():
        return texts.today
    return texts.yesterday if day == now.date() - timedelta(days=1) else texts.earlier


def _item(item: Listed, session: Session, texts: Texts) -> str:
    current = ' aria-current="true"' if item.id == session.conversation else ""
    title, more = escape(item.title), escape(texts.more_actions)
    words = session.sought.split()
    shown = marked(item.title, words)
    around = snippet(item.said, words) or ("" if "<mark>" in shown else snippet(item.question, words))
    below = f'<span class="snippet">{around}</span>' if around else ""
    choices = (
        ("rename", texts.rename),
        ("link", texts.copy_link),
        ("print", texts.print),
        ("markdown", texts.export_markdown),
        ("json", texts.export_json),
        ("delete", texts.delete),
    )
    buttons = "".join(
        f'<button type="button" class="do-{action}-{item.id}"'
        f"{_told(texts.link_copied) if action == 'link' else ''}>{escape(label)}</button>"
        for action, label in choices
    )
    return (
        f'<li{current}><a class="title" href="#conversation-{item.id}" title="{title}"><span>{shown}</span>{below}</a>'
        f'<details class="menu"><summary title="{more}" aria-label="{more}">⋯</summary><div>{buttons}</div></details>'
        f'<input hidden maxlength="200" aria-label="{escape(texts.rename_label)}" value="{title}"></li>'
    )


def _told(text: str) -> str:
    """What is told once a button has done its work in the browser."""
    return f' data-told="{escape(text)}"'


def feedback_export(texts: Texts) -> str:
    """What was said of answers, as files."""
    kinds = (
        (texts.feedback_opinions, "opinions"), (texts.feedback_sft, "sft"), (texts.feedback_preferences, "preferences"),
    )  # fmt: skip
    rows = "".join(f"<li><span>{escape(label)}</span>{_file_buttons(format, label)}</li>" for label, format in kinds)
    heading = f"<h2>{escape(texts.export_feedback)}</h2>"
    return f'{heading}<p class="hint">{escape(texts.feedback_kinds)}</p><ul class="feedback">{rows}</ul>'


def _file_buttons(format: str, label: str) -> str:
    return "".join(
        f'<button type="button" class="do-feedback-0-{format}-{file_type}"'
        f' aria-label="{escape(label)} · {file_type}">{file_type}</button>'
        for file_type in ("jsonl", "csv")
    )
