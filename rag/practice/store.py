"""A reader's practice on disk: reviews (only ever appended), the cards they produce, bookmarks, notes, rounds."""

import logging
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rag.errors import UsageError
from rag.practice.grading import Verdict
from rag.practice.plan import Plan
from rag.practice.rounds import Round
from rag.practice.schedule import Card, CardReview, Rating, in_order, rebuilt
from rag.user_database import UserDatabase

logger = logging.getLogger(__name__)

FILE = "practice.sqlite"
VERSION = 2
PLANS = "CREATE TABLE plans (user TEXT NOT NULL PRIMARY KEY, plan TEXT NOT NULL) STRICT"
# Cards only save replaying the log: `rebuild` recreates them.
SCHEMA = f"""
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, question TEXT NOT NULL, at TEXT NOT NULL,
    rating TEXT NOT NULL, score REAL, attempt TEXT NOT NULL, answer_sha256 TEXT NOT NULL, seconds REAL
) STRICT;
CREATE INDEX reviews_of_user ON reviews (user, question);
CREATE TABLE cards (
    user TEXT NOT NULL, question TEXT NOT NULL, card TEXT NOT NULL, PRIMARY KEY (user, question)
) STRICT;
CREATE TABLE jottings (
    user TEXT NOT NULL, question TEXT NOT NULL, jotting TEXT NOT NULL, PRIMARY KEY (user, question)
) STRICT;
CREATE TABLE overrides (
    user TEXT NOT NULL, question TEXT NOT NULL, attempt TEXT NOT NULL, point TEXT NOT NULL, verdict TEXT NOT NULL,
    PRIMARY KEY (user, question, attempt, point)
) STRICT;
CREATE TABLE rounds (
    user TEXT NOT NULL, id TEXT NOT NULL, begun TEXT NOT NULL, finished INTEGER NOT NULL, round TEXT NOT NULL,
    PRIMARY KEY (user, id)
) STRICT;
{PLANS}
"""


def _with_plans(connection: sqlite3.Connection) -> None:
    connection.execute(PLANS)


MIGRATIONS = {1: _with_plans}
EXPORT_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Jotting:
    """A reader's notes about a question: `note`, `version` (my version of the answer), `draft` (an attempt not yet
    graded)."""

    bookmarked: bool = False
    note: str = ""
    version: str = ""
    draft: str = ""


@dataclass(frozen=True, slots=True)
class Override:
    """A reader's own verdict on a point of an attempt."""

    question_id: str
    attempt: str
    point: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Export:
    """All data of a reader."""

    format: int
    exported: datetime
    reviews: tuple[CardReview, ...] = ()
    jottings: Mapping[str, Jotting] | None = None
    overrides: tuple[Override, ...] = ()
    rounds: tuple[Round, ...] = ()
    plan: Plan | None = None


CARD, JOTTING, ROUND, PLAN = TypeAdapter(Card), TypeAdapter(Jotting), TypeAdapter(Round), TypeAdapter(Plan)
EXPORT = TypeAdapter(Export)
REVIEW_COLUMNS = "question, at, rating, score, attempt, answer_sha256, seconds"


