"""Questions and answers for other programs: Anki, CSV, Markdown."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from rag.language.ends import INLINE_VERBATIM
from rag.practice.bank import Bank, Question
from rag.practice.store import Jotting
from rag.text.blocks import BlockKind
from rag.text.markdown import parse

if TYPE_CHECKING:
    from genanki import Model
    from markdown_it import MarkdownIt

# Replaces a formula while Markdown is read: a character of private use, so that no text contains it.
HOLD = "\ue000{}\ue001"
HELD = re.compile("\ue000(\\d+)\ue001")
PRIVATE = re.compile("[\ue000\ue001]")


def as_html(markdown: str) -> str:
    r"""The text as HTML, formulas between \( \) or \[ \].

    >>> as_html("$a<b$")
    '<p>\\(a&lt;b\\)</p>'
    """
    text = PRIVATE.sub("", markdown)
    formulas: list[str] = []

    def hold(tex: str, opening: str, closing: str) -> str:
        formulas.append(f"{opening}{escape(tex.strip(), quote=False)}{closing}")
        return HOLD.format(len(formulas) - 1)

    def inline(match: re.Match[str]) -> str:
        return hold(match[0][1:-1], r"\(", r"\)") if match[0].startswith("$") else match[0]

    parts, position = [], 0
    for block in parse(text):
        parts.append(text[position : block.start])
        body = text[block.start : block.end]
        if block.kind is BlockKind.FORMULA:
            body = hold(text[block.body_start : block.body_end], r"\[", r"\]")
        elif block.kind is not BlockKind.CODE:
            body = INLINE_VERBATIM.sub(inline, body)
        parts.append(body)
        position = block.end
    rendered = _renderer().render("".join(parts) + text[position:])
    return HELD.sub(lambda match: formulas[int(match[1])], rendered).strip()


def link_to(uri: str, words: str) -> str:
    """A link; the words alone without an address."""
    shown = escape(words)
    return f'<a href="{escape(uri)}">{shown}</a>' if uri else shown


@cache
def _renderer() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


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
