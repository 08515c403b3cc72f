"""Readers' opinions of answers, stored with the question, the evidence, the answer and the settings it came from."""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rag.errors import UserDataError
from rag.types import Answer
from rag.user_database import BUSY_SECONDS, UserDatabase

FILE = "feedback.sqlite"
VERSION = 1
# Set in the settings of an answer that came from a file, which anybody may have written.
IMPORTED = "imported"
DAMAGED_HINT = "restore the file from a copy, or export the feedback of another folder with --data"
SCHEMA = """
CREATE TABLE feedback (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, conversation INTEGER NOT NULL, exchange INTEGER NOT NULL,
    at REAL NOT NULL, liked INTEGER NOT NULL, opinion TEXT NOT NULL, UNIQUE (user, conversation, exchange)
) STRICT
"""


@dataclass(frozen=True, slots=True)
class EvidencePassage:
    """A passage that was found for a question; `text` is its text at that time."""

    document: str
    title: str
    section: tuple[str, ...]
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """A reader's opinion of an answer. `question` stands alone; `answer.question` is the one typed. `prompt` holds the
    messages that asked for it, or would have asked a chat model, as (role, text). `reasons` are names of the page's
    choices, `note` is the reader's own text."""

    liked: bool
    question: str
    answer: Answer
    evidence: tuple[EvidencePassage, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    prompt: tuple[tuple[str, str], ...] = ()
    reasons: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A stored opinion; `at` is in seconds since 1970."""

    id: int
    user: str
    at: float
    opinion: Opinion


OPINION = TypeAdapter(Opinion)


class FeedbackStore:
    """One opinion for each answer of a reader; a later one replaces the earlier."""

    def __init__(self, folder: Path | None) -> None:
        """Raises UserDataError."""
        self.database = UserDatabase(folder and folder / FILE, SCHEMA, VERSION)

    def close(self) -> None:
        self.database.close()

    def put(self, user: str, conversation: int, exchange: int, opinion: Opinion) -> None:
        with self.database.writing() as connection:
            connection.execute(
                "INSERT INTO feedback (user, conversation, exchange, at, liked, opinion) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET at = excluded.at, liked = excluded.liked, opinion = excluded.opinion",
                (user, conversation, exchange, time.time(), opinion.liked, OPINION.dump_json(opinion).decode()),
            )

    def take_back(self, user: str, conversation: int, exchange: int) -> None:
        with self.database.writing() as connection:
            connection.execute(
                "DELETE FROM feedback WHERE user = ? AND conversation = ? AND exchange = ?",
                (user, conversation, exchange),
            )

    def ratings(self, user: str, conversation: int) -> dict[int, bool]:
        """Which answers of a conversation the reader liked or disliked, by the number of their exchange."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT exchange, liked FROM feedback WHERE user = ? AND conversation = ?", (user, conversation)
            ).fetchall()
        return {number: bool(liked) for number, liked in rows}

    def all(self, user: str | None = None) -> Sequence[Feedback]:
        """All feedback, in the order in which it was first given; with `user`, that reader's only."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT id, user, at, opinion FROM feedback WHERE ?1 IS NULL OR user = ?1 ORDER BY id", (user,)
            ).fetchall()
        return [Feedback(number, name, at, OPINION.validate_json(opinion)) for number, name, at, opinion in rows]


def read_feedback(folder: Path) -> list[Feedback]:
    """All feedback in the file of a folder, which is only read: nothing is created, repaired or renamed. Raises
    UserDataError if there is no file, or it is damaged or of a newer version."""
    file = folder / FILE
    if not file.is_file():
        raise UserDataError(
            f"there is no feedback at {folder}", hint="rate answers on the page first, or name its folder with --data"
        )
    # SQLite creates files beside a database that nobody has open, unless it is told that nobody will write.
    mode = "mode=ro" if Path(f"{file}-wal").exists() else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?{mode}", uri=True, timeout=BUSY_SECONDS)) as database:
            (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if found != "ok" or version > VERSION:
                raise UserDataError(
                    f"{file} is damaged: {found}" if found != "ok" else f"{file} has format {version}, not {VERSION}",
                    hint="nothing was changed; " + (DAMAGED_HINT if found != "ok" else "use the newer program"),
                )
            rows = database.execute("SELECT id, user, at, opinion FROM feedback ORDER BY id").fetchall()
        return [Feedback(number, name, at, OPINION.validate_json(opinion)) for number, name, at, opinion in rows]
    except (sqlite3.Error, ValidationError) as error:
        raise UserDataError(f"{file} cannot be read: {error}", hint=f"nothing was changed; {DAMAGED_HINT}") from error
