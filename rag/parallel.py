"""Runs computations in parallel, each on its own thread.

Threads that share one operation wait for each other at its end, which for small matrices takes as long as the
operation: two threads are 1.2 times as fast as one, two batches 1.9 times (docs/results/encoder.md).
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from rag.process import thread_count

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_parallel(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`work` of each item, in order, on as many threads as there are processors (`thread_count`).

    One item more than there are threads is started before the first result is taken. In a process that is not ours,
    whose threads others have set, items run one by one. A caller that stops early waits for running items.
    """
    count = thread_count()
    if count == 1:
        yield from map(work, items)
        return

    pool = ThreadPoolExecutor(count, thread_name_prefix="batch")
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
