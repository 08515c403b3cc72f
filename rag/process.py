"""What the program may change of its process: everything where it was started as a program, nothing as a library."""

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

TRACING = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2")
# Objects made since the last look for garbage that make Python look again; its own 700 are for small programs. Loading
# makes millions that all stay, and looking through them is a fifth of the start.
OBJECTS_BETWEEN_COLLECTIONS = 50_000
_is_own = False
_threads: dict[str, int] = {}
_counting = threading.Lock()


def own_process() -> None:
    """Called by entry points before anything heavy is loaded: the threads of the numeric libraries and how often
    garbage is looked for are ours to set."""
    global _is_own
    _is_own = True
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    # Before torch is loaded: its threads must sleep while they wait for each other, not spin. On two cores of which
    # another program keeps one busy, spinning takes a question from 15 ms to 900 ms.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # NumPy's products are small here: a second thread saves less than waiting for it costs.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The pipeline is made of LangChain's runnables, which such a variable makes send all that passes through them to a
    # service. Questions leave this machine only for an endpoint that was configured.
    for name in TRACING:
        os.environ.pop(name, None)


def thread_count() -> int:
    """How many threads compute side by side in a process of our own; 1 in another, whose owner has set theirs.
    `OMP_NUM_THREADS` says it, else as many as there are processors for this process."""
    if not _is_own:
        return 1
    stated = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if stated.isdecimal() and int(stated):
        return int(stated)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """So many threads for torch's operations within the block, in a process of our own; in another as many as its owner
    has set."""
    if not _is_own:
        yield
        return
    import torch

    with _counting:  # nobody sets another number meanwhile, which a new thread would take for torch's own
        usual = _threads.setdefault("count", torch.get_num_threads())
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(usual)
