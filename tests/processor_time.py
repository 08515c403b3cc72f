"""What a piece of work costs this thread."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def processor_seconds(work: Callable[[], object]) -> float:
    """The least of three runs, without other threads and without the garbage of other tests, which is collected at a
    moment of its own choosing and takes seconds in a large process."""
    with _without_garbage():
        return min(_seconds(work) for _ in range(3))


def takes_less(work: Callable[[], object], seconds: float) -> bool:
    """Whether the least of three such runs takes less; the first that does is the last."""
    with _without_garbage():
        return any(_seconds(work) < seconds for _ in range(3))


@contextmanager
def _without_garbage() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _seconds(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started
