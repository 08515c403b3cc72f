"""Saves a session's conversation as it proceeds, and loads stored ones. If saving fails, the reader sees a note, and
answering continues."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rag.errors import UserDataError
from rag.feedback.store import FeedbackStore, Opinion
from rag.ui.browser_input import names_of
from rag.ui.conversations.import_conversation import Imported
from rag.ui.conversations.records import from_stored, to_stored
from rag.ui.conversations.store import Conversations, ListedConversation, StoredConversation, title_of
from rag.ui.session.session import Exchange, Session, State

logger = logging.getLogger(__name__)


class Keeper:
    """The stores of conversations and feedback. `problem` says why nothing is saved, `set_aside` which damaged files
    were set aside."""

    def __init__(self, folder: Path | None) -> None:
        self.problem: UserDataError | None = None
        # Exchanges being written, with the session that requested them, by conversation and number.
        self._written: dict[tuple[int | None, int], tuple[Session, Exchange]] = {}
        try:
            self.conversations, self.feedback = Conversations(folder), FeedbackStore(folder)
            self.conversations.purge()
        except UserDataError as error:
            logger.warning("%s; conversations are forgotten when the program ends (%s)", error.message, error.hint)
            self.problem = error
            self.conversations, self.feedback = Conversations(None), FeedbackStore(None)

    @property
    def set_aside(self) -> list[Path]:
        databases = (self.conversations.database, self.feedback.database)
        return [database.set_aside for database in databases if database.set_aside is not None]

    def close(self) -> None:
        self.conversations.close()
        self.feedback.close()

    def begin(self, session: Session, question: str, parent: int | None) -> Exchange:
        """A new exchange after `parent`, stored if possible. If the reader opens another conversation during storing,
        it belongs to the one in which it was asked, and is not shown."""
        if session.user is None:
            return session.begin(question, parent=parent, number=session.unkept_number())
        opened, conversation = session.conversation_count, session.conversation
        begun = None
        with self._reporting(session):
            begun = self.conversations.begin(
                session.user, conversation, session.kept_before(parent), question, State.SEARCHING
            )
        number = session.unkept_number() if begun is None else begun.number
        if session.conversation_count != opened:
            elsewhere = begun.conversation if begun else None
            return self._under_way(session, Exchange(number, question, None, conversation=elsewhere))
        if begun is not None and conversation not in (None, begun.conversation):  # deleted for good elsewhere
            session.clear()
            parent = None
        if begun is not None:
            session.conversation = begun.conversation
        return self._under_way(session, session.begin(question, parent=parent, number=number))

    def _under_way(self, session: Session, exchange: Exchange) -> Exchange:
        if exchange.is_kept:
            self._written[exchange.conversation, exchange.number] = session, exchange
        return exchange

    def writer(self, session: Session) -> Session | None:
        """The session for which the end of the shown branch is being written."""
        writer, exchange = self._written.get((session.conversation, session.tip or 0), (None, None))
        return writer if exchange is not None and exchange is session.find(session.tip or 0) else None

    def end(self, session: Session, exchange: Exchange) -> None:
        """Store a finished exchange, in the conversation in which it began."""
        self._written.pop((exchange.conversation, exchange.number), None)
        if session.user is not None and exchange.conversation is not None and exchange.is_kept:
            with self._reporting(session):
                self.conversations.end(session.user, exchange.conversation, to_stored(exchange))

    def list(self, session: Session) -> Sequence[ListedConversation]:
        """Those that match the search and have the chosen tag. A tag that is no longer in use is chosen no more."""
        if session.tag_filter and session.tag_filter not in self.tags(session):
            session.tag_filter = ""
        with self._reporting(session, wrote=False):
            if session.user is not None:
                return self.conversations.list(session.user, session.search_words, session.tag_filter)
        return ()

    def tags(self, session: Session) -> Sequence[str]:
        with self._reporting(session, wrote=False):
            return self.conversations.tags(session.user) if session.user is not None else ()
        return ()

    def open(self, session: Session, conversation: int, number: int = 0) -> None:
        """Show a stored conversation, at the exchange with that number, if there is one. If the conversation is
        missing, the present one stays, and the reader is told."""
        if not number or session.conversation != conversation:
            self._bring(session, conversation)
        if session.conversation == conversation and number in session.all_exchanges and not session.is_answering:
            if number not in [exchange.number for exchange in session.exchanges]:
                session.turn_to(number)
            session.reach(number)
            session.show(number)

    def _bring(self, session: Session, conversation: int) -> None:
        stored = self.load(session, conversation)
        if stored is None or session.user is None:
            session.missing = conversation
            return
        session.clear()
        session.conversation = conversation
        session.all_exchanges = {exchange.number: from_stored(exchange, conversation) for exchange in stored.exchanges}
        for number in session.all_exchanges:
            if (conversation, number) in self._written:
                session.all_exchanges[number] = self._written[conversation, number][1]
        session.last_number = max(session.all_exchanges, default=0)
        with self._reporting(session, wrote=False):
            for number, liked in self.feedback.ratings(session.user, conversation).items():
                if number in session.all_exchanges:
                    session.all_exchanges[number].liked = liked
        session.tip = stored.tip if stored.tip in session.all_exchanges else session.last_number or None
        session.show(session.tip or 0)
        session.only = names_of(session.all_exchanges[session.tip].used.get("only")) if session.tip else ()

    def load(self, session: Session, conversation: int) -> StoredConversation | None:
        with self._reporting(session, wrote=False):
            return self.conversations.load(session.user, conversation) if session.user is not None else None
        return None

    def import_conversation(self, session: Session, imported: Imported) -> None:
        """Store a conversation from a file as a new one, and show it. Raises UserDataError: an unsaved one cannot be
        shown."""
        if session.user is None:
            raise UserDataError("a page that has not greeted keeps nothing", hint="reload it")
        title = title_of(imported.title) or title_of(imported.exchanges[0].question)
        with self._reporting(session, raises=True):
            stored = [to_stored(exchange) for exchange in imported.exchanges]
            number = self.conversations.add(session.user, title, stored, imported.tag)
        self.open(session, number)

    def rename(self, session: Session, conversation: int, title: str) -> None:
        if session.user is not None:
            with self._reporting(session):
                self.conversations.rename(session.user, conversation, title)

    def delete(self, session: Session, *conversations: int) -> None:
        if session.user is not None:
            with self._reporting(session):
                session.deleted = tuple(c for c in conversations if self.conversations.delete(session.user, c))
                if session.conversation in session.deleted:
                    session.clear()

    def pin(self, session: Session, conversation: int) -> None:
        if session.user is not None:
            with self._reporting(session):
                self.conversations.pin(session.user, conversation)

    def tag(self, session: Session, tag: str, *conversations: int) -> None:
        if session.user is not None:
            with self._reporting(session):
                self.conversations.tag(session.user, tag, *conversations)

    def restore(self, session: Session) -> None:
        if session.user is not None:
            with self._reporting(session):
                for conversation in session.deleted:
                    self.conversations.restore(session.user, conversation)
                session.deleted = ()

    def turn_to(self, session: Session, number: int) -> None:
        session.turn_to(number)
        tip = session.kept_before(session.tip)
        if session.user is not None and session.conversation is not None and tip is not None:
            with self._reporting(session):
                self.conversations.turn_to(session.user, session.conversation, tip)

    def judge(self, session: Session, exchange: Exchange, opinion: Opinion | None) -> None:
        """Save the reader's opinion of an answer; None removes it. An unsaved exchange cannot have one, and the note
        says so."""
        if session.user is None or session.conversation is None or not exchange.is_kept:
            session.unkept = True
            return
        with self._reporting(session):
            place = (session.user, session.conversation, exchange.number)
            if opinion is None:
                self.feedback.take_back(*place)
            else:
                self.feedback.put(*place, opinion)
            exchange.liked = None if opinion is None else opinion.liked

    @contextmanager
    def _reporting(self, session: Session, *, wrote: bool = True, raises: bool = False) -> Iterator[None]:
        """The note stays until a write succeeds: a full disk can still be read. With `raises`, the caller reports more
        than the note does."""
        try:
            yield
        except UserDataError as error:
            logger.warning("%s (%s)", error.message, error.hint)
            session.unkept = True
            if raises:
                raise
        else:
            session.unkept = session.unkept and not wrote
