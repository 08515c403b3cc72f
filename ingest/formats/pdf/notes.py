"""Reads what people have added to a page: the values of form fields, and remarks."""

import ctypes
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from ingest.formats.pdf.glyphs import Box, View

MAX_NOTES, MOST_WARNINGS = 1_000, 20
MAX_CHARACTERS, MAX_BYTES = 20_000, 8 << 20
REMARKS = frozenset({
    pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_LINE, pdfium.FPDF_ANNOT_SQUARE,
    pdfium.FPDF_ANNOT_CIRCLE, pdfium.FPDF_ANNOT_POLYGON, pdfium.FPDF_ANNOT_POLYLINE, pdfium.FPDF_ANNOT_HIGHLIGHT,
    pdfium.FPDF_ANNOT_UNDERLINE, pdfium.FPDF_ANNOT_SQUIGGLY, pdfium.FPDF_ANNOT_STRIKEOUT, pdfium.FPDF_ANNOT_STAMP,
    pdfium.FPDF_ANNOT_CARET, pdfium.FPDF_ANNOT_INK, pdfium.FPDF_ANNOT_FILEATTACHMENT,
})  # fmt: skip
UNSEEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
TICKED = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
CHOSEN = (pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
NO_VALUE = (pdfium.FPDF_FORMFIELD_PUSHBUTTON, pdfium.FPDF_FORMFIELD_SIGNATURE)
PASSWORD = 1 << 13
MOST_OPTIONS = 1_000
TICKED_SIGN, EMPTY_SIGN = "☑", "☐"
TAG = re.compile(r"<[^>]*>")
NOWHERE: Box = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Note:
    """`text` is the value or the remark, `name` that of the field or of the author. `is_tick`: the field is a box to
    tick."""

    text: str
    name: str
    box: Box
    is_field: bool = False
    is_tick: bool = False


class Notes:
    """Reads the notes of the pages of one document. `left_out` lists what it found but did not read."""

    def __init__(self, document: pypdfium2.PdfDocument) -> None:
        document.init_forms()
        self._form = document.formenv
        self.left_out: list[str] = []

    def read(self, page: pypdfium2.PdfPage, number: int, view: View) -> list[Note]:
        count = pdfium.FPDFPage_GetAnnotCount(page)
        notes: list[Note] = []
        if count > MAX_NOTES:
            self._leave_out(f"page {number}: {count - MAX_NOTES:,} of {count:,} notes and fields were left out")
        for place in range(min(count, MAX_NOTES)):
            annotation = pdfium.FPDFPage_GetAnnot(page, place)
            if not annotation:
                continue
            try:
                kind = pdfium.FPDFAnnot_GetSubtype(annotation)
                note = None
                if kind == pdfium.FPDF_ANNOT_WIDGET:
                    note = self._field(annotation, number)
                elif kind in REMARKS:
                    note = _remark(annotation)
                if note is not None and pdfium.FPDFAnnot_GetFlags(annotation) & UNSEEN:
                    self._leave_out(f"page {number}: hidden notes and fields were left out")
                elif note is not None:
                    notes.append(self._bounded(replace(note, box=_box(annotation, view)), number))
            finally:
                pdfium.FPDFPage_CloseAnnot(annotation)
        return notes

    def _leave_out(self, what: str) -> None:
        if what not in self.left_out and len(self.left_out) < MOST_WARNINGS:
            self.left_out.append(what)

    def _bounded(self, note: Note, number: int) -> Note:
        if len(note.text) <= MAX_CHARACTERS:
            return note
        self._leave_out(f"page {number}: a note of {len(note.text):,} characters was cut at {MAX_CHARACTERS:,}")
        return replace(note, text=note.text[:MAX_CHARACTERS])

    def _field(self, annotation: Any, number: int) -> Note | None:
        kind = pdfium.FPDFAnnot_GetFormFieldType(self._form, annotation) if self._form else -1
        if kind in NO_VALUE:
            return None
        name = self._said(pdfium.FPDFAnnot_GetFormFieldAlternateName, annotation) or self._said(
            pdfium.FPDFAnnot_GetFormFieldName, annotation
        )
        if kind in TICKED:
            is_ticked = pdfium.FPDFAnnot_IsChecked(self._form, annotation)
            return Note(TICKED_SIGN if is_ticked else EMPTY_SIGN, name, NOWHERE, is_field=True, is_tick=True)
        value = self._chosen(annotation) if kind in CHOSEN else ""
        value = value or self._said(pdfium.FPDFAnnot_GetFormFieldValue, annotation) or _string(annotation, "V")
        if value and self._form and pdfium.FPDFAnnot_GetFormFieldFlags(self._form, annotation) & PASSWORD:
            self._leave_out(f"page {number}: the value of a password field was left out")
            return None
        if not value:
            return None
        return Note(value, name or _string(annotation, "TU") or _string(annotation, "T"), NOWHERE, is_field=True)

    def _chosen(self, annotation: Any) -> str:
        """The labels of the chosen options, which may differ from the values that the form sends."""
        count = min(pdfium.FPDFAnnot_GetOptionCount(self._form, annotation), MOST_OPTIONS)
        chosen = [n for n in range(count) if pdfium.FPDFAnnot_IsOptionSelected(self._form, annotation, n)]
        labels = [_text(partial(pdfium.FPDFAnnot_GetOptionLabel, self._form, annotation, n)) for n in chosen]
        return ", ".join(filter(None, labels))

    def _said(self, function: Callable[..., int], annotation: Any) -> str:
        if not self._form:
            return ""
        return _text(partial(function, self._form, annotation))


def _remark(annotation: Any) -> Note | None:
    said = _string(annotation, "Contents") or " ".join(TAG.sub(" ", _string(annotation, "RC")).split())
    return Note(said, _string(annotation, "T"), NOWHERE) if said else None


def _string(annotation: Any, key: str) -> str:
    return _text(partial(pdfium.FPDFAnnot_GetStringValue, annotation, key.encode()))


def _text(write: Callable[[Any, int], int]) -> str:
    """The text that a PDFium function writes, first asked for its size in bytes; white space becomes single spaces."""
    size = min(write(None, 0), MAX_BYTES)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    if write(ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size) > size:
        return ""
    return " ".join(buffer.raw.decode("utf-16-le", "replace").replace("\x00", "").split())


def _box(annotation: Any, view: View) -> Box:
    rect = pdfium.FS_RECTF()
    if not pdfium.FPDFAnnot_GetRect(annotation, rect):
        return NOWHERE
    left, right = sorted((rect.left, rect.right))
    bottom, top = sorted((rect.bottom, rect.top))
    return view.box(left, bottom, right, top)
