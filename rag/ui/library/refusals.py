"""Why a file did not become a document, in the reader's language."""

from pathlib import Path

from rag.errors import RagError
from rag.shelf import Shelf
from rag.ui.library.texts import LibraryTexts
from rag.ui.problems import tell
from rag.ui.texts import Texts


def why_not(path: Path, error: RagError | OSError, shelf: Shelf, own: LibraryTexts, texts: Texts) -> str:
    """Of a file that `shelf.add` refused with an error, and that is still there; plain text."""
    size = path.stat().st_size
    if path.suffix.lower() not in shelf.suffixes:
        return own.not_a_document.format(name=path.name, suffixes=" ".join(shelf.suffixes))
    if size > shelf.max_megabytes * 1024 * 1024:
        return own.too_large.format(name=path.name, size=f"{size / 1024 / 1024:,.1f}", megabytes=shelf.max_megabytes)
    if (shelf.folder / path.name).exists():
        return own.name_taken.format(name=path.name)
    return tell(error, texts) if isinstance(error, RagError) else str(error)
