"""Syncs whenever documents change, keeping the model loaded."""

import contextlib
import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import watchfiles

from ingest.report import Report, Stage
from ingest.sources import absolute
from ingest.sync import sync
from rag.errors import IngestError, RagError
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.embedding import Embedder

logger = logging.getLogger(__name__)

# An editor saves in several steps: changes are collected until none comes for QUIET, at most DEBOUNCE. Milliseconds.
DEBOUNCE = 2_000
QUIET = 300
TICK = 1_000
# Interval between retries.
RETRY_SECONDS = 5.0


class Progress(Protocol):
    def update(self, stage: Stage, done: int, total: int) -> None: ...


def watch(
    settings: Settings,
    load_embedder: "Callable[[], Embedder]",
    paths: Sequence[Path] = (),
    *,
    identity: str,
    progress: Callable[[], AbstractContextManager[Progress]],
    on_report: Callable[[Report], None],
    on_error: Callable[[RagError], None],
    allow_empty: bool = False,
    wait: float = 0.0,
    complete: Callable[[], bool] = lambda: True,
    poll: bool = False,
    stop: threading.Event | None = None,
    retry_seconds: float = RETRY_SECONDS,
) -> None:
    """Sync now, then after every change of a root, until `stop` is set or KeyboardInterrupt.

    `load_embedder` is called for each run and should return the same embedder again. `on_report` gets the report of
    the first run and of each run that published or failed in part. No error in a later run ends the watch: `on_error`
    gets it once, and the run is retried every `retry_seconds`. Raises what the first run raises. `complete` says before
    each run whether it makes all tokens (`sync`). With `poll` folders are scanned repeatedly, for network drives that
    do not report changes.
    """
    stop = stop or threading.Event()

    def run() -> Report:
        with progress() as bars:
            return sync(
                settings, load_embedder, paths, identity=identity, allow_empty=allow_empty, wait=wait,
                complete=complete(), progress=bars.update,
            )  # fmt: skip

    report = run()
    on_report(report)
    told = _failures(report)
    load_embedder()  # now, so that the first change does not wait for it
    while not stop.is_set():
        due = 0.0  # when to run; at once, since changes before this watch were not seen
        watched = {absolute(path) for path in paths} or {root.path for root in report.roots}
        present = _present(watched)
        for changed in _bursts(present, settings.index, stop=stop, poll=poll, pause=retry_seconds):
            if _present(watched) != present:
                break  # watch what exists now
            if not changed and time.monotonic() < due:
                continue
            due = math.inf
            try:
                report = run()
            except Exception as error:
                due = time.monotonic() + retry_seconds
                if not isinstance(error, RagError):
                    logger.exception("the index could not be brought in line")
                if told != [str(error)]:
                    on_error(error if isinstance(error, RagError) else IngestError(f"unexpected: {error!r}"))
                told = [str(error)]
            else:
                if report.published or _failures(report) != told:
                    on_report(report)
                told = _failures(report)


def _failures(report: Report) -> list[str]:
    return [failure.error for failure in report.documents.failed]


def _present(paths: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Existing paths, with what distinguishes each from a later file or folder of the same name."""
    found = {}
    for path in paths:
        with contextlib.suppress(OSError):
            status = Path(path).stat()
            found[path] = (status.st_dev, status.st_ino)
    return found


def _bursts(roots: Iterable[str], index: Path, *, stop: threading.Event, poll: bool, pause: float) -> Iterator[bool]:
    """True after a burst of changes below the roots, False if nothing changed for a moment. The index may lie below a
    root: writes to it change no document."""
    own = Path(absolute(index))
    folders = [Path(root) for root in roots]
    if not folders:
        stop.wait(pause)
        yield False
        return
    try:
        for changes in watchfiles.watch(
            *folders, watch_filter=None, debounce=DEBOUNCE, step=QUIET, stop_event=stop, rust_timeout=TICK,
            yield_on_timeout=True, force_polling=poll or None,
        ):  # fmt: skip
            yield any(_counts(Path(name), folders) and not Path(name).is_relative_to(own) for _, name in changes)
    except OSError as error:  # a root vanished before watching, or the system's watches are used up
        logger.warning("cannot watch %s: %s", ", ".join(map(str, folders)), error)
        stop.wait(pause)
        yield True


def _counts(path: Path, roots: Sequence[Path]) -> bool:
    """Whether a change of this path may change a document: hidden files and folders hold none."""
    below = [path.relative_to(root) for root in roots if path.is_relative_to(root)]
    return any(not any(part.startswith(".") for part in inside.parts) for inside in below)
