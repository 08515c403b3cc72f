"""What a run did, or does, as HTML: the counts, what failed and why, what changed."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ingest.library import LibraryRun
from ingest.report import Failure, Stage
from rag.ui.library.refusals import failures_of, why_unread
from rag.ui.problems import tell
from rag.ui.texts import Texts

# Lines of each list; the rest is in `report.json` of the index.
LINES = 50
COUNTED = ("added", "changed", "moved", "removed", "stale", "failed", "unchanged")


def run_report(
    run: LibraryRun, last: Mapping[str, Any], texts: Texts, page: Texts, *, listed_below: Path | None = None
) -> str:
    """Of the run under way its progress; else of the last one its report. `last` is the report kept in the index, for
    where nothing was run yet. What could not be read in the folder `listed_below` stands elsewhere on the page."""
    if run.under_way:
        return _progress(run, texts)
    if run.problem is not None:
        told = tell(run.problem, page)
        return f'<p class="problem" role="alert">{escape(texts.problem.format(problem=told))}</p>'
    if run.report and run.ended is not None:
        seconds = f"{run.report['seconds']:.1f}"
        lead = texts.finished.format(time=f"{run.ended:%H:%M:%S}", seconds=seconds)
        return f"<p>{escape(lead)}</p>{_report(run.report, run.warnings, texts, listed_below)}"
    told = escape(texts.nothing_run)
    return f"<details><summary>{told}</summary>{_report(last, (), texts, listed_below)}</details>" if last else ""


def _progress(run: LibraryRun, texts: Texts) -> str:
    if not run.total:
        return f'<p role="status">{escape(texts.reading)}</p><progress></progress>'
    line = texts.reading_passages if run.stage is Stage.PASSAGES else texts.reading_documents
    told = escape(line.format(done=run.done, total=run.total))
    return f'<p role="status">{told}</p><progress value="{run.done}" max="{run.total}">{told}</progress>'


def _report(report: Mapping[str, Any], warnings: Iterable[str], texts: Texts, listed_below: Path | None) -> str:
    documents, passages = report["documents"], report["passages"]
    failures = failures_of(report)
    elsewhere = [each for each in failures if listed_below is None or listed_below not in Path(each.path).parents]
    failed = [_failure(failure, texts) for failure in elsewhere]
    told = [escape(line) for line in warnings]
    changes = [escape(line) for line in _changes(report.get("changes") or {}, texts)]
    counts = _counts({**documents, "failed": len(failures)}, texts)
    return (
        f'<p class="counts">{escape(counts)}</p><p class="hint">{escape(texts.passages_report.format(**passages))}</p>'
        + _list(texts.failed_heading, failed, "problem")
        + _list(texts.warnings_heading, told, "")
        + _list(texts.changes_heading, changes, "")
    )


def _counts(documents: Mapping[str, int], texts: Texts) -> str:
    """What happened; what did not is not listed."""
    happened = [name for name in COUNTED if documents[name]]
    told = [getattr(texts, f"count_{name}").format(count=f"{documents[name]:,}") for name in happened]
    return " · ".join(told) if set(happened) - {"unchanged"} else texts.nothing_changed


def _failure(failure: Failure, texts: Texts) -> str:
    name, why = Path(failure.path).name, why_unread(failure.reason, texts)
    return f'<span title="{escape(failure.error)}">{escape(name)}: {escape(why)}</span>'


def _changes(changes: Mapping[str, Any], texts: Texts) -> Iterable[str]:
    yield from (f"{texts.added_mark}: {name}" for name in changes.get("added", ()))
    yield from (f"{texts.changed_mark}: {document['document']}" for document in changes.get("changed", ()))
    yield from (f"{texts.moved_mark}: {move['from']} → {move['to']}" for move in changes.get("moved", ()))
    yield from (f"{texts.removed_mark}: {name}" for name in changes.get("removed", ()))


def _list(heading: str, lines: Sequence[str], kind: str) -> str:
    """`lines` are HTML."""
    if not lines:
        return ""
    items = "".join(f"<li>{line}</li>" for line in lines[:LINES])
    rest = f"<li>… +{len(lines) - LINES}</li>" if len(lines) > LINES else ""
    return (
        f'<details class="{kind}"{" open" if kind else ""}><summary>{escape(heading)} ({len(lines)})</summary>'
        f"<ul>{items}{rest}</ul></details>"
    )
