"""Batches side by side: in a process of our own as many as it has threads, in another one after the other."""

import json
import subprocess
import sys
import threading

import pytest

from rag.parallel import in_parallel
from tests.paths import ROOT

# Of three items side by side the last ends first. Prints the results, how many
# items were taken when the first result was, and what is left running after an error.
PROGRAM = """
import json, os, threading
os.environ["OMP_NUM_THREADS"] = "3"
from rag.process import own_process
own_process()
from rag.parallel import in_parallel
ended, taken, running = [threading.Event() for _ in range(9)], [], set()
def work(item):
    if item % 3 < 2:
        assert ended[item + 1].wait(30)
    ended[item].set()
    return item * item
def items():
    for item in range(9):
        taken.append(item)
        yield item
results = in_parallel(work, items())
first = next(results)
early = len(taken)
squares = [first, *results]
def fail(item):
    running.add(item)
    if item == 2:
        raise ValueError("two")
    running.discard(item)
try:
    list(in_parallel(fail, range(20)))
except ValueError as error:
    failed = str(error)
print(json.dumps([squares, early, failed, sorted(running),
    [thread.name for thread in threading.enumerate()]]))
"""


def test_results_come_in_order_from_as_many_threads_as_are_stated() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    squares, early, failed, running, threads = json.loads(done.stdout)
    assert squares == [item * item for item in range(9)], "with fewer than three at a time none would ever end"
    assert early == 4, "no more is taken than can be worked on, or what is large would pile up"
    assert (failed, running, threads) == ("two", [2], ["MainThread"])


@pytest.mark.parametrize("count", [0, 3])
def test_a_process_of_others_keeps_its_threads(count: int) -> None:
    assert list(in_parallel(lambda item: (item, threading.current_thread()), range(count))) == [
        (item, threading.current_thread()) for item in range(count)
    ]
