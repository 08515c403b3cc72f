"""Maps suffixes to the modules that read them."""

from collections.abc import Callable
from importlib import import_module

from ingest.formats.extract import Extract, UnreadableError
from rag.errors import Unreadable

# Endings read as they are, without a parser; Markdown with HTML tables has one.
TEXT_SUFFIXES = frozenset({".md", ".markdown", ".txt", ".text", ".rst", ".log"})
READERS = {
    ".html": "webpage", ".htm": "webpage", ".xhtml": "webpage", ".ipynb": "notebook", ".pdf": "pdf", ".docx": "word",
    ".pptx": "slides", ".epub": "book", ".csv": "sheets.delimited", ".tsv": "sheets.tabbed",
    ".xlsx": "sheets.workbook", ".mdx": "mdx",
    ".md": "tables_in_markdown", ".markdown": "tables_in_markdown",
}  # fmt: skip
SUFFIXES = TEXT_SUFFIXES | READERS.keys()


def reader(suffix: str) -> Callable[[bytes], Extract]:
    """The function that reads files with this ending. Raises UnreadableError if its library is not installed."""
    try:
        read: Callable[[bytes], Extract] = import_module(f"ingest.formats.{READERS[suffix]}").read
    except ImportError as error:
        raise UnreadableError(
            f"{suffix} files need {error.name!r}, which is not installed: it is in the extra `formats`",
            hint="pip install 'interview-rag[formats]'",
            reason=Unreadable.PROGRAM,
        ) from error
    return read
