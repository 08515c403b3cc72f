"""CSV -> a Markdown table."""

import csv
from collections.abc import Sequence

from ingest.formats.encoding import decode
from ingest.formats.extract import Extract, UnreadableError
from ingest.formats.markdown import table

DELIMITERS = ",\t;|"
SAMPLE_LINES = 50
MAX_FIELD_CHARACTERS = 1_000_000
MAX_ROWS = 50_000


def read(data: bytes) -> Extract:
    text = decode(data)
    csv.field_size_limit(MAX_FIELD_CHARACTERS)
    rows: list[Sequence[str]] = []
    warnings: tuple[str, ...] = ()
    try:
        for row in csv.reader(text.splitlines(keepends=True), delimiter=_delimiter(text)):
            if len(rows) == MAX_ROWS:
                warnings = (f"only the first {MAX_ROWS:,} rows were read",)
                break
            rows.append(row)
    except csv.Error as error:
        raise UnreadableError(f"is no CSV file: {error}", hint="save it anew as CSV in UTF-8") from error
    return Extract(table(rows), warnings=warnings)


def _delimiter(text: str) -> str:
    """The delimiter that cuts the first lines into the most fields, the same number in most of them."""
    # Not csv.Sniffer: its regular expressions take minutes on hostile lines.
    lines = [line for line in text[:200_000].splitlines() if line.strip()][:SAMPLE_LINES]

    def worth(delimiter: str) -> tuple[int, int]:
        counts = [line.count(delimiter) for line in lines]
        usual = max(set(counts), key=lambda count: (counts.count(count), count), default=0)
        return (counts.count(usual) * 2 > len(lines) and usual > 0, usual)

    return max(DELIMITERS, key=worth)
