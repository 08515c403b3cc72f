"""Automatic updates: a watch over the documents that can be switched on and off while questions are answered."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Self

from ingest.ready_vectors import ready_vectors
from ingest.report import Counts, Report
from ingest.sync import Stage, sync
from ingest.updates.first_reading import FirstReading
from ingest.updates.token_filling import fill_tokens
from ingest.updates.watch_folder import RETRY_SECONDS, watch
from rag.errors import IngestError, RagError
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.embedding import Embedder

logger = logging.getLogger(__name__)

# Seconds that another writer may hold the index before that counts as a problem.
WAIT = 60.0
# Seconds that answers may delay a step of background work: a run of a first reading in all, and each of its steps.
REST = 10.0
REST_OF_A_STEP = 1.0
# Seconds that an ending program waits for the current step: torch aborts a process that ends in the middle.
LAST_STEP = 3.0
# Seconds between two runs of a first reading, to let other writers in.
LET_OTHERS = 0.1
# Share of the documents after which the time for the others is estimated: fewer tell too little.
ENOUGH = 0.05


@dataclass(frozen=True, slots=True)
class Update:
    """A finished run: its end, and its document counts."""

    at: datetime
    documents: Counts


@dataclass(frozen=True, slots=True)
class AutoUpdateStatus:
    """`done` of `total` steps of the run under way; no run if `total` is 0. With `fills`, all documents are searchable,
    and these steps only refine retrieval. `problem` is why the index cannot be synced at the moment; the first
    successful run clears it. With `once` it describes a single run, also after its end, and `began` is its start on
    the monotonic clock."""

    on: bool = False
    once: bool = False
    began: float = 0.0
    done: int = 0
    total: int = 0
    fills: bool = False
    last: Update | None = None
    problem: RagError | None = None

    @property
    def is_unfinished(self) -> bool:
        """Whether a run is due, and none has ended since the program started."""
        return self.last is None and (self.once or self.total > 0)

    @property
    def is_first(self) -> bool:
        """Whether its steps are documents that are read for the first time."""
        return self.once and self.last is None and self.total > 0

    @property
    def is_changing(self) -> bool:
        """Whether the status may still change."""
        return self.on or self.fills or (self.once and self.last is None and self.problem is None)

    def seconds_left(self) -> float | None:
        """Of the first reading, if the documents left take as long as those done; None if too few are done."""
        if not self.is_first or self.done < max(1.0, ENOUGH * self.total):
            return None
        return (time.monotonic() - self.began) / self.done * (self.total - self.done)


class AutoUpdate:
    """A switch that keeps the index in sync with its roots, using an embedder already loaded. Its methods return at
    once; safe to use from several threads. It may end with the process at any moment: an index is never half
    written."""

    def __init__(self, settings: Settings, embedder: "Embedder", *, retry_seconds: float = RETRY_SECONDS) -> None:
        self._settings = settings
        self._embedder = embedder
        self._retry_seconds = retry_seconds
        self._lock = threading.Lock()
        self._status = AutoUpdateStatus()
        self._stop: threading.Event | None = None
        self._reading: FirstReading | None = None
        self._thread: threading.Thread | None = None
        # Answers being written.
        self._answers = 0
        self._rests = threading.Condition()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """For writing an answer, which needs the processors: delays reading that nobody waits for."""
        with self._rests:
            self._answers += 1
        try:
            yield
        finally:
            with self._rests:
                self._answers -= 1
                self._rests.notify_all()

    @property
    def reading(self) -> FirstReading | None:
        """The first reading of the material, while it is under way."""
        with self._lock:
            return self._reading

    def start(self) -> None:
        """Sync now and after every change, until `stop`. Does nothing if it is on."""
        with self._lock:
            if self._stop is not None:
                return
            self._stop = threading.Event()
            self._status = AutoUpdateStatus(on=True)
            threading.Thread(target=self._run, args=(self._stop,), name="auto-update", daemon=True).start()

    def run_once(self, then: Callable[[], None] = lambda: None) -> None:
        """Read unread documents, a few at once, make missing tokens, and call `then` if that succeeds; the switch stays
        off. Does nothing if it is on."""
        with self._lock:
            if not self._status.is_changing:
                self._status = AutoUpdateStatus(once=True, began=time.monotonic())
                ready = ready_vectors(self._embedder.identity, self._settings.passage_tokens)
                self._reading = FirstReading(ready.hold)
                self._thread = threading.Thread(
                    target=self._once, args=(self._reading, then), name="one update", daemon=True
                )
                self._thread.start()

    def stop(self) -> None:
        """Switch off, for callers at once; a run under way is completed."""
        with self._lock:
            if self._stop is not None:
                self._stop.set()
                self._stop = None
            self._status = AutoUpdateStatus()

    def status(self) -> AutoUpdateStatus:
        with self._lock:
            return self._status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join(LAST_STEP)

    def _once(self, reading: FirstReading, then: Callable[[], None]) -> None:
        def is_wanted() -> bool:
            with self._lock:
                return self._status.once  # not switched on or off meanwhile

        def tell(**what: object) -> None:
            with self._lock:
                if self._status.once:
                    self._status = replace(self._status, **what)  # type: ignore[arg-type]

        rested = 0.0

        def progress(stage: Stage, done: int, total: int) -> None:
            nonlocal rested
            read, of = reading.read(done / total if stage is Stage.PASSAGES and total else 0.0)
            tell(done=read, total=of)
            began = time.monotonic()
            self._rest(min(REST_OF_A_STEP, REST - rested), unless=lambda: reading.is_awaited or not is_wanted())
            rested += time.monotonic() - began

        added = 0
        try:
            while reading.is_unfinished and is_wanted():
                rested = 0.0
                report = sync(
                    self._settings, lambda: self._embedder, identity=self._embedder.identity, wait=WAIT,
                    choose=reading.choose, is_interrupted=reading.ends_early, complete=False,
                    progress=progress,
                )  # fmt: skip
                added += report.documents.added
                time.sleep(LET_OTHERS)
                self._rest(unless=lambda: reading.is_awaited)
            if reading.is_unfinished:
                return
            self._end(reading)
            read = report.documents
            counts = replace(read, added=added, unchanged=read.unchanged - (added - read.added))
            tell(done=0, total=0, fills=True, last=Update(datetime.now().astimezone(), counts))

            def goes_on() -> bool:
                self._rest()
                return is_wanted()

            fill_tokens(
                self._settings, self._embedder, wait=WAIT, is_wanted=goes_on,
                tell=lambda done, total: tell(done=done, total=total),
            )  # fmt: skip
            if is_wanted():
                then()
        except RagError as error:
            logger.warning("%s", error.message)
            tell(problem=error)
        finally:
            tell(done=0, total=0, fills=False)
            self._end(reading)

    def _fill(self, stop: threading.Event) -> None:
        def goes_on() -> bool:
            self._rest()
            return not stop.is_set()

        try:
            fill_tokens(
                self._settings, self._embedder, wait=WAIT, is_wanted=goes_on, tell=lambda done, total: None
            )  # fmt: skip
        except RagError as error:  # the watch reports it
            logger.debug("%s", error.message)

    def _rest(self, seconds: float = REST, unless: Callable[[], bool] = lambda: False) -> None:
        """Wait while answers are written, but not forever."""
        end = time.monotonic() + seconds
        with self._rests:
            while self._answers and not unless() and time.monotonic() < end:
                self._rests.wait(LET_OTHERS)

    def _end(self, reading: FirstReading) -> None:
        reading.end()
        with self._lock:
            if self._reading is reading:
                self._reading = None

    def _run(self, stop: threading.Event) -> None:
        def tell(**what: object) -> None:
            with self._lock:
                if not stop.is_set():
                    self._status = replace(self._status, **what)  # type: ignore[arg-type]

        class Steps:
            def update(self, stage: str, done: int, total: int) -> None:
                tell(done=done, total=total)

        @contextmanager
        def progress() -> Iterator[Steps]:
            try:
                yield Steps()
            finally:
                tell(done=0, total=0)

        def on_report(report: Report) -> None:
            tell(last=Update(datetime.now().astimezone(), report.documents), problem=None)

        def on_error(error: RagError) -> None:
            logger.warning("%s", error.message)
            tell(problem=error)

        # So that no run of the watch blocks the index for minutes.
        filling = threading.Thread(target=self._fill, args=(stop,), name="tokens", daemon=True)
        filling.start()
        # The watch ends if its first run fails. The cause may pass, so it is restarted.
        while not stop.is_set():
            try:
                watch(
                    self._settings, lambda: self._embedder, identity=self._embedder.identity, progress=progress,
                    on_report=on_report, on_error=on_error, wait=WAIT, stop=stop, retry_seconds=self._retry_seconds,
                    complete=lambda: not filling.is_alive(),
                )  # fmt: skip
            except Exception as error:
                if not isinstance(error, RagError):
                    logger.exception("the documents cannot be kept up to date")
                    error = IngestError(f"unexpected: {error!r}")
                if self.status().problem is None or str(self.status().problem) != str(error):
                    on_error(error)
                stop.wait(self._retry_seconds)
