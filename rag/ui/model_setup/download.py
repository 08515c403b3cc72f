"""Downloads a model while the page goes on, with its progress; it can be cancelled at any time. Bytes that have arrived
are kept."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from rag.errors import RagError
from rag.models import ModelState, fetch, list_models
from rag.models.fetch import fetched_bytes
from rag.models.pinned import PinnedModel, find

logger = logging.getLogger(__name__)

# Seconds that the end of the program waits for pip to stop.
END_SECONDS = 5.0


class _Cancelled(Exception):  # noqa: N818 - nothing went wrong
    pass


@dataclass(frozen=True, slots=True)
class DownloadStatus:
    """`done` and `total` count bytes. While `under_way`, `cancelled` means that the download is about to end."""

    state: ModelState
    under_way: bool = False
    cancelled: bool = False
    done: int = 0
    total: int = 0
    problem: RagError | None = None


class Download:
    """The download of one pinned model. `then` runs after it has arrived, in the thread that fetched it. Safe to use
    from several threads."""

    def __init__(self, name: str, folder: Path, *, then: Callable[[], None]) -> None:
        self.name = name
        self.folder = folder
        self._then = then
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._status = DownloadStatus(ModelState.MISSING)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.cancel()
        if self._thread is not None:
            self._thread.join(END_SECONDS)

    @property
    def model(self) -> PinnedModel:
        return find(self.name)

    def status(self) -> DownloadStatus:
        with self._lock:
            status = self._status
        if status.under_way:
            return status
        state = next(found.state for found in list_models(self.folder) if found.model.name == self.name)
        kept = fetched_bytes(self.name, self.folder) if state is ModelState.INTERRUPTED else 0
        return replace(status, state=state, done=kept, total=self.model.size)

    def start(self) -> None:
        """Start to fetch the model, or the rest of it; does nothing if that is under way."""
        with self._lock:
            if self._status.under_way:
                return
            kept = fetched_bytes(self.name, self.folder)
            self._status = DownloadStatus(ModelState.INTERRUPTED, under_way=True, done=kept, total=self.model.size)
            self._thread = threading.Thread(target=self._run, name="download", daemon=True)
            self._thread.start()

    def cancel(self) -> None:
        with self._lock:
            self._status = replace(self._status, cancelled=self._status.under_way)

    def _run(self) -> None:
        problem: RagError | None = None
        try:
            fetch(self.name, self.folder, progress=self._progress)
            self._then()
        except _Cancelled:
            logger.info("the download of %s was cancelled", self.name)
        except RagError as error:
            logger.warning("%s", error.message)
            problem = error
        except Exception as error:  # another attempt can be made after any error
            logger.exception("the download of %s broke", self.name)
            problem = RagError(f"{type(error).__name__}: {error}")
        with self._lock:
            self._status = DownloadStatus(ModelState.INTERRUPTED, problem=problem)

    def _progress(self, done: int, total: int) -> None:
        with self._lock:
            if self._status.cancelled:
                raise _Cancelled
            self._status = replace(self._status, done=max(done, self._status.done), total=total)
