"""Runs, past or present, as HTML: counts, failures, changes; and why a file did not become a document."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ingest.library import MEGABYTE, Library, LibraryRun, Refused, RefusedError
from ingest.report import Failure, Stage
from rag.errors import RagError, Unreadable
from rag.ui.elements import problem
from rag.ui.problems import tell
from rag.ui.templates import macros_of
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


HTML = macros_of("library/report.html")
# Lines of each list; the rest is in `report.json` of the index.
LINES = 50
COUNTED = ("added", "changed", "moved", "removed", "stale", "failed", "unchanged")


def run_report(
    run: LibraryRun, last: Mapping[str, Any], texts: Texts, page: Texts, *, listed_below: Path | None = None
) -> str:
    """The progress of the run under way, else the report of the last one. `last` is the report kept in the index, for
    use before the first run. Failures in the folder `listed_below` are shown elsewhere on the page."""
    if run.under_way:
        line = texts.reading_passages if run.stage is Stage.PASSAGES else texts.reading_documents
        notice = line.format(done=run.done, total=run.total) if run.total else texts.reading
        return HTML("progress", notice=notice, run=run)
    if run.problem is not None:
        return problem(texts.problem.format(problem=tell(run.problem, page)))
    if run.report and run.ended is not None:
        lead = texts.finished.format(time=f"{run.ended:%H:%M:%S}", seconds=f"{run.report['seconds']:.1f}")
        return HTML("finished", lead=lead, **_report(run.report, run.warnings, texts, listed_below))
    return HTML("last", **_report(last, (), texts, listed_below)) if last else ""


def _report(
    report: Mapping[str, Any], warnings: Sequence[str], texts: Texts, listed_below: Path | None
) -> dict[str, object]:
    """The values of a report for the template."""
    failures = failures_of(report)
    elsewhere = [each for each in failures if listed_below is None or listed_below not in Path(each.path).parents]
    return {
        "counts": _counts({**report["documents"], "failed": len(failures)}, texts),
        "passages": texts.passages_report.format(**report["passages"]),
        "failed": [(Path(each.path).name, why_unread(each.reason, texts), each.error) for each in elsewhere],
        "warnings": warnings,
        "changes": list(_changes(report.get("changes") or {}, texts)),
        "most": LINES,
        "texts": texts,
    }


def _counts(documents: Mapping[str, int], texts: Texts) -> str:
    """The counts that are not zero."""
    happened = [name for name in COUNTED if documents[name]]
    counts = [getattr(texts, f"count_{name}").format(count=f"{documents[name]:,}") for name in happened]
    return " · ".join(counts) if set(happened) - {"unchanged"} else texts.nothing_changed


def _changes(changes: Mapping[str, Any], texts: Texts) -> Iterable[str]:
    yield from (f"{texts.added_mark}: {name}" for name in changes.get("added", ()))
    yield from (f"{texts.changed_mark}: {document['document']}" for document in changes.get("changed", ()))
    yield from (f"{texts.moved_mark}: {move['from']} → {move['to']}" for move in changes.get("moved", ()))
    yield from (f"{texts.removed_mark}: {name}" for name in changes.get("removed", ()))
