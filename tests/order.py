"""In which order the workers of a run go through its files: what costs most first, so that none ends long after the
others; and files that share something dear one after the other, in one worker."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.paths import ROOT

# Seconds of files, as the last run took that was asked to note them: `make test ARGS=--note-seconds`.
NOTED = ROOT / "tests" / "seconds.json"
LEAST = 4  # of a file that is noted
# One server that a Chromium visits, or one Chromium that visits many, a Ray cluster, a Milvus server.
TOGETHER = {
    "tests/rag/ui/test_browser_rooms": (
        "tests/rag/ui/test_browser_attacks.py", "tests/rag/ui/test_browser_first_start.py",
        "tests/rag/ui/test_browser_practice.py", "tests/rag/ui/test_browser_rooms.py",
    ),
    "tests/rag/ui/test_browser": (
        "tests/rag/ui/test_browser.py", "tests/rag/ui/test_browser_accessible.py", "tests/rag/ui/test_browser_agent.py",
        "tests/rag/ui/test_browser_chat.py", "tests/rag/ui/test_browser_conversations.py",
        "tests/rag/ui/test_browser_early.py", "tests/rag/ui/test_browser_model_setup.py",
        "tests/rag/ui/test_browser_reading.py",
    ),
    "tests/ingest/cluster": ("tests/ingest/cluster/",),
    "tests/rag/index/milvus": ("tests/rag/index/milvus/",),
}  # fmt: skip


def group(test: str) -> str:
    """What one worker runs at a stretch: the file of a test, or the name of those that belong together."""
    file = test.partition("::")[0]
    return next((name for name, paths in TOGETHER.items() if file.startswith(paths)), file)


def noted() -> Mapping[str, float]:
    """Seconds by group."""
    seconds: Counter[str] = Counter()
    for file, taken in json.loads(NOTED.read_text(encoding="utf-8")).items():
        seconds[group(file)] += taken
    return seconds


def place(test: str, seconds: Mapping[str, float]) -> tuple[float, str]:
    """By which tests are sorted; those of a group stay as they are."""
    return -seconds.get(group(test), 0), group(test)


class Clock:
    """Notes what each file takes: pytest tells the process that hands out the tests of every report."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        seconds = {file: round(taken) for file, taken in self._seconds.most_common() if taken >= LEAST}
        NOTED.write_text(json.dumps(seconds, indent=0) + "\n", encoding="utf-8")
