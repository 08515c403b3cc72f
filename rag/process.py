"""Process-wide settings: the program changes them when started as a program, never as a library."""

import ctypes
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

TRACING = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2")
# New objects that trigger a garbage collection; Python's own 700 are for small programs. Loading makes millions that
# all stay, and collections among them take a fifth of the start.
OBJECTS_BETWEEN_COLLECTIONS = 50_000
# `mallopt(3)`: how many heaps threads share.
M_ARENA_MAX = -8
_is_own = False
_given_back = 0.0
_threads: dict[str, int] = {}
_counting = threading.Lock()


def own_process() -> None:
    """Entry points call this before loading anything heavy: it sets the threads of the numeric libraries, the frequency
    of garbage collection, and how many heaps there are."""
    global _is_own
    _is_own = True
    # glibc gives every thread a heap of its own, which keeps what its busiest moment needed: after a hundred questions
    # a page's server, whose threads are many, held 325 MB more than with one for all, and was no faster.
    if (allocator := _glibc()) is not None:
        allocator.mallopt(M_ARENA_MAX, 1)
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    # Before torch is loaded: its threads must sleep while they wait for each other, not spin. On two cores with one
    # kept busy by another program, spinning takes a question from 15 ms to 900 ms.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # NumPy's products are small here: waiting for a second thread costs more than it saves.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Chat models, prompts and the chain are LangChain's, which such a variable makes send all their data to a service.
    # Questions leave this machine only for a configured endpoint.
    for name in TRACING:
        os.environ.pop(name, None)


def exit_when_terminated() -> None:
    """SIGTERM ends the process as the end of the program does, so that everything is cleaned up."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)


def give_back_memory(*, at_most_every: float = 0.0) -> None:
    """Return what was freed to the system, in our own process: what loading, an answer or a former generation needed.
    Nothing happens within `at_most_every` seconds of the last time, since what is needed again has to be got again."""
    global _given_back
    allocator = _glibc() if _is_own else None
    if allocator is not None and time.monotonic() >= _given_back + at_most_every:
        _given_back = time.monotonic()
        allocator.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    """The allocator of the process; None where it is another one."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") else None


def thread_count() -> int:
    """The number of parallel computing threads in our own process; 1 in another, whose owner has set theirs. It is
    `OMP_NUM_THREADS`, else the number of processors for this process."""
    if not _is_own:
        return 1
    stated = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if stated.isdecimal() and int(stated):
        return int(stated)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Use `count` threads for torch's operations within the block, in our own process; in another, as many as its owner
    has set."""
    if not _is_own:
        yield
        return
    import torch

    with _counting:  # otherwise a new thread could take a number set meanwhile for torch's own
        usual = _threads.setdefault("count", torch.get_num_threads())
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(usual)
