"""Pages read as at ingest, from their text."""

from ingest.reading.loading import document_of
from ingest.structure.outline import outline_of
from ingest.structure.sections import structure
from rag.text.page import SourcePage


def source_page(source: str) -> SourcePage:
    document = document_of("a.md", ".md", source.encode())
    return SourcePage(source, outline_of(document, structure(document)))
