"""Conversations on disk: per reader, with every branch; written when a question is asked and when it is answered."""

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rag.user_database import UserDatabase

FILE = "conversations.sqlite"
VERSION = 4
# Conversation numbers begin with the second in which the file was made: feedback about a lost file's conversations then
# refers to none in its successor.
# An exchange only follows an older one: a parent that is not older could make a conversation circular.
EXCHANGES = """
CREATE TABLE exchanges (
    conversation INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE, number INTEGER NOT NULL,
    parent INTEGER CHECK (parent < number), question TEXT NOT NULL, begun REAL NOT NULL, ended REAL,
    state TEXT NOT NULL, said TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (conversation, number)
) STRICT
"""
SCHEMA = f"""
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, title TEXT NOT NULL, created REAL NOT NULL,
    updated REAL NOT NULL, deleted REAL, tip INTEGER, named INTEGER NOT NULL DEFAULT 0, pinned REAL,
    tag TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX conversations_of_user ON conversations (user, updated);
{EXCHANGES};
INSERT INTO sqlite_sequence VALUES ('conversations', unixepoch())
"""
TITLE_CHARACTERS = 80
TAG_CHARACTERS = 30
LISTED = 100
# Seconds for which a deletion can be undone.
RESTORABLE = 600.0


@dataclass(frozen=True, slots=True)
class ListedConversation:
    """A conversation as the list shows it; `updated` in seconds since 1970. `question`, `reply` and `number` are those
    of the first exchange that matches the search; an empty `tag` is none."""

    id: int
    title: str
    updated: float
    question: str = ""
    reply: str = ""
    number: int = 0
    pinned: bool = False
    tag: str = ""


@dataclass(frozen=True, slots=True)
class ExchangePlace:
    """Where a question was stored: its conversation, its number there, and the number of the exchange it follows."""

    conversation: int
    number: int
    parent: int | None


@dataclass(frozen=True, slots=True)
class StoredExchange:
    """`state` is the last one written; `record` is JSON, empty until the exchange has ended."""

    number: int
    parent: int | None
    question: str
    state: str
    reply: str = ""
    record: str = ""


@dataclass(frozen=True, slots=True)
class StoredConversation:
    id: int
    title: str
    tip: int | None
    exchanges: tuple[StoredExchange, ...]
    tag: str = ""


