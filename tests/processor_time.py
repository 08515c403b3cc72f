"""What a piece of work costs this thread."""

import gc
import time
from collections.abc import Callable


def processor_seconds(work: Callable[[], object]) -> float:
    """The least of three runs, without other threads and without the garbage of other tests, which is collected at a
    moment of its own choosing and takes seconds in a large process."""
    gc.disable()
    try:
        return min(_seconds(work) for _ in range(3))
    finally:
        gc.enable()


def _seconds(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started
