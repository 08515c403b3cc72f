"""Lists the documents in a folder, and reports what is left out, and why."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ingest.reading.registry import SUFFIXES
from rag.errors import IngestError

# Hidden files, and the lock files of office programs.
HIDDEN = (".", "~$")
# Describes the folder, not its subject.
FOLDER_README = "readme.md"
# How many files of other kinds are named one by one (more are counted by ending), and how many endings are named.
NAMED_FILES, NAMED_ENDINGS = 5, 12
LeftOut = Callable[[Path, str], None]


def list_files(root: Path, left_out: LeftOut | None = None) -> Iterator[Path]:
    """Readable documents below `root` (or `root` itself), sorted. Omits hidden files and folders, and also linked
    folders, links out of the root, files of other kinds and non-files, which it reports to `left_out`. A folder that
    cannot be listed raises IngestError: its documents have not vanished."""
    if root.is_file():
        yield root
        return
    tell = left_out or (lambda path, reason: None)
    inside = root.resolve()
    others: list[Path] = []
    for path in sorted(_paths(root, inside, tell)):
        if path.suffix.lower() not in SUFFIXES:
            others.append(path)
        elif path.relative_to(root).as_posix().lower() == FOLDER_README:
            tell(path, "it describes its folder; give it another name to have it read")
        elif reason := _reason_to_leave_out(path, inside):
            tell(path, reason)
        else:
            yield path
    _tell_of_others(root, others, tell)


def _paths(root: Path, inside: Path, tell: LeftOut) -> Iterator[Path]:
    """The files below a folder that are not hidden."""
    for folder, subfolders, files in os.walk(root, onerror=_refuse):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for path in (Path(folder, name) for name in subfolders):
            if path.is_symlink():
                own = path.resolve().is_relative_to(inside)
                tell(path, "a link to a folder that is read in its own place" if own else
                     "a linked folder, which is not followed: add it as a root of its own")  # fmt: skip
        yield from (Path(folder, name) for name in files if not name.startswith(HIDDEN))


def _reason_to_leave_out(path: Path, inside: Path) -> str | None:
    try:
        if not path.resolve(strict=True).is_relative_to(inside):
            return "a link that leads out of its root"
    except (OSError, RuntimeError):  # loops raised RuntimeError before Python 3.13
        return "a link that leads nowhere"
    return None if path.is_file() else "not an ordinary file"


def _tell_of_others(root: Path, others: Sequence[Path], tell: LeftOut) -> None:
    """Name a few files one by one; count many."""
    if len(others) <= NAMED_FILES:
        for path in others:
            tell(path, f"{path.suffix} files are not read" if path.suffix else "a file without an ending is not read")
        return
    counts = Counter(path.suffix.lower() or "without an ending" for path in others)
    endings = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    listed = [f"{ending} ({count})" for ending, count in endings[:NAMED_ENDINGS]]
    more = sum(count for _, count in endings[NAMED_ENDINGS:])
    told = ", ".join([*listed, *([f"others ({more})"] if more else [])])
    tell(root, f"{len(others):,} files of other kinds: {told}")


def _refuse(error: OSError) -> None:
    raise IngestError(
        f"the folder {error.filename} cannot be listed: {error.strerror}",
        hint="make it readable; its documents would count as removed",
    ) from error
