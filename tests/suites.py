"""Suites that cost much and protect what rarely changes, and which of them a run can leave out."""

import subprocess
import tomllib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.paths import ROOT

TABLE = ROOT / "tests" / "suites.toml"
# How many commits back a change still counts.
COMMITS = 25
NAMES = ("--no-renames", "--name-only", "-z")


@dataclass(frozen=True, slots=True)
class Suite:
    """`tests` are files, folders and single tests, `kept` are those of them that always run; what is in `protects` has
    changed when any file at or below one of its paths has."""

    name: str
    tests: tuple[str, ...]
    kept: tuple[str, ...]
    protects: tuple[str, ...]

    @classmethod
    def read(cls, file: Path = TABLE) -> list[Self]:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        return [
            cls(
                name,
                tuple(suite["tests"]),
                tuple(suite["kept"]),
                (*suite["protects"], *(test.partition("::")[0] for test in suite["tests"]), *table["for_all"]),
            )
            for name, suite in table["suite"].items()
        ]

    def leaves_out(self, test: str) -> bool:
        """Whether the test of this id is none without the suite."""
        name = test.partition("[")[0]
        return name not in self.kept and (name in self.tests or _under(test.partition("::")[0], self.tests))


def unchanged(suites: Iterable[Suite], changed: Collection[str] | None) -> list[Suite]:
    """Suites none of whose paths changed; none of them where it is not known what did."""
    if changed is None:
        return []
    return [suite for suite in suites if not any(_under(path, suite.protects) for path in changed)]


def lately_changed(root: Path = ROOT) -> set[str] | None:
    """Files that the last COMMITS commits changed, a merge with all that it brings, or that differ from the last one.
    None without a history that goes so far back: in an archive, and in a shallow clone."""
    if not (root / ".git").exists():
        return None
    try:
        if _git(root, "rev-parse", "--is-shallow-repository") != ["true"]:
            return {
                *_git(root, "log", f"-{COMMITS}", "--first-parent", "-m", "--format=", *NAMES),
                *_git(root, "diff", "HEAD", *NAMES),
                *_git(root, "ls-files", "--others", "--exclude-standard", "-z"),
            }
    except (OSError, subprocess.CalledProcessError):  # no git, or one that does not trust the folder
        pass
    return None


def told(suites: Sequence[Suite]) -> str:
    names = ", ".join(suite.name for suite in suites)
    return f"Left out, as nothing they protect changed in the last {COMMITS} commits (make test-all runs them): {names}"


def _git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        ["git", "--no-optional-locks", *arguments], cwd=root, capture_output=True, encoding="utf-8", check=True
    )
    return [part for part in done.stdout.strip().split("\0") if part]


def _under(path: str, places: Iterable[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)
