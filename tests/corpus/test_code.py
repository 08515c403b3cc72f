"""Every Python block of the corpus runs, and proves its point by an assertion."""

import ast
import sys

import pytest

from tests.conftest import looked_at
from tests.corpus import run_block
from tests.corpus.pages import PAGES
from tests.corpus.run_block import Block, run_blocks
from tests.corpus.violations import told, violations

AVAILABLE = sys.stdlib_module_names | {"numpy", "torch"}


@pytest.fixture(scope="module")
def blocks() -> list[Block]:
    return [
        Block(page.name, block.line, block.code)
        for page in PAGES
        for block in page.code_blocks
        if block.language == "python"
    ]


def test_blocks_assert(blocks: list[Block]) -> None:
    found = violations(check_assertion, blocks)
    assert not found, told(found)


def check_assertion(block: Block) -> None:
    assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(block.code))), "nothing is asserted"


def test_blocks_need_only_numpy_and_torch(blocks: list[Block]) -> None:
    found = violations(check_imports, blocks)
    assert not found, told(found)


def check_imports(block: Block) -> None:
    imported = set()
    for node in ast.walk(ast.parse(block.code)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported <= AVAILABLE


@pytest.mark.timeout(900)
def test_blocks_run(blocks: list[Block], pytestconfig: pytest.Config) -> None:
    """Several at a time, each in a process of its own; where a run leaves their suite out, those of changed pages."""
    assert len(blocks) > 100
    is_looked_at = looked_at(pytestconfig, "examples")
    blocks = [block for block in blocks if is_looked_at(f"corpus/{block.page}")]
    problems = run_blocks(blocks)
    assert {*problems} == {*blocks}
    found = [problem for problem in problems.values() if problem]
    assert not found, told(found)


def test_failing_blocks_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails names the page and the line; what hangs ends; what litters is found; blocks share nothing."""
    leaks = Block("e.md", 50, "assert 'x' not in globals() and __name__ == '__main__'\n")
    assert run_blocks([leaks])[leaks] == "", "also waits until torch is imported, so that the limit below is fair"
    monkeypatch.setattr(run_block, "SECONDS_ALLOWED", 5)
    wrong = Block("a.md", 10, "x = 1\nassert x == 2\n")
    hangs = Block("b.md", 20, "while True:\n    pass\n")
    litters = Block("c.md", 30, "from pathlib import Path\nPath('left.txt').write_text('x')\n")
    exits = Block("d.md", 40, "import os\nos._exit(3)\n")
    problems = run_blocks([wrong, hangs, litters, exits, leaks])
    assert '"a.md", line 11' in problems[wrong]
    assert problems[wrong].endswith("AssertionError")
    assert problems[hangs] == "b.md:20: did not end within 5 s"
    assert problems[litters] == "c.md:30: leaves files behind: ['left.txt']"
    assert problems[exits].startswith("d.md:40: exit code 3")
    assert problems[leaks] == ""
