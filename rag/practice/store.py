"""What a reader practised, on disk: reviews (only ever appended), the cards they lead to, bookmarks, notes, rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.practice.grading import Verdict
from rag.practice.rounds import Round
from rag.practice.schedule import Card, Review
from rag.user_database import UserDatabase

FILE = "practice.sqlite"


@dataclass(frozen=True, slots=True)
class Jotting:
    """What a reader keeps about a question: `note`, `version` (my version of the answer), `draft` (an attempt that was
    not yet graded)."""

    bookmarked: bool = False
    note: str = ""
    version: str = ""
    draft: str = ""


class PracticeStore:
    """Safe to use from several threads and processes; every reader by name (`user`), "" where nobody signs in. All
    methods raise UserDataError. `database.set_aside` is where a damaged predecessor now lies."""

    database: UserDatabase

    def __init__(self, folder: Path | None) -> None:
        """The file in a folder (the setting `data`); None keeps everything in memory."""
        raise NotImplementedError

    def close(self) -> None: ...

    def review(self, user: str, review: Review) -> Card:
        """Append a review and move its card."""
        raise NotImplementedError

    def cards(self, user: str) -> dict[str, Card]:
        raise NotImplementedError

    def reviews(self, user: str, question_id: str | None = None) -> Sequence[Review]:
        """The log in order, of one question or of all."""
        raise NotImplementedError

    def rebuild(self, user: str) -> dict[str, Card]:
        """Make the cards anew from the log."""
        raise NotImplementedError

    def jottings(self, user: str) -> dict[str, Jotting]:
        raise NotImplementedError

    def jot(self, user: str, question_id: str, jotting: Jotting) -> None:
        """Keep these in place of what was kept."""
        raise NotImplementedError

    def override(self, user: str, question_id: str, attempt: str, point: str, verdict: Verdict | None) -> None:
        """Keep the reader's own verdict on a point of an attempt; None takes it back."""
        raise NotImplementedError

    def overrides(self, user: str, question_id: str, attempt: str) -> Mapping[str, Verdict]:
        """The reader's own verdicts on an attempt, by the text of the point."""
        raise NotImplementedError

    def save_round(self, user: str, round: Round) -> None:
        raise NotImplementedError

    def rounds(self, user: str, *, unfinished: bool = False) -> Sequence[Round]:
        """The newest first."""
        raise NotImplementedError

    def export(self, user: str) -> dict[str, Any]:
        """Everything of a reader, as JSON has it."""
        raise NotImplementedError

    def restore(self, user: str, exported: Mapping[str, Any]) -> int:
        """Add what an export holds and is not there yet; gives how many reviews were added. Raises UsageError for what
        is no export."""
        raise NotImplementedError