class PracticeStore:
    """Safe to use from several threads and processes; every reader by name (`user`), "" without sign-in. All methods
    raise UserDataError. `database.set_aside` is the new place of a damaged predecessor."""

    def __init__(self, folder: Path | None) -> None:
        """The file in a folder (the setting `data`); None keeps everything in memory."""
        self.database = UserDatabase(folder and folder / FILE, SCHEMA, VERSION, MIGRATIONS)

    def close(self) -> None:
        self.database.close()

    def review(self, user: str, review: CardReview) -> Card:
        """Append a review and move its card. Its time is never before that of the previous review."""
        with self.database.writing() as connection:
            log = _reviews(connection, user, review.question_id)
            before = rebuilt(log).get(review.question_id)
            review = replace(review, at=in_order(before, review.at))
            card = rebuilt([*log, review])[review.question_id]
            _append(connection, user, review)
            _put(connection, user, card)
        return card

    def cards(self, user: str) -> dict[str, Card]:
        """The cards of a reader by question."""
        with self.database.reading() as connection:
            rows = connection.execute("SELECT question, card FROM cards WHERE user = ?", (user,)).fetchall()
        cards = {question: _card(card) for question, card in rows}
        if None in cards.values():
            return self.rebuild(user)
        return {question: card for question, card in cards.items() if card is not None}

    def reviews(self, user: str, question_id: str | None = None) -> Sequence[CardReview]:
        """The log in order, of one question or of all."""
        with self.database.reading() as connection:
            return _reviews(connection, user, question_id)

    def rebuild(self, user: str) -> dict[str, Card]:
        """Recreate the cards from the log."""
        with self.database.writing() as connection:
            return _rebuild(connection, user)

    def jottings(self, user: str) -> dict[str, Jotting]:
        """The reader's jottings, by question."""
        with self.database.reading() as connection:
            rows = connection.execute("SELECT question, jotting FROM jottings WHERE user = ?", (user,)).fetchall()
        return {question: JOTTING.validate_json(jotting) for question, jotting in rows}

    def jot(self, user: str, question_id: str, jotting: Jotting) -> None:
        """Replace the jotting of a question."""
        with self.database.writing() as connection:
            _jot(connection, user, question_id, jotting)

    def override(self, user: str, question_id: str, attempt: str, point: str, verdict: Verdict | None) -> None:
        """Keep the reader's own verdict on a point of an attempt; None removes it."""
        with self.database.writing() as connection:
            if verdict is None:
                connection.execute(
                    "DELETE FROM overrides WHERE user = ? AND question = ? AND attempt = ? AND point = ?",
                    (user, question_id, attempt, point),
                )
            else:
                connection.execute(
                    "INSERT OR REPLACE INTO overrides VALUES (?, ?, ?, ?, ?)",
                    (user, question_id, attempt, point, verdict),
                )

    def overrides(self, user: str, question_id: str, attempt: str) -> Mapping[str, Verdict]:
        """The reader's own verdicts on an attempt, by the text of the point."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT point, verdict FROM overrides WHERE user = ? AND question = ? AND attempt = ?",
                (user, question_id, attempt),
            ).fetchall()
        return {point: Verdict(verdict) for point, verdict in rows}

    def save_round(self, user: str, round: Round) -> None:
        """Store a round as it is now, in place of its earlier state."""
        with self.database.writing() as connection:
            _save_round(connection, user, round)

    def rounds(self, user: str, *, unfinished: bool = False) -> Sequence[Round]:
        """Newest first. Unreadable ones are left out."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT round FROM rounds WHERE user = ? AND finished <= ? ORDER BY begun DESC, id",
                (user, 0 if unfinished else 1),
            ).fetchall()
        found = []
        for (text,) in rows:
            try:
                found.append(ROUND.validate_json(text))
            except ValidationError as error:
                logger.warning("a round cannot be read: %s", error)
        return found

    def plan(self, user: str) -> Plan:
        """The reader's plan; an unreadable one counts as none."""
        with self.database.reading() as connection:
            row = connection.execute("SELECT plan FROM plans WHERE user = ?", (user,)).fetchone()
        try:
            return PLAN.validate_json(row[0]) if row else Plan()
        except ValidationError as error:
            logger.warning("a plan cannot be read: %s", error)
            return Plan()

    def save_plan(self, user: str, plan: Plan) -> None:
        """Replace the reader's plan."""
        with self.database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO plans VALUES (?, ?)", (user, PLAN.dump_json(plan).decode()))

    def export(self, user: str) -> dict[str, Any]:
        """All data of a reader, as JSON types."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT question, attempt, point, verdict FROM overrides WHERE user = ? ORDER BY rowid", (user,)
            ).fetchall()
        overrides = tuple(
            Override(question, attempt, point, Verdict(verdict)) for question, attempt, point, verdict in rows
        )
        everything = Export(
            EXPORT_FORMAT, datetime.now(UTC), tuple(self.reviews(user)), self.jottings(user), overrides,
            tuple(self.rounds(user)), self.plan(user),
        )  # fmt: skip
        exported: dict[str, Any] = EXPORT.dump_python(everything, mode="json")
        return exported

    def restore(self, user: str, exported: Mapping[str, Any]) -> int:
        """Add what an export has and the store lacks; returns how many reviews were added. Existing data are not
        changed. Raises UsageError if it is no export."""
        try:
            found = EXPORT.validate_python(dict(exported))
        except ValidationError as error:
            problem = error.errors()[0]
            raise UsageError(
                f"this is no export of practice: {'.'.join(map(str, problem['loc']))}: {problem['msg']}",
                hint="name a file that was exported here; nothing was changed",
            ) from error
        if found.format != EXPORT_FORMAT:
            raise UsageError(
                f"the export has format {found.format}, this program reads format {EXPORT_FORMAT}",
                hint="use the version of the program that wrote it; nothing was changed",
            )
        jottings, rounds = self.jottings(user), {round.id for round in self.rounds(user)}
        if found.plan is not None and self.plan(user) == Plan():
            self.save_plan(user, found.plan)
        with self.database.writing() as connection:
            known = set(_reviews(connection, user))
            added = [review for review in found.reviews if review not in known]
            for review in added:
                _append(connection, user, replace(review, at=in_order(None, review.at)))
            _rebuild(connection, user)
            for question, jotting in (found.jottings or {}).items():
                if question not in jottings:
                    _jot(connection, user, question, jotting)
            for override in found.overrides:
                connection.execute(
                    "INSERT OR IGNORE INTO overrides VALUES (?, ?, ?, ?, ?)",
                    (user, override.question_id, override.attempt, override.point, override.verdict),
                )
            for round in found.rounds:
                if round.id not in rounds:
                    _save_round(connection, user, round)
        return len(added)


def _reviews(connection: sqlite3.Connection, user: str, question_id: str | None = None) -> list[CardReview]:
    rows = connection.execute(
        f"SELECT {REVIEW_COLUMNS} FROM reviews WHERE user = ?1 AND (?2 IS NULL OR question = ?2) ORDER BY at, id",
        (user, question_id),
    )
    return [CardReview(row[0], datetime.fromisoformat(row[1]), Rating(row[2]), *row[3:]) for row in rows]


def _append(connection: sqlite3.Connection, user: str, review: CardReview) -> None:
    connection.execute(
        f"INSERT INTO reviews (user, {REVIEW_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            user, review.question_id, review.at.isoformat(timespec="microseconds"), review.rating, review.score,
            review.attempt, review.answer_sha256, review.seconds,
        ),
    )  # fmt: skip


def _put(connection: sqlite3.Connection, user: str, card: Card) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO cards VALUES (?, ?, ?)", (user, card.question_id, CARD.dump_json(card).decode())
    )


def _rebuild(connection: sqlite3.Connection, user: str) -> dict[str, Card]:
    cards = rebuilt(_reviews(connection, user))
    connection.execute("DELETE FROM cards WHERE user = ?", (user,))
    for card in cards.values():
        _put(connection, user, card)
    return cards


def _jot(connection: sqlite3.Connection, user: str, question_id: str, jotting: Jotting) -> None:
    text = JOTTING.dump_json(jotting).decode()
    connection.execute("INSERT OR REPLACE INTO jottings VALUES (?, ?, ?)", (user, question_id, text))


def _save_round(connection: sqlite3.Connection, user: str, round: Round) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, ?, ?)",
        (user, round.id, round.begun.isoformat(), round.is_finished, ROUND.dump_json(round).decode()),
    )


def _card(text: str) -> Card | None:
    """None if the stored card is unreadable: the log still has it."""
    try:
        return CARD.validate_json(text)
    except ValidationError as error:
        logger.warning("a card is made anew from its reviews: %s", error)
        return None
