"""A conversation -> Markdown to read, JSON to work with."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rag.types import Answer, Citation
from rag.ui.session.session import Exchange
from rag.ui.texts import Texts
from rag.wire import answer_as_dict


@dataclass(frozen=True, slots=True)
class File:
    """A file for the reader to save."""

    name: str
    type: str
    text: str


def as_markdown(title: str, exchanges: Sequence[Exchange], texts: Texts, now: datetime) -> str:
    """The shown branch, with the quotes under each answer."""
    parts = [f"# {title}", f"{texts.exported_at}: {now:%Y-%m-%d %H:%M}"]
    for exchange in exchanges:
        parts += [
            f"## {texts.asked}: {' '.join(exchange.question.split())}",
            exchange.reply or f"*{texts.stopped_early}*",
        ]
        if exchange.is_imported:
            parts.append(f"*{texts.imported}*")
        if exchange.answer is not None and exchange.answer.citations:
            parts += [
                f"### {texts.sources}",
                "\n\n".join(_quote(exchange, citation, texts) for citation in exchange.answer.citations),
            ]
    return "\n\n".join(parts) + "\n"


def as_json(conversation: int, title: str, exchanges: Sequence[Exchange], now: datetime, tag: str = "") -> str:
    """All branches: each exchange as in `python -m rag ask --json`, plus `parent`, the id of the one it follows, and
    `state`. There is no `tag` where the conversation has none."""
    rows: list[dict[str, Any]] = []
    for exchange in exchanges:
        answer = exchange.answer or Answer(exchange.question, (), exchange.reply, "")
        rows.append(
            {
                "id": f"{conversation}-{exchange.number}",
                **answer_as_dict(answer),
                "parent": None if exchange.parent is None else f"{conversation}-{exchange.parent}",
                "state": str(exchange.state),
            }
        )
    value = {
        "title": title,
        **({"tag": tag} if tag else {}),
        "exported": now.isoformat(timespec="seconds"),
        "exchanges": rows,
    }
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def file_name(title: str, ending: str) -> str:
    """A file name that every file system accepts."""
    kept = "".join(character if character.isalnum() else " " for character in title)
    return ("-".join(kept.split())[:60] or "conversation") + ending


def _quote(exchange: Exchange, citation: Citation, texts: Texts) -> str:
    page = f" · {texts.page.format(number=citation.page)}" if citation.page is not None else ""
    quoted = "\n".join(f"> {line}" for line in citation.quote.splitlines())
    place = f"{exchange.title_of(citation, texts.tag)} · `{citation.document}`{page}"
    return f"**[{citation.marker}]** {place}\n\n{quoted}"
