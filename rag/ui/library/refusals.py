"""Why a file did not become a document, in the reader's language."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingest.library import MEGABYTE, Library, Refused, RefusedError
from ingest.report import Failure
from rag.errors import RagError, Unreadable
from rag.ui.problems import tell
from rag.ui.texts import Texts


def failures_of(report: Mapping[str, Any]) -> list[Failure]:
    """The failures of a report as JSON; indexes made before 2.0 give no reasons."""
    failed = report.get("documents", {}).get("failed", ())
    return [Failure(each["path"], each["error"], Unreadable(each.get("reason", Unreadable.DAMAGED))) for each in failed]


def why_unread(reason: Unreadable, texts: Texts) -> str:
    return str(getattr(texts, f"unread_{reason}"))


def too_large(name: str, size: float, library: Library, own: Texts) -> str:
    return own.too_large.format(name=name, size=f"{size / MEGABYTE:,.1f}", megabytes=library.max_megabytes)


def why_not(path: Path, error: RagError | OSError, library: Library, own: Texts, texts: Texts) -> str:
    """Why `library.add` refused a file, which must still be there; plain text."""
    if isinstance(error, RefusedError):
        match error.reason:
            case Refused.NO_DOCUMENT:
                return own.not_a_document.format(name=path.name, suffixes=" ".join(library.suffixes))
            case Refused.TOO_LARGE:
                return too_large(path.name, path.stat().st_size, library, own)
            case Refused.NAME_TAKEN:
                return own.name_taken.format(name=path.name)
    return tell(error, texts) if isinstance(error, RagError) else str(error)
