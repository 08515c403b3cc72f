"""The exceptions that this project raises.

RagError
├── UsageError           the caller's request makes no sense (exit code 2)
├── SettingsError        a setting is unknown or out of range (exit code 2)
├── ModelError           a model is missing, incomplete or not the pinned bytes
├── IndexMissingError    there is no index there yet
├── IndexCorruptError    the bytes on disk are not the bytes that were published
├── IndexMismatchError   the index was made with another embedder or format
├── IndexLockedError     another process is writing
├── StoreError           the index's server does not answer, or refuses
├── IngestError          the roots cannot be synced as they are
├── DocumentError        one document cannot be read; others are unaffected
├── ChatModelError       the chat model did not answer
└── UserDataError        conversations or feedback cannot be read or kept

A message says what happened, with which value; `hint` says what to do next.
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

INSTALLED_COMMAND = "interview-rag"
# Names of its sub-commands when the program runs from a checkout.
CALLED = {
    "python -m ingest": "interview-rag ingest",
    "python -m rag": "interview-rag",
    "python app.py": "interview-rag chat",
}


def as_called(text: str) -> str:
    """The text with our commands as the reader calls them: the installed command may lack such a `python`."""
    if Path(sys.argv[0]).stem == INSTALLED_COMMAND:
        for name, installed in CALLED.items():
            text = text.replace(name, installed)
    return text


class RagError(Exception):
    """Root of this project's errors. `code` is stable and meant for programs."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(as_called(message))
        self.message = as_called(message)
        self.hint = as_called(hint)

    def as_dict(self) -> dict[str, dict[str, str]]:
        """The error as the command line prints it with `--json`."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


class UsageError(RagError):
    code = "usage"
    exit_code = 2


class SettingsError(RagError):
    code = "settings"
    exit_code = 2


class ModelError(RagError):
    """`fetch` is the command that fetches the missing model, if there is one."""

    code = "model"

    def __init__(self, message: str, *, hint: str = "", fetch: str = "") -> None:
        super().__init__(message, hint=hint)
        self.fetch = fetch


class IndexMissingError(RagError):
    code = "index_missing"


class IndexCorruptError(RagError):
    code = "index_corrupt"


class IndexMismatchError(RagError):
    code = "index_mismatch"


class IndexLockedError(RagError):
    code = "index_locked"


class StoreError(RagError):
    code = "store"


class IngestError(RagError):
    code = "ingest"


class Unreadable(StrEnum):
    """Why a file did not become a document, as readers are told."""

    DAMAGED = "damaged"
    PROTECTED = "protected"
    SCANNED = "scanned"
    EMPTY = "empty"
    ENCODING = "encoding"
    LARGE = "large"
    PROGRAM = "program"
    FILE = "file"


class DocumentError(RagError):
    code = "document"

    def __init__(self, message: str, *, hint: str = "", reason: Unreadable = Unreadable.DAMAGED) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class ChatModelProblem(StrEnum):
    """Why a chat model's answer could not be used, as readers are told."""

    UNAUTHORIZED = "unauthorized"
    UNKNOWN = "unknown"
    BUSY = "busy"
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    BROKEN = "broken"
    CUT = "cut"
    LOOPS = "loops"
    LANGUAGE = "language"
    UNSUPPORTED = "unsupported"
    FAILED = "failed"


class ChatModelError(RagError):
    code = "chat_model"

    def __init__(self, message: str, *, hint: str = "", problem: ChatModelProblem = ChatModelProblem.FAILED) -> None:
        super().__init__(message, hint=hint)
        self.problem = problem


class UserDataError(RagError):
    code = "user_data"