class Conversations:
    """Safe to use from several threads and processes. For a reader, other readers' conversations do not exist. All
    methods raise UserDataError."""

    def __init__(self, folder: Path | None) -> None:
        self.database = UserDatabase(
            folder and folder / FILE, SCHEMA, VERSION, {1: _order_parents, 2: _add_named_and_pinned, 3: _add_tag}
        )

    def close(self) -> None:
        self.database.close()

    def begin(
        self, user: str, conversation: int | None, parent: int | None, question: str, state: str
    ) -> ExchangePlace:
        """Store a question that follows the exchange `parent`; the first one begins and names a conversation.

        Replacing the first renames it, unless its reader has named it. A conversation deleted meanwhile comes back, or
        begins again if it is gone for good. A parent that was never stored counts as none.
        """
        now = time.time()
        with self.database.writing() as connection:
            kept = connection.execute(
                "UPDATE conversations SET deleted = NULL WHERE id = ? AND user = ? RETURNING id", (conversation, user)
            ).fetchone()
            if kept is None:
                conversation = connection.execute(
                    "INSERT INTO conversations (user, title, created, updated) VALUES (?, ?, ?, ?) RETURNING id",
                    (user, title_of(question), now, now),
                ).fetchone()[0]
            elif parent is None:
                connection.execute(
                    "UPDATE conversations SET title = ? WHERE id = ? AND NOT named", (title_of(question), conversation)
                )
            stored = connection.execute(
                "SELECT number FROM exchanges WHERE conversation = ? AND number = ?", (conversation, parent)
            ).fetchone()
            parent = stored and stored[0]
            number = connection.execute(
                "SELECT coalesce(max(number), 0) + 1 FROM exchanges WHERE conversation = ?", (conversation,)
            ).fetchone()[0]
            connection.execute(
                "INSERT INTO exchanges VALUES (?, ?, ?, ?, ?, NULL, ?, '', '')",
                (conversation, number, parent, question, now, state),
            )
            connection.execute(
                "UPDATE conversations SET updated = ?, tip = ? WHERE id = ?", (now, number, conversation)
            )
        assert conversation is not None
        return ExchangePlace(conversation, int(number), parent)

    def end(self, user: str, conversation: int, exchange: StoredExchange) -> None:
        """Store the outcome of a question."""
        with self.database.writing() as connection:
            connection.execute(
                "UPDATE exchanges SET ended = ?, state = ?, said = ?, record = ? WHERE conversation = ? AND number = ?"
                " AND EXISTS (SELECT 1 FROM conversations WHERE id = conversation AND user = ?)",
                (time.time(), exchange.state, exchange.reply, exchange.record, conversation, exchange.number, user),
            )

    def add(self, user: str, title: str, exchanges: Sequence[StoredExchange], tag: str = "") -> int:
        """Store a whole conversation, which opens at its last exchange; returns its number."""
        now = time.time()
        with self.database.writing() as connection:
            conversation = connection.execute(
                "INSERT INTO conversations (user, title, created, updated, tip, tag) VALUES (?, ?, ?, ?, ?, ?)"
                " RETURNING id",
                (user, title, now, now, exchanges[-1].number, tag_of(tag)),
            ).fetchone()[0]
            connection.executemany(
                "INSERT INTO exchanges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (conversation, one.number, one.parent, one.question, now, now, one.state, one.reply, one.record)
                    for one in exchanges
                ],
            )
        return int(conversation)

    def list(
        self, user: str, sought: str = "", tag: str = "", *, limit: int = LISTED + 1
    ) -> Sequence[ListedConversation]:
        """The newest conversations, one more than are shown, to tell whether there are more; with `sought`, those whose
        title, tag, questions or answers contain every word of it; with `tag`, those that have this one."""
        words = [f"%{_escaped(word)}%" for word in sought.split()]
        # Words match anywhere: Chinese has no spaces.
        condition = (
            " AND (title LIKE ? ESCAPE '\\' OR tag LIKE ? ESCAPE '\\'"
            " OR EXISTS (SELECT 1 FROM exchanges WHERE conversation = c.id"
            " AND (question LIKE ? ESCAPE '\\' OR said LIKE ? ESCAPE '\\')))"
        ) * len(words) + " AND tag = ?" * bool(tag)
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT id, title, updated, pinned, tag FROM conversations c"
                f" WHERE user = ? AND deleted IS NULL{condition}"
                " ORDER BY pinned IS NULL, pinned DESC, updated DESC, id DESC LIMIT ?",
                (user, *(word for word in words for _ in range(4)), *([tag] if tag else []), limit),
            ).fetchall()
            found = _exchanges_with(connection, [row[0] for row in rows], words) if words else {}
        nothing = ("", "", 0)
        return [
            ListedConversation(number, title, updated, *found.get(number, nothing), pinned=pinned is not None, tag=of)
            for number, title, updated, pinned, of in rows
        ]

    def tags(self, user: str) -> Sequence[str]:
        """Those in use, in order."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT DISTINCT tag FROM conversations WHERE user = ? AND deleted IS NULL AND tag <> '' ORDER BY tag",
                (user,),
            ).fetchall()
        return [tag for (tag,) in rows]

    def load(self, user: str, conversation: int) -> StoredConversation | None:
        """A conversation with all its exchanges, in order of number; None if it does not exist."""
        with self.database.reading() as connection:
            found = connection.execute(
                "SELECT id, title, tip, tag FROM conversations WHERE id = ? AND user = ? AND deleted IS NULL",
                (conversation, user),
            ).fetchone()
            if found is None:
                return None
            rows = connection.execute(
                "SELECT number, parent, question, state, said, record FROM exchanges WHERE conversation = ?"
                " ORDER BY number",
                (conversation,),
            ).fetchall()
        number, title, tip, tag = found
        return StoredConversation(number, title, tip, tuple(StoredExchange(*row) for row in rows), tag)

    def rename(self, user: str, conversation: int, title: str) -> None:
        """An empty title changes nothing."""
        if title_of(title):
            self._update("named = 1, title = ?", title_of(title), user, conversation)

    def pin(self, user: str, conversation: int) -> None:
        """Move it above the others, or back to its place by age."""
        self._update("pinned = CASE WHEN pinned IS NULL THEN ? END", time.time(), user, conversation)

    def tag(self, user: str, tag: str, *conversations: int) -> None:
        """The tag takes the place of the one they have; an empty one takes it away."""
        with self.database.writing() as connection:
            connection.executemany(
                "UPDATE conversations SET tag = ? WHERE id = ? AND user = ?",
                [(tag_of(tag), conversation, user) for conversation in conversations],
            )

    def turn_to(self, user: str, conversation: int, tip: int) -> None:
        """Remember the shown branch."""
        self._update("tip = ?", tip, user, conversation)

    def delete(self, user: str, conversation: int) -> bool:
        """Returns whether it was the user's. For a while `restore` brings it back; then the file no longer has it."""
        is_theirs = self._update("deleted = ?", time.time(), user, conversation)
        self.purge()
        return is_theirs

    def restore(self, user: str, conversation: int) -> None:
        self._update("deleted = ?", None, user, conversation)

    def purge(self, *, older_than: float = RESTORABLE) -> None:
        """Permanently remove what was deleted more than that many seconds ago."""
        with self.database.writing() as connection:
            connection.execute("DELETE FROM conversations WHERE deleted <= ?", (time.time() - older_than,))

    def _update(self, change: str, value: object, user: str, conversation: int) -> bool:
        with self.database.writing() as connection:
            changed = connection.execute(
                f"UPDATE conversations SET {change} WHERE id = ? AND user = ?", (value, conversation, user)
            )
            return changed.rowcount > 0


