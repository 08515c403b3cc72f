"""An answer without a chat model: paragraphs quoted sentence by sentence, each with its citation."""

from collections.abc import Iterator, Mapping, Sequence

from rag.answer.choices import AnswerStyle
from rag.answer.evidence import QuestionResults
from rag.answer.quoted.choosing import choose_paragraphs
from rag.answer.quoted.features import Wanted
from rag.answer.quoted.paragraphs import Paragraph, is_item, without_orders
from rag.answer.trace import Event, Selection, TextAdded, Trace, WrittenAnswer
from rag.language.asking import asked_in
from rag.language.language import Language
from rag.text.sentences import Unit, UnitKind, in_one_line
from rag.types import Citation, Claim

# Of what is nested in a list item; fewer columns would not do below `10.`.
INDENT = " " * 4


class QuoteWriter:
    """Quotes the paragraphs that answer best."""

    def select(self, trace: Trace) -> Selection:
        return Selection(tuple(select_quotes(trace, trace.resources.choices.answer_style)))

    def write(self, trace: Trace) -> Iterator[Event | WrittenAnswer]:
        chosen = trace.selection.paragraphs
        written = write_quotes(chosen, sources_of(trace, chosen))
        yield from map(TextAdded, written.chunks)
        yield written


def select_quotes(trace: Trace, style: AnswerStyle) -> list[Paragraph]:
    """The paragraphs that answer, as many as the style has room for; without orders to a model if one will read
    them."""
    chosen = choose_paragraphs(
        trace.rankings,
        wanted=wanted_of(trace.decision.result, trace.resources.choices.language),
        characters=style.characters,
        cut=style.cut,
    )
    return without_orders(chosen) if trace.resources.choices.for_model else chosen


def wanted_of(result: QuestionResults, reader: Language | None = None) -> Wanted:
    """`reader` is the reader's language, if it is known."""
    standalone = result.question.standalone
    language = asked_in(standalone.question, reader)
    return Wanted(result.question.compared, result.subject_page, standalone.intent, standalone.heard, language)


def sources_of(trace: Trace, chosen: Sequence[Paragraph]) -> dict[str, str]:
    """The source text of every document that is quoted, by name."""
    storage = trace.resources.index.storage
    return {name: storage.source(name) or "" for name in {paragraph.passage.document for paragraph in chosen}}


def write_quotes(chosen: Sequence[Paragraph], sources: Mapping[str, str], *, first: int = 1) -> WrittenAnswer:
    """Quote paragraphs sentence by sentence, with markers from `first` on. `sources` maps a document to its text."""
    chunks: list[str] = []
    claims: list[Claim] = []
    citations: list[Citation] = []
    before: Paragraph | None = None
    table = ""  # the head of the table that ends the text so far
    for paragraph in chosen:
        passage = paragraph.passage
        elsewhere = before is not None and before.passage.document != passage.document
        is_led_in = not paragraph.units[0].begins_line
        if before and not is_led_in and (elsewhere or _has_another_heading(paragraph, before)):
            names = dict.fromkeys([passage.title, paragraph.heading] if elsewhere else [paragraph.heading])
            chunks.append(f"{_gap(chunks)}**{' › '.join(filter(None, names))}**\n\n")
            table = ""
        for place, (unit, part) in enumerate(zip(paragraph.units, paragraph.texts, strict=True)):
            source = sources[passage.document]
            citation = _cite(paragraph, unit, source, len(citations) + first)
            # If a passage ends within a line, the next one continues that line.
            same_line = bool(citations) and _is_one_line(citations[-1], citation, source)
            citations.append(citation)
            if unit.kind is UnitKind.SENTENCE:
                part = in_one_line(part)
            head, rows = _table(part) if unit.kind is UnitKind.TABLE else ("", "")
            if head and head == table and rows:
                claims.append(Claim(rows, (citation.marker,), supported=True))
                chunks[-1] = _with_rows(chunks[-1], rows, citation.marker)
                continue
            table = head
            claims.append(Claim(part, (citation.marker,), supported=True))
            if unit.kind is UnitKind.CODE and len(citations) > 1 and _is_same_code(citations[-2], citation):
                chunks[-1] = _whole_code(chunks[-1], citation)
                continue
            begins_line = unit.begins_line and not same_line
            chunk = _render(unit, part, citation.marker, begins_line=begins_line, nested=_nested(unit, paragraph))
            goes_on = (
                place or same_line or not unit.begins_line or (is_item(unit) and before and before.units[-1].mark)
            )  # a sentence after its lead, or a list from which items were left out
            if not (goes_on and _gap(chunks)):
                chunk = _gap(chunks) + chunk.lstrip()
            chunks.append(chunk)
        before = paragraph
    return WrittenAnswer(tuple(chunks), tuple(claims), tuple(citations))


