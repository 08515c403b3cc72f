"""The PDF page of a quote, as a picture."""

import logging
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from ingest.formats.extract import UnreadableError
from ingest.formats.picture import Picture
from ingest.reading.parser_process import ParserProcess
from rag.answer.assistant import Assistant
from rag.types import Citation

logger = logging.getLogger(__name__)

# Cached pictures, some hundred kB each, and the processor seconds that one may take.
KEPT, SECONDS = 16, 10


def picture_of(assistant: Assistant, citation: Citation) -> Picture | None:
    """None if the document is no PDF, or its file is gone, has changed, or cannot be drawn."""
    if citation.page is None or not citation.document.lower().endswith(".pdf"):
        return None
    index = assistant.index
    entry = next((entry for entry in index.storage.entries() if entry.name == citation.document), None)
    root = next((Path(root.path) for root in index.manifest.roots if entry and root.number == entry.root), None)
    if entry is None or root is None or entry.stale:
        return None
    file = root / entry.relative if root.is_dir() else root
    try:
        return _drawn(file, entry.sha256, citation.page, citation.quote)
    except (OSError, UnreadableError) as error:
        logger.info("%s cannot be shown as a picture: %s", citation.document, error)
        return None


@lru_cache(KEPT)
def _drawn(file: Path, digest: str, page: int, quote: str) -> Picture | None:
    data = file.read_bytes()
    if sha256(data).hexdigest() != digest:
        return None
    with ParserProcess(seconds=SECONDS) as process:
        return process.picture(data, page, quote)
