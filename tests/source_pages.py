"""Pages read as at ingest, from their text."""

from ingest.reading.loading import Document
from ingest.structure.outline import outline_of
from ingest.structure.sections import structure
from rag.text.front_matter import read_front_matter
from rag.text.page import SourcePage


def source_page(source: str) -> SourcePage:
    """A Markdown text as a page."""
    document = Document("a.md", source, "", len(source), is_markdown=True, front_matter=read_front_matter(source))
    return SourcePage(source, outline_of(document, structure(document)))