def _table(text: str) -> tuple[str, str]:
    """A table's head with the line below it, and its rows."""
    head, rule, *rows = f"{text}\n".split("\n", 2)
    return f"{head}\n{rule}", "".join(rows).strip()


def _with_rows(chunk: str, rows: str, marker: int) -> str:
    """A table, continued with the rows that a later passage has."""
    shown, _, markers = chunk.rstrip().rpartition("\n\n")
    return f"{shown}\n{rows}\n\n{markers} [{marker}]\n\n"


def _is_same_code(before: Citation, citation: Citation) -> bool:
    """Whether both are of one block, which passages hold in parts: each part is cited with both fences."""
    is_same = (before.document, before.start, before.end) == (citation.document, citation.start, citation.end)
    fence = citation.quote[:3]
    return is_same and citation.quote.endswith(f"\n{fence}")  # not one that is indented


def _whole_code(chunk: str, citation: Citation) -> str:
    """The whole block in place of its parts."""
    markers = chunk.rstrip().rpartition("\n\n")[2]
    return f"\n\n{citation.quote}\n\n{markers} [{citation.marker}]\n\n"


def _has_another_heading(paragraph: Paragraph, before: Paragraph) -> bool:
    """Whether the heading of a paragraph must be shown to the reader."""
    return paragraph.heading not in (before.heading, paragraph.passage.title, "")


def _cite(paragraph: Paragraph, unit: Unit, source: str, marker: int) -> Citation:
    passage = paragraph.passage
    span = passage.content.source_range(unit.start, unit.end)
    assert span is not None, "paragraphs() leaves out what has no place in the source"
    path = paragraph.section.path
    return Citation(marker, passage.document, passage.title, *span, source[slice(*span)], section=path)


def _is_one_line(before: Citation, citation: Citation, source: str) -> bool:
    """Whether a citation begins where another ends, in the same line."""
    follows = before.document == citation.document and before.end <= citation.start
    return follows and not source[before.end : citation.start].strip(" ")


def _gap(chunks: Sequence[str]) -> str:
    return "" if not chunks or chunks[-1].endswith("\n\n") else "\n\n"


def _nested(unit: Unit, paragraph: Paragraph) -> int:
    """How many items of its paragraph a unit stands in."""
    first = next((one.depth for one in paragraph.units if is_item(one)), unit.depth + 1)
    return max(0, unit.depth - first + (not is_item(unit)))


def _render(unit: Unit, part: str, marker: int, *, begins_line: bool, nested: int) -> str:
    if unit.kind in (UnitKind.CODE, UnitKind.FORMULA, UnitKind.TABLE):
        return f"\n\n{part}\n\n[{marker}]\n\n"
    if unit.mark:
        return f"\n{INDENT * nested}{'-' if unit.mark in '-*+•' else unit.mark} {part} [{marker}]"
    if not begins_line:
        return f" {part} [{marker}]"
    return f"\n{INDENT * nested}{part} [{marker}]" if nested else f"\n\n{part} [{marker}]"
