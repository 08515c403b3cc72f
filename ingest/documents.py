"""The documents of a run: reads new and changed ones, and counts the outcomes."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.previous_generation import Key
from ingest.report import CleanedDocument, Counts, DocumentWarning, Failure, Stage
from ingest.workers import File, Workers
from rag.errors import DocumentError, Unreadable
from rag.index.storage import DocumentEntry, StoredDocument

if TYPE_CHECKING:
    from ingest.prepare import Prepared


class Documents:
    """`before` are the entries of the last generation; those in `unchanged` are read only if their files have
    changed."""

    def __init__(
        self,
        workers: Workers,
        unchanged: Mapping[Key, DocumentEntry],
        before: Mapping[Key, DocumentEntry],
        progress: Callable[[Stage, int, int], None],
    ) -> None:
        self.workers = workers
        self.unchanged = unchanged
        self.before = before
        self.progress = progress
        self.counts = Counts()
        # New documents left for the next run.
        self.left = 0
        self.warnings: list[DocumentWarning] = []
        self.cleaned: list[CleanedDocument] = []

    def leave_out(self, path: Path, reason: str) -> None:
        self.warnings.append(DocumentWarning(_shown(str(path)), f"left out: {reason}"))

    def read(
        self, files: Sequence[File], is_interrupted: Callable[[], bool] = lambda: False
    ) -> Iterator[StoredDocument | DocumentEntry | None]:
        """In file order: the newly read document; its entry if the stored version stays; None if there is nothing to
        store. Once interrupted, no further new document is read."""
        outcomes: list[Prepared | DocumentEntry | DocumentError | OSError | None] = [None] * len(files)
        done = 0

        def have(place: int, outcome: "Prepared | DocumentEntry | DocumentError | OSError | None") -> None:
            nonlocal done
            outcomes[place] = outcome
            if outcome is not None:
                done += 1
                self.progress(Stage.DOCUMENTS, done, len(files))

        def unread() -> Iterator[tuple[int, File]]:
            for place, file in enumerate(files):
                have(place, self._without_reading(file))
                if outcomes[place] is None and ((file.root, file.relative) in self.before or not is_interrupted()):
                    yield place, file

        self.progress(Stage.DOCUMENTS, 0, len(files))
        for place, prepared in self.workers.prepare(unread()):
            have(place, prepared)
        self.left = outcomes.count(None)
        for file, outcome in zip(files, outcomes, strict=True):
            if outcome is not None:
                yield self._counted(file, outcome)

    def _without_reading(self, file: File) -> DocumentEntry | DocumentError | OSError | None:
        """The entry of an unchanged document, or why the file cannot be read; None if it must be read."""
        known = self.unchanged.get((file.root, file.relative))
        if _shown(str(file.path)) != str(file.path):
            message = f"{_shown(file.relative)}: the file name is not UTF-8"
            return DocumentError(message, hint="rename the file", reason=Unreadable.FILE)
        try:
            if known is not None and digest(file.path) == known.sha256:
                return replace(known, stale=False)
        except OSError as error:
            return error
        return None

    def _counted(
        self, file: File, outcome: "Prepared | DocumentEntry | DocumentError | OSError"
    ) -> StoredDocument | DocumentEntry | None:
        known = self.before.get((file.root, file.relative))
        if isinstance(outcome, DocumentEntry):
            self.counts.unchanged += 1
            return outcome
        if isinstance(outcome, (DocumentError, OSError)):
            message, reason = (
                (outcome.message, outcome.reason)
                if isinstance(outcome, DocumentError)
                else (f"{file.relative}: cannot be read: {outcome.strerror or outcome}", Unreadable.FILE)
            )
            self.counts.failed.append(Failure(_shown(str(file.path)), message, reason))
            if known is None:
                return None
            # The last good version replaces an unreadable document.
            self.counts.stale += 1
            return replace(known, stale=True)
        document = outcome.document
        self.warnings += (DocumentWarning(file.relative, warning) for warning in outcome.warnings)
        if outcome.removed:
            self.cleaned.append(CleanedDocument(file.relative, outcome.removed))
        if known is None:
            self.counts.added += 1
        elif known.sha256 == document.sha256:
            self.counts.unchanged += 1
        else:
            self.counts.changed += 1
        return document


def digest(file: Path) -> str:
    """SHA-256 of a file, as the index stores it."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _shown(name: str) -> str:
    """A file name as text; non-UTF-8 bytes become question marks."""
    return name.encode("utf-8", "replace").decode()
