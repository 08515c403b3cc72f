"""A review of the live generation in a thread of its own, one at a time for all readers."""

import logging
import threading
from dataclasses import dataclass, replace

from rag.answer.assistant import Assistant
from rag.errors import RagError
from rag.review.report import Review, review

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReviewState:
    """`manifest_sha256` identifies the generation of `found`."""

    under_way: bool = False
    done: int = 0
    total: int = 0
    found: Review | None = None
    manifest_sha256: str = ""
    problem: RagError | None = None


class ReviewRun:
    """Safe to use from several threads."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._lock = threading.Lock()
        self._state = ReviewState()

    def state(self) -> ReviewState:
        with self._lock:
            return self._state

    def is_outdated(self) -> bool:
        state = self.state()
        return state.found is not None and state.manifest_sha256 != self._assistant.index.manifest_sha256

    def start(self) -> None:
        """Begin, unless a review is under way."""
        with self._lock:
            if self._state.under_way:
                return
            self._state = replace(self._state, under_way=True, done=0, total=0, problem=None)
        threading.Thread(target=self._run, name="review", daemon=True).start()

    def _run(self) -> None:
        problem: RagError | None = None
        try:
            index = self._assistant.index
            found = review(index, self._tell)
            self._set(found=found, manifest_sha256=index.manifest_sha256)
        except RagError as error:
            problem = error
        except Exception as error:  # whatever it is, another review can be started after it
            logger.exception("the review broke")
            problem = RagError(f"{type(error).__name__}: {error}")
        finally:
            self._set(under_way=False, problem=problem)

    def _tell(self, done: int, total: int) -> None:
        self._set(done=done, total=total)

    def _set(self, **changes: object) -> None:
        with self._lock:
            self._state = replace(self._state, **changes)  # type: ignore[arg-type]
