"""Questions and answers for other programs: Anki, CSV, Markdown."""

import csv
import io
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from rag.practice.bank import Bank, Question
from rag.practice.html import as_html, link_to
from rag.practice.store import Jotting

if TYPE_CHECKING:
    from genanki import Model

# Anki identifies note types and decks by number: these must stay for a second import to update the first.
MODEL_ID = 1_607_392_319
DECK_ID = 2_059_400_110
DECK = "interview-rag"
COLUMNS = ("id", "question", "short", "answer", "topic", "tags", "document", "start", "end", "note", "version")
FRONT = '<div class="question">{{Question}}</div>'
BACK = (
    '{{FrontSide}}<hr id="answer">{{#Short}}<div class="short">{{Short}}</div><hr>{{/Short}}{{Answer}}'
    '{{#Mine}}<hr>{{Mine}}{{/Mine}}<div class="source">{{Source}}</div>'
)
STYLE = (
    ".card{font-family:sans-serif;font-size:17px;text-align:left;max-width:46em;margin:0 auto}"
    ".question,.short{font-weight:600}pre{overflow-x:auto;padding:.6em;background:#8881}"
    "table{border-collapse:collapse}td,th{border:1px solid #8886;padding:.2em .5em}.source{margin-top:1em;opacity:.7}"
)


class ExportAs(StrEnum):
    ANKI = "anki"
    CSV = "csv"
    MARKDOWN = "markdown"


def export(bank: Bank, questions: Sequence[Question], jottings: Mapping[str, Jotting], file_type: ExportAs) -> bytes:
    """The bytes of the file: an .apkg, or text in UTF-8."""
    match file_type:
        case ExportAs.ANKI:
            return _anki(bank, questions, jottings)
        case ExportAs.CSV:
            return _csv(questions, jottings).encode()
        case ExportAs.MARKDOWN:
            return _markdown(questions, jottings).encode()


def _anki(bank: Bank, questions: Sequence[Question], jottings: Mapping[str, Jotting]) -> bytes:
    """A deck whose notes carry the id of their question: a second import updates them."""
    import genanki

    deck = genanki.Deck(DECK_ID, DECK)
    model = _model()
    for question in questions:
        page = bank.pages[question.document]
        fields = [
            as_html(question.text),
            as_html(question.short.quote) if question.short else "",
            as_html(question.answer.quote),
            link_to(page.uri, f"{question.document} {question.answer.start}–{question.answer.end}"),
            as_html(_mine(jottings.get(question.id, Jotting()))),
        ]
        tags = ["_".join(tag.split()) for tag in (question.topic, *question.tags) if tag.strip()]
        deck.add_note(genanki.Note(model=model, fields=fields, tags=tags, guid=genanki.guid_for(question.id)))
    written = io.BytesIO()
    genanki.Package(deck).write_to_file(written)
    return written.getvalue()


def _model() -> "Model":
    import genanki

    fields = [{"name": name} for name in ("Question", "Short", "Answer", "Source", "Mine")]
    templates = [{"name": "Card 1", "qfmt": FRONT, "afmt": BACK}]
    return genanki.Model(MODEL_ID, f"{DECK} question", fields=fields, templates=templates, css=STYLE)


def _csv(questions: Sequence[Question], jottings: Mapping[str, Jotting]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for q in questions:
        kept = jottings.get(q.id, Jotting())
        writer.writerow(
            (
                q.id, q.text, q.short.quote if q.short else "", q.answer.quote, q.topic, " ".join(q.tags), q.document,
                q.answer.start, q.answer.end, kept.note, kept.version,
            )
        )  # fmt: skip
    return written.getvalue()


def _markdown(questions: Sequence[Question], jottings: Mapping[str, Jotting]) -> str:
    parts = []
    for question in questions:
        mine = _mine(jottings.get(question.id, Jotting()))
        source = f"*{question.document} {question.answer.start}–{question.answer.end}*"
        parts.append("\n\n".join(filter(None, (f"# {question.text}", question.answer.quote, mine, source))))
    return "\n\n".join(parts) + "\n"


def _mine(jotting: Jotting) -> str:
    return "\n\n".join(text for text in (jotting.version.strip(), jotting.note.strip()) if text)
