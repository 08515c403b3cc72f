"""A library leaves the threads of its caller's process alone; a program sets them."""

import os
import subprocess
import sys

import pytest

from tests.paths import ROOT

ASKS = """
import sys
import faiss, numpy, torch
{first}
from rag.process import torch_threads
from rag.index.vectors import Vectors
torch.set_num_threads(3)
faiss.omp_set_num_threads(3)
index = faiss.IndexFlatIP(4)
index.add(numpy.eye(4, dtype="float32"))
print(Vectors(numpy.eye(4, dtype="float32"), index).search(numpy.eye(4, dtype="float32")[2], 1)[0].tolist())
with torch_threads(1):
    print(torch.get_num_threads())
print(torch.get_num_threads(), faiss.omp_get_max_threads())
"""


@pytest.mark.parametrize(("first", "within"), [("", 3), ("from rag.process import own_process; own_process()", 1)])
def test_threads_are_set_in_a_process_of_our_own_only(first: str, within: int) -> None:
    program = [sys.executable, "-c", ASKS.format(first=first)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:3] == ["[2]", str(within), "3 3"]


TRACES = """
{first}
from langsmith.utils import tracing_is_enabled
print(bool(tracing_is_enabled()))
"""


@pytest.mark.parametrize(
    ("first", "traced"), [("", True), ("from rag.process import own_process; own_process()", False)]
)
def test_what_is_asked_goes_to_no_tracing_service(first: str, traced: bool) -> None:
    """A variable that somebody set for another program of theirs would send questions and quotes away."""
    done = subprocess.run(
        [sys.executable, "-c", TRACES.format(first=first)], cwd=ROOT, capture_output=True, text=True, check=True,
        env=os.environ | {"LANGSMITH_TRACING": "true"},
    )  # fmt: skip
    assert done.stdout.strip() == str(traced)


@pytest.mark.parametrize(
    ("first", "is_ours"), [("", False), ("from rag.process import own_process; own_process()", True)]
)
def test_garbage_is_looked_for_less_often_in_a_process_of_our_own_only(first: str, is_ours: bool) -> None:
    program = (
        f"import gc\nbefore = gc.get_threshold()[0]\n{first}\nprint(gc.get_threshold()[0] > before, gc.isenabled())"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(is_ours), "True"]


KEEPS = """
from rag.process import give_back_memory
from tools.bench.measuring import resident_megabytes
{first}
texts = [bytes(2_000) for _ in range(100_000)]
del texts[:-1]  # what was got last keeps the system from getting back the rest
before = resident_megabytes()
give_back_memory()
print(before - resident_megabytes() > 100)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
@pytest.mark.parametrize(
    ("first", "is_given"), [("", False), ("from rag.process import own_process; own_process()", True)]
)
def test_freed_memory_is_given_back_in_a_process_of_our_own_only(first: str, is_given: bool) -> None:
    program = [sys.executable, "-c", KEEPS.format(first=first)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(is_given)
