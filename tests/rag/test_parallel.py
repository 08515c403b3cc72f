"""Batches side by side: in a process of our own as many as torch has threads, in another one after the other."""

import json
import subprocess
import sys
import threading

import pytest

from rag.parallel import in_parallel
from tests.paths import ROOT

# Of three items side by side the last ends first. Prints the results, torch's threads within and afterwards, how many
# items were taken when the first result was, and what is left running after an error.
PROGRAM = """
import json, threading
from rag.process import own_process
own_process()
import torch
torch.set_num_threads(3)
from rag.parallel import in_parallel
ended, within, taken, running = [threading.Event() for _ in range(9)], set(), [], set()
def work(item):
    within.add(torch.get_num_threads())
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
print(json.dumps([squares, sorted(within), torch.get_num_threads(), early, failed, sorted(running),
    [thread.name for thread in threading.enumerate()]]))
"""


def test_results_come_in_order_from_as_many_threads_as_torch_has() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    squares, within, afterwards, early, failed, running, threads = json.loads(done.stdout)
    assert squares == [item * item for item in range(9)], "with fewer than three at a time none would ever end"
    assert (within, afterwards) == ([1], 3)
    assert early == 4, "no more is taken than can be worked on, or what is large would pile up"
    assert (failed, running, threads) == ("two", [2], ["MainThread"])


@pytest.mark.parametrize("count", [0, 3])
def test_a_process_of_others_keeps_its_threads(count: int) -> None:
    assert list(in_parallel(lambda item: (item, threading.current_thread()), range(count))) == [
        (item, threading.current_thread()) for item in range(count)
    ]
