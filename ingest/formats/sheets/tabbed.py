"""TSV -> Markdown tables: tabs divide the fields, whatever else the lines hold."""

from ingest.formats.extract import Extract
from ingest.formats.sheets.delimited import read_delimited


def read(data: bytes) -> Extract:
    return read_delimited(data, "\t")
