"""Runs an evaluation in a child process, beside the chats: its progress, its result, which outlives the program, and
stopping it."""

import atexit
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from rag.errors import RagError, UsageError
from rag.evaluation.extra import require_evaluation_extra
from rag.index import Index
from rag.paths import PROGRAM
from rag.settings import ENVIRONMENT_PREFIX, IndexEffect, Settings, index_settings

logger = logging.getLogger(__name__)

# The systems measured here.
SYSTEMS = ("ours", "dense", "keyword", "rrf")
# Characters quoted from the end of a failed child's stderr.
LAST_WORDS = 300
# The latest results, in the folder of the user's data.
FILE = "quality.json"


class EvaluationKind(StrEnum):
    RETRIEVAL = "retrieval"
    ANSWERS = "answers"


@dataclass(frozen=True, slots=True)
class Measured:
    """The JSON result of an evaluation, and the time at which it ended."""

    at: datetime
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` and `total` count questions; `done` is 0 while models load. `problem` is the error of a failed run."""

    kind: EvaluationKind = EvaluationKind.RETRIEVAL
    under_way: bool = False
    done: int = 0
    total: int = 0
    stopped: bool = False
    problem: RagError | None = None
    has_result: bool = False


class Runner:
    """Runs one evaluation at a time for all readers, and keeps the latest result of each kind in the folder `data` of
    the settings. Safe to use from several threads."""

    def __init__(self, settings: Settings, gold: Path | None) -> None:
        self.gold = gold
        self._settings = settings
        self._lock = threading.Lock()
        self._progress = Progress()
        self._process: subprocess.Popen[str] | None = None
        self._measured = read_measured(settings.data)
        atexit.register(self.stop)

    def progress(self) -> Progress:
        with self._lock:
            return self._progress

    def measured(self) -> dict[EvaluationKind, Measured]:
        """The latest result of each kind that was measured here."""
        with self._lock:
            return dict(self._measured)

    def start(self, index: Index, kind: EvaluationKind, limit: int) -> bool:
        """Start to measure on `limit` gold questions. Returns False if a run is under way or there is no gold file."""
        if self.gold is None:
            return False
        with self._lock:
            if self._progress.under_way:
                return False
            total = limit * (len(SYSTEMS) if kind is EvaluationKind.RETRIEVAL else 1)
            self._progress = Progress(kind, under_way=True, total=total)
        arguments = (kind, limit, self.gold, index)
        threading.Thread(target=self._run, args=arguments, name="evaluation", daemon=True).start()
        return True

    def stop(self) -> None:
        with self._lock:
            if self._progress.under_way:
                self._progress = replace(self._progress, stopped=True)
            if self._process is not None:
                self._process.terminate()

    def _run(self, kind: EvaluationKind, limit: int, gold: Path, index: Index) -> None:
        problem: RagError | None = None
        has_result = False
        try:
            require_evaluation_extra()
            with tempfile.TemporaryDirectory(prefix="interview-rag-quality-") as folder:
                file = gold.resolve()
                if (rows := prefixed(index, gold)) is not None:
                    file = Path(folder, f"{gold.stem}.jsonl")
                    file.write_text(rows, encoding="utf-8")
                result = self._measure([sys.executable, "-m", "rag.ui.quality.child", kind, str(file), str(limit)])
            if result is not None:
                has_result = True
                self._keep(kind, result)
        except RagError as error:
            problem = error
        except Exception as error:  # another run can be started after any error
            logger.exception("the evaluation broke")
            problem = RagError(f"{type(error).__name__}: {error}")
        finally:
            with self._lock:
                self._process = None
                problem = None if self._progress.stopped else problem
                self._progress = replace(self._progress, under_way=False, problem=problem, has_result=has_result)

    def _keep(self, kind: EvaluationKind, result: Mapping[str, Any]) -> None:
        with self._lock:
            self._measured = {**self._measured, kind: Measured(datetime.now().astimezone(), result)}
            measured = dict(self._measured)
        try:
            write_measured(self._settings.data, measured)
        except OSError as error:  # it is shown all the same, until the program ends
            logger.warning("the result of the evaluation cannot be kept: %s", error)

    def _measure(self, command: Sequence[str]) -> Mapping[str, Any] | None:
        """The child's result; None if it was stopped. Raises RagError."""
        with self._lock:
            if self._progress.stopped:
                return None
            self._process = process = subprocess.Popen(
                command, env=os.environ | as_environment(self._settings), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        said: list[str] = []
        listener = threading.Thread(target=lambda stream: said.append(stream.read()), args=(process.stderr,))
        listener.start()
        last: dict[str, Any] = {}
        with process:
            try:
                for line in process.stdout:
                    last = json.loads(line)
                    if "done" in last:
                        with self._lock:
                            self._progress = replace(self._progress, done=last["done"], total=last["total"])
            except ValueError:
                process.kill()
                raise
            code = process.wait()
            listener.join()
        if "result" in last:
            return dict(last["result"])
        if "error" in last:
            raise _as_error(**last["error"])
        if self.progress().stopped:
            return None
        raise RagError(f"the evaluation ended with exit code {code}: {said[0].strip()[-LAST_WORDS:]}")


def _as_error(code: str, message: str, hint: str) -> RagError:
    kinds = {kind.code: kind for kind in RagError.__subclasses__()}
    return kinds.get(code, RagError)(message, hint=hint)


def as_environment(settings: Settings) -> dict[str, str]:
    """The settings that affect the result, as environment variables for the child; API keys are not among them."""
    values = index_settings(settings, *IndexEffect) | {"top_k": settings.top_k}
    values |= {"index": settings.index.resolve(), "models": settings.models.resolve()}
    ours = {f"{ENVIRONMENT_PREFIX}{name.upper()}": str(value) for name, value in values.items()}
    # The program may have been started from outside its own folder.
    return ours | {"PYTHONPATH": str(PROGRAM)}


def prefixed(index: Index, gold: Path) -> str | None:
    """The gold rows with each document prefixed by one of the index's roots, if the index names them so; else None.
    Raises UsageError if the file cannot be read; the evaluation itself reports errors in the rows."""
    try:
        text = gold.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the gold file {gold} cannot be read: {error}", hint="correct the setting `gold`, or remove it"
        ) from error
    names = {document.name for document in index.storage.summaries()}
    try:
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        quoted = {evidence["document"] for row in rows for evidence in row.get("evidence", ())}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    root = next((root for root in index.manifest.roots if {f"{root.name}/{name}" for name in quoted} <= names), None)
    if quoted <= names or root is None:
        return None
    for row in rows:
        for evidence in row.get("evidence", ()):
            evidence["document"] = f"{root.name}/{evidence['document']}"
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def read_measured(folder: Path) -> dict[EvaluationKind, Measured]:
    """The latest result of each kind; a file that cannot be read counts as missing."""
    try:
        kept = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return {
            EvaluationKind(kind): Measured(datetime.fromisoformat(last["at"]).astimezone(), dict(last["result"]))
            for kind, last in kept.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        logger.warning("the kept results in %s cannot be read: %s", folder / FILE, error)
        return {}


def write_measured(folder: Path, measured: Mapping[EvaluationKind, Measured]) -> None:
    """Write the results atomically. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    text = json.dumps({kind: {"at": last.at.isoformat(), "result": last.result} for kind, last in measured.items()})
    descriptor, part = tempfile.mkstemp(prefix=".quality-", dir=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        Path(part).replace(folder / FILE)
    finally:
        with suppress(FileNotFoundError):
            Path(part).unlink()
