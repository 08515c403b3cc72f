"""Maps suffixes to the modules that read them, by `read` unless another function is named."""

from collections.abc import Callable
from importlib import import_module

from ingest.formats.extract import Extract, UnreadableError
from rag.errors import Unreadable

# Endings read as they are, without a parser; Markdown with HTML tables has one.
TEXT_SUFFIXES = frozenset({".md", ".markdown", ".txt", ".text", ".rst", ".log"})
READERS = {
    ".html": "webpage", ".htm": "webpage", ".xhtml": "webpage", ".ipynb": "notebook", ".pdf": "pdf", ".docx": "word",
    ".pptx": "slides", ".epub": "book", ".csv": "sheets.delimited", ".tsv": "sheets.delimited:read_tabbed",
    ".xlsx": "sheets.workbook", ".mdx": "mdx",
    ".md": "tables_in_markdown", ".markdown": "tables_in_markdown",
}  # fmt: skip
SUFFIXES = TEXT_SUFFIXES | READERS.keys()


def reader(suffix: str) -> Callable[[bytes], Extract]:
    """The function that reads files with this ending. Raises UnreadableError if its library is not installed."""
    module, _, function = READERS[suffix].partition(":")
    try:
        read: Callable[[bytes], Extract] = getattr(import_module(f"ingest.formats.{module}"), function or "read")
    except ImportError as error:
        raise UnreadableError(
            f"{suffix} files need {error.name!r}, which is not installed: it is in the extra `formats`",
            hint="pip install 'interview-rag[formats]'",
            reason=Unreadable.PROGRAM,
        ) from error
    return read
