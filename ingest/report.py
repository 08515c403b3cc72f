"""The report of a run, for people and programs."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from ingest.changes import Changes
from ingest.probe import Probe
from rag.errors import Unreadable
from rag.index.manifest import Root

# Limits for listing what was removed from a document.
SHOWN_LINES = 20
SHOWN_CHARACTERS = 100


class Stage(StrEnum):
    """The stages of a run."""

    DOCUMENTS = "documents"
    PASSAGES = "passages"


@dataclass(frozen=True, slots=True)
class Failure:
    """An unreadable file: its path, the error, and the kind of problem."""

    path: str
    error: str
    reason: Unreadable


@dataclass(slots=True)
class Counts:
    """Documents of a run."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    removed: int = 0
    stale: int = 0
    failed: list[Failure] = field(default_factory=list)

    @property
    def files(self) -> int:
        """The number examined."""
        return self.added + self.changed + self.moved + self.unchanged + len(self.failed)


@dataclass(frozen=True, slots=True)
class CleanedDocument:
    """The lines that cleaning removed from a document."""

    path: str
    lines: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"path": self.path, "count": len(self.lines), "lines": [_shortened(line) for line in self._shown]}

    def as_line(self) -> str:
        more = [f"and {len(self.lines) - SHOWN_LINES} more"] if len(self.lines) > SHOWN_LINES else []
        listed = "; ".join([*(repr(_shortened(line)) for line in self._shown), *more])
        return f"cleaned: {self.path}: taken out as promotion, page frame or repeats ({len(self.lines)}): {listed}"

    @property
    def _shown(self) -> tuple[str, ...]:
        return self.lines[:SHOWN_LINES]


def _shortened(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}…"


@dataclass(frozen=True, slots=True)
class DocumentWarning:
    """Content of a file that was not read, or altered."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run; `as_dict()` is the contract of `python -m ingest --json`. `roots` are those of the index;
    `cleaned` are the documents from which this run removed something."""

    generation: int
    published: bool
    documents: Counts
    passages_total: int
    passages_embedded: int
    passages_reused: int
    seconds: float
    roots: tuple[Root, ...] = ()
    changes: Changes = field(default_factory=Changes)
    probe: Probe | None = None
    warnings: tuple[DocumentWarning, ...] = ()
    cleaned: tuple[CleanedDocument, ...] = ()

    def summary(self) -> dict[str, Any]:
        """The figures alone."""
        return {
            "generation": self.generation,
            "documents": asdict(self.documents),
            "passages": {
                "total": self.passages_total,
                "embedded": self.passages_embedded,
                "reused": self.passages_reused,
            },
            "seconds": round(self.seconds, 2),
        }

    def as_dict(self) -> dict[str, Any]:
        probe = {} if self.probe is None else {"probe": self.probe.as_dict()}
        cleaned = [document.as_dict() for document in self.cleaned]
        warnings = [asdict(warning) for warning in self.warnings]
        return {
            **self.summary(), "changes": self.changes.as_dict(), "cleaned": cleaned, "warnings": warnings, **probe,
        }  # fmt: skip

    def as_kept(self) -> dict[str, Any]:
        """The report without names and text of removed content: a generation holds no trace of it."""
        probe = {} if self.probe is None else {"probe": self.probe.as_kept()}
        return {**self.summary(), "changes": self.changes.as_kept(), **probe}

    def as_text(self) -> str:
        documents = self.documents
        lines = [
            f"generation {self.generation}" + ("" if self.published else " (nothing changed)"),
            f"documents: {documents.added} added, {documents.changed} changed, {documents.moved} moved, "
            f"{documents.unchanged} unchanged, {documents.removed} removed, {documents.stale} stale, "
            f"{len(documents.failed)} failed",
            f"passages: {self.passages_total} in all, {self.passages_embedded} embedded, {self.passages_reused} reused",
            f"{self.seconds:.1f} seconds",
            *self.changes.as_lines(),
            *(self.probe.as_lines() if self.probe is not None else ()),
            *(f"warning: {warning}" for warning in self.warnings),
            *(f"failed: {failure.error}" for failure in documents.failed),
        ]
        return "\n".join(lines) + "\n"