def title_of(question: str) -> str:
    """The title of a conversation that begins with a question: its words on one line, cut if long."""
    line = " ".join(question.split())
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"


def tag_of(text: str) -> str:
    """A tag as it is kept: its words on one line, cut if long."""
    return " ".join(text.split())[:TAG_CHARACTERS].rstrip()


def _order_parents(connection: sqlite3.Connection) -> None:
    """From version 1, in which an exchange could be stored as following itself or a later one; it now follows the
    previous one."""
    connection.execute("ALTER TABLE exchanges RENAME TO unordered")
    connection.execute(EXCHANGES)
    connection.execute(
        "INSERT INTO exchanges SELECT conversation, number, CASE WHEN parent < number THEN parent ELSE"
        " (SELECT max(number) FROM unordered u WHERE u.conversation = o.conversation AND u.number < o.number"
        " AND o.parent IS NOT NULL) END, question, begun, ended, state, said, record FROM unordered o"
    )
    connection.execute("DROP TABLE unordered")


def _add_named_and_pinned(connection: sqlite3.Connection) -> None:
    """From version 2, which did not say who named a conversation: its reader, if the first question does not begin with
    the name."""
    connection.execute("ALTER TABLE conversations ADD COLUMN named INTEGER NOT NULL DEFAULT 0")
    connection.execute("ALTER TABLE conversations ADD COLUMN pinned REAL")
    rows = connection.execute(
        "SELECT c.id, c.title, e.question FROM conversations c JOIN exchanges e ON e.conversation = c.id"
        " WHERE e.number = (SELECT min(number) FROM exchanges WHERE conversation = c.id)"
    ).fetchall()
    named = [(conversation,) for conversation, title, question in rows if title != title_of(question)]
    connection.executemany("UPDATE conversations SET named = 1 WHERE id = ?", named)


def _add_tag(connection: sqlite3.Connection) -> None:
    """From version 3, in which no conversation had one."""
    connection.execute("ALTER TABLE conversations ADD COLUMN tag TEXT NOT NULL DEFAULT ''")


def _exchanges_with(
    connection: sqlite3.Connection, conversations: Sequence[int], patterns: Sequence[str]
) -> dict[int, tuple[str, str, int]]:
    """Question, answer and number of each conversation's first exchange with all words, else with one of them."""
    holds = ["(question LIKE ? ESCAPE '\\' OR said LIKE ? ESCAPE '\\')"] * len(patterns)
    values = [pattern for pattern in patterns for _ in range(2)]
    # SQLite takes the other columns from the row with the least number.
    rows = connection.execute(
        "SELECT conversation, question, said, number,"
        f" min(CASE WHEN {' AND '.join(holds)} THEN number ELSE number + 1e9 END)"
        f" FROM exchanges WHERE conversation IN ({','.join('?' * len(conversations))}) AND ({' OR '.join(holds)})"
        " GROUP BY conversation",
        (*values, *conversations, *values),
    ).fetchall()
    return {row[0]: row[1:4] for row in rows}


def _escaped(word: str) -> str:
    return "".join(f"\\{character}" if character in "\\%_" else character for character in word)
