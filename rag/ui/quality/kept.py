"""The latest results measured from the page, in a file that outlives the program."""

import json
import logging
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

FILE = "quality.json"


class EvaluationKind(StrEnum):
    RETRIEVAL = "retrieval"
    ANSWERS = "answers"


@dataclass(frozen=True, slots=True)
class Measured:
    """The JSON result of an evaluation, and the time at which it ended."""

    at: datetime
    result: Mapping[str, Any]


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
