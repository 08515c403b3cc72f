"""Parses untrusted files in a child process that gets their bytes and no rights: see ingest.reading.child.

One child serves many files. One that crashes, hangs or runs out of memory is replaced; the file is reported.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any, Self, TypeVar

from ingest.formats.extract import MAX_CHARACTERS, PNG, Extract, Picture, UnreadableError
from rag.errors import Unreadable
from rag.paths import PROGRAM

T = TypeVar("T")

START_SECONDS = 120.0
# Processor time for a file; wall time may be twice that, since the machine has other work.
FILE_SECONDS = 60
OCR_SECONDS = 900
MAX_FILES_PER_CHILD = 1_000
# JSON uses at most twelve bytes per character.
MAX_ANSWER_BYTES = 12 * MAX_CHARACTERS + 1_000_000
DAMAGED_HINT = "the file is damaged or malicious; save it again with the program it comes from, or split it"
# A process gives up rights thread by thread, so there must be only one.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OPENCV_FOR_THREADS_NUM": "1"}


class ParserProcess:
    """Extracts text from bytes in a child process. Not safe to use from several threads.

    `seconds` is the processor time that one file may take.
    """

    def __init__(self, *, ocr: bool = False, seconds: int | None = None) -> None:
        self._ocr = ocr
        self._seconds = seconds or (OCR_SECONDS if ocr else FILE_SECONDS)
        self._child: subprocess.Popen[bytes] | None = None
        self._served = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child; the next file starts another."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    with suppress(OSError):  # unwritten data has no reader
                        stream.close()
            child.wait()

    @property
    def process_id(self) -> int | None:
        return None if self._child is None else self._child.pid

    def extract(self, suffix: str, data: bytes) -> Extract:
        """The text of a file with this ending. Raises UnreadableError."""
        return self._told({"suffix": suffix}, data, _extract)

    def picture(self, data: bytes, page: int, quote: str) -> Picture:
        """A PDF page by number, from 1, and the place of a quote on it. Raises UnreadableError."""
        return self._told({"suffix": ".pdf", "page": page, "quote": quote}, data, _picture)

    def _told(self, request: dict[str, object], data: bytes, read: Callable[[dict[str, Any]], T]) -> T:
        if self._served >= MAX_FILES_PER_CHILD:
            self.close()
        line = self._ask(request, data)
        self._served += 1
        try:
            answer = dict(json.loads(line))
            if answer.get("exhausted"):
                self.close()
            if "error" in answer:
                reason = Unreadable(answer["reason"])
                raise UnreadableError(str(answer["error"]), hint=str(answer["hint"]), reason=reason)
            return read(answer)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            self.close()  # a child with invalid answers may have been taken over
            raise UnreadableError("its parser returned an invalid reply", hint=DAMAGED_HINT) from error

    def _ask(self, request: dict[str, object], data: bytes) -> bytes:
        child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        request = request | {"size": len(data), "seconds": self._seconds}
        late = threading.Event()
        line = b""
        with _deadline(child, 2.0 * self._seconds, late):
            try:
                child.stdin.write(json.dumps(request).encode() + b"\n" + data)
                child.stdin.flush()
                line = child.stdout.readline(MAX_ANSWER_BYTES)
            except OSError:  # it died before reading everything
                pass
        if line.endswith(b"\n"):
            return line
        child.kill()
        status = child.wait()
        self.close()
        slow = late.is_set() or status == -signal.SIGXCPU
        raise UnreadableError(
            f"its parser was stopped after {self._seconds} seconds"
            if slow
            else f"its parser crashed or ran out of memory (exit status {status})",
            hint=DAMAGED_HINT,
            reason=Unreadable.LARGE,
        )

    def _start(self) -> subprocess.Popen[bytes]:
        if self._ocr and find_spec("rapidocr") is None:
            raise UnreadableError(
                "`ocr = true` needs the extra `ocr`, which is not installed",
                hint="pip install 'interview-rag[ocr]', or set `ocr = false`",
                reason=Unreadable.PROGRAM,
            )
        arguments = [sys.executable, "-P", "-s", "-m", "ingest.reading.child", *(["--ocr"] if self._ocr else [])]
        child = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Not the caller's environment, which may hold keys.
            env={"PYTHONPATH": str(PROGRAM), "PYTHONUTF8": "1", "PATH": os.defpath, **ONE_THREAD},
            cwd="/",
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )
        self._child, self._served = child, 0
        assert child.stdout is not None
        with _deadline(child, START_SECONDS, threading.Event()):
            ready = child.stdout.readline(16)
        if ready != b"ready\n":
            status = child.wait()
            self.close()
            raise UnreadableError(
                f"the process that parses files did not start (exit status {status})",
                hint="run `python -m ingest.reading.child` to see why",
                reason=Unreadable.PROGRAM,
            )
        return child


def _extract(answer: dict[str, Any]) -> Extract:
    return Extract(
        text=str(answer["text"]),
        title=str(answer["title"]),
        pages=tuple(int(page) for page in answer["pages"]),
        warnings=tuple(str(warning) for warning in answer["warnings"]),
        is_markdown=bool(answer["is_markdown"]),
        removed=tuple(str(line) for line in answer["removed"]),
    )


def _picture(answer: dict[str, Any]) -> Picture:
    png = base64.b64decode(str(answer["png"]), validate=True)
    if not png.startswith(PNG):
        raise ValueError("no picture")
    boxes = tuple((float(x), float(y), float(width), float(height)) for x, y, width, height in answer["boxes"])
    return Picture(png, int(answer["width"]), int(answer["height"]), boxes)


@contextmanager
def _deadline(child: subprocess.Popen[bytes], seconds: float, late: threading.Event) -> Iterator[None]:
    """Kills a child that takes too long, which ends every wait for its pipes."""

    def kill() -> None:
        late.set()
        child.kill()

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
