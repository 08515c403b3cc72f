"""Questions and answers for other programs: Anki, CSV, Markdown."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from rag.practice.bank import Bank, Question
from rag.practice.store import Jotting


class ExportAs(StrEnum):
    ANKI = "anki"
    CSV = "csv"
    MARKDOWN = "markdown"


def export(bank: Bank, questions: Sequence[Question], jottings: Mapping[str, Jotting], file_type: ExportAs) -> bytes:
    """The bytes of the file."""
    raise NotImplementedError
