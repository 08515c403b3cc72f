"""CSV -> a Markdown table."""

import csv
import re
from collections.abc import Sequence

from ingest.formats.encoding import decode
from ingest.formats.extract import Extract, UnreadableError
from ingest.formats.markdown import table

DELIMITERS = ",\t;|"
SAMPLE_LINES = 50
MAX_FIELD_CHARACTERS = 1_000_000
MAX_ROWS = 50_000
# How Excel is told what divides the fields.
SEPARATOR = re.compile(r"sep=([,;|\t])", re.IGNORECASE)
# Characters of a remark above the table that is told of, and warnings of a file.
MOST_OF_A_REMARK, MOST_WARNINGS = 200, 20


def read(data: bytes) -> Extract:
    lines = decode(data).splitlines(keepends=True)
    csv.field_size_limit(MAX_FIELD_CHARACTERS)
    delimiter, remarks = "", 0
    if lines and (said := SEPARATOR.fullmatch(lines[0].strip(" \r\n"))):
        delimiter, lines = said[1], lines[1:]
    while remarks < len(lines) and lines[remarks].startswith("#"):
        remarks += 1
    warnings = [f"remark: {line[1:].strip()[:MOST_OF_A_REMARK]}" for line in lines[:remarks]]
    lines = lines[remarks:]
    rows: list[Sequence[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter or _delimiter(lines)):
            if len(rows) == MAX_ROWS:
                warnings.append(f"only the first {MAX_ROWS:,} rows were read")
                break
            rows.append(row)
    except csv.Error as error:
        raise UnreadableError(f"is no CSV file: {error}", hint="save it anew as CSV in UTF-8") from error
    return Extract(table(rows), warnings=tuple(warnings[:MOST_WARNINGS]))


def _delimiter(lines: Sequence[str]) -> str:
    """The delimiter by which the head has several fields and most rows as many, the most of all."""
    # Not csv.Sniffer: its regular expressions take minutes on hostile lines.
    sample = [line for line in lines[: 2 * SAMPLE_LINES] if line.strip()][:SAMPLE_LINES]

    def worth(delimiter: str) -> tuple[bool, float, int]:
        counts = [len(row) for row in csv.reader(sample, delimiter=delimiter)]
        alike = counts.count(counts[0]) / len(counts) if counts else 0.0
        return bool(counts) and counts[0] > 1 and alike > 0.5, alike, counts[0] if counts else 0

    return max(DELIMITERS, key=worth)
