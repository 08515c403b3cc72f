"""One reader's questions and answers. Holds facts, not HTML, so that it can be shown in either language."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from rag.answer.choices import Choices
from rag.answer.running import Run
from rag.feedback.store import IMPORTED, EvidencePassage
from rag.types import Answer, Citation, Role, Step, Turn
from rag.ui.session.excerpts import Excerpt, Nearby
from rag.ui.session.practice import Practice
from rag.ui.texts import Language

# A conversation longer than this shows its newest exchanges only, so that the page stays bounded.
MAX_EXCHANGES = 100
# Exchanges of all branches that are kept in memory.
MAX_KNOWN = 1_000
# The least number of exchanges that the page shows of a conversation, and the step in which earlier ones are added on
# request, so that a long conversation costs no more than a short one.
STEP = 4
# Exchanges that could not be stored are numbered from here on, far from every number that the store gives.
UNKEPT = 1 << 40
# Set in `used`: documents were still being read.
EARLY = "early"
# Held briefly while an answer begins or ends, in any session: a session is copied, and a lock cannot be.
CLAIMS = threading.Condition()
# Seconds that a question waits for the end of an answer in a conversation that was left.
PATIENCE = 5.0


class State(StrEnum):
    AWAITING = "awaiting"
    SEARCHING = "searching"
    READING = "reading"
    LOADING = "loading"
    WRITING = "writing"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


UNFINISHED = frozenset({State.AWAITING, State.SEARCHING, State.READING, State.LOADING, State.WRITING})


@dataclass(slots=True)
class Exchange:
    """One question and its outcome. `number` counts from 1 within a conversation and is never used again.

    `conversation` is where it is stored. `parent` is the number of the exchange that it follows; those with the same
    parent are branches. `standalone` is the question as it was searched, `evidence` the passages found for it, `used`
    the settings and choices of that time, `prompt` the messages that asked for the answer. `offers` are questions about
    other parts of the page that was answered from.
    """

    number: int
    question: str
    parent: int | None = None
    conversation: int | None = None
    state: State = State.SEARCHING
    chunks: list[str] = field(default_factory=list)
    nearby: tuple[Nearby, ...] = ()
    standalone: str = ""
    evidence: tuple[EvidencePassage, ...] = ()
    used: Mapping[str, Any] = field(default_factory=dict)
    prompt: tuple[tuple[str, str], ...] = ()
    # When its evidence was found, in seconds since 1970: the wait for a model began then.
    since: float = 0.0
    # The agent's steps so far.
    steps: tuple[Step, ...] = ()
    answer: Answer | None = None
    excerpts: tuple[Excerpt, ...] = ()
    offers: tuple[str, ...] = ()
    follow_ups: tuple[str, ...] = ()
    problem: Exception | None = None
    liked: bool | None = None

    @property
    def is_kept(self) -> bool:
        return self.number < UNKEPT

    @property
    def is_imported(self) -> bool:
        """Whether it came from a file, which anybody may have written."""
        return self.used.get(IMPORTED) is True

    @property
    def is_early(self) -> bool:
        """Whether it was asked while documents were still being read."""
        return self.used.get(EARLY) is True

    @property
    def reply(self) -> str:
        return self.answer.text if self.answer is not None else "".join(self.chunks).strip()

    def title_of(self, citation: Citation, tag: str) -> str:
        """The title of a cited page in a reader's language."""
        english = next((one.english for one in self.excerpts if one.document == citation.document), "")
        return english if tag == Language.EN and english else citation.title

    @property
    def turns(self) -> list[Turn]:
        """The turns that a later question may lean on. A question that failed has no answer, but it was asked."""
        asked = Turn(Role.USER, self.question)
        refused = self.answer is not None and self.answer.refused
        return [asked, Turn(Role.ASSISTANT, self.reply, refused)] if self.reply else [asked]

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Questions that may be asked next."""
        refusal = self.answer.refusal if self.answer is not None else None
        return refusal.suggestions if refusal is not None else self.offers + self.follow_ups


@dataclass(slots=True)
class Session:
    """A reader and the conversation that is open. `user` is known once the page has greeted; without one nothing is
    kept. `all_exchanges` holds the exchanges of all branches, `tip` is the last one of the branch that is shown."""

    language: Language = Language.ZH
    user: str | None = None
    conversation: int | None = None
    all_exchanges: dict[int, Exchange] = field(default_factory=dict)
    tip: int | None = None
    # The answer under way: whether there is one, in which of the conversations opened so far, its run, and whether it
    # shall stop.
    busy: bool = False
    busy_in: int = 0
    run: Run | None = None
    stopping: bool = False
    preferences: Choices = field(default_factory=Choices)
    # The documents and folders that questions of this conversation are answered from; empty means all.
    only: tuple[str, ...] = ()
    # Documents given to this conversation that are being read, and those that could not be, with the reason.
    adding: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    practice: Practice = field(default_factory=Practice)
    # The question whose sources are shown, and the selected one of them.
    shown: int = 0
    selected: int = 0
    # Earlier exchanges that the reader asked to see.
    earlier_count: int = 0
    # The highest number in the conversation, the highest of those that could not be stored, and all questions so far.
    last_number: int = 0
    last_unkept: int = UNKEPT
    question_count: int = 0
    # Conversations opened or begun so far.
    conversation_count: int = 0
    # The question that the next one replaces, and the answer that is being rated.
    editing: int = 0
    judging: int = 0
    # Actions so far other than questions: they tell what was rendered before one from what was rendered after it.
    action_count: int = 0
    # The list of conversations: its search words, the tag that it is limited to (empty: none), those deleted last, and
    # the one that was not found (0: none).
    search_words: str = ""
    tag_filter: str = ""
    deleted: tuple[int, ...] = ()
    missing: int = 0
    unkept: bool = False
    # Whether the page last said that documents are being read for the first time.
    sees_reading: bool = False

    @property
    def choices(self) -> Choices:
        return replace(self.preferences, only=self.only, language=self.language)

    @property
    def is_answering(self) -> bool:
        """Whether a question of the open conversation is being answered; an answer in a conversation that was left is
        ending."""
        return self.busy and self.busy_in == self.conversation_count

    def claim(self) -> bool:
        """Whether a question may be answered now; if so, the caller must `release` the session. Waits for the end of an
        answer in a conversation that was left."""
        opened = self.conversation_count
        with CLAIMS:
            CLAIMS.wait_for(lambda: not self.busy or self.is_answering, PATIENCE)
            if self.busy or self.conversation_count != opened:  # the question does not belong to another conversation
                return False
            self.busy, self.busy_in, self.stopping = True, self.conversation_count, False
            return True

    def release(self) -> None:
        with CLAIMS:
            self.busy, self.run = False, None
            CLAIMS.notify_all()

    def start(self, run: Run) -> None:
        """Set the run that answers from now on; it stops at once if the reader has asked for that in the meantime."""
        with CLAIMS:
            self.run = run
            stopping = self.stopping
        if stopping:
            run.stop()

    def unkept_number(self) -> int:
        self.last_unkept += 1
        return self.last_unkept

    def kept_before(self, number: int | None) -> int | None:
        """The exchange itself where it is stored, else the last stored one that it follows."""
        return next((exchange.number for exchange in self._back(number) if exchange.is_kept), None)

    @property
    def exchanges(self) -> list[Exchange]:
        """The branch that is shown, oldest first."""
        return list(self._back(self.tip))[MAX_EXCHANGES - 1 :: -1]

    @property
    def left_out(self) -> int:
        """The number of exchanges of the branch above those on the page. It changes only with every fourth question,
        because each change redraws everything below."""
        count = len(self.exchanges)
        return max(0, count - count % STEP - STEP - self.earlier_count)

    def reach(self, number: int) -> None:
        """Bring an exchange onto the page."""
        place = next((at for at, exchange in enumerate(self.exchanges) if exchange.number == number), self.left_out)
        self.earlier_count += max(0, self.left_out - place)

    def begin(self, question: str, *, parent: int | None, number: int | None = None) -> Exchange:
        """A new exchange after `parent`, the end of the branch that is shown from now on."""
        exchange = Exchange(number or self.last_number + 1, question, parent, self.conversation)
        if exchange.is_kept:
            self.last_number = max(self.last_number, exchange.number)
        self.question_count += 1
        # Copied: the page may be reading the old one.
        self.all_exchanges = dict(list({**self.all_exchanges, exchange.number: exchange}.items())[-MAX_KNOWN:])
        self.tip = exchange.number
        self.earlier_count = 0
        self.editing = self.judging = self.missing = 0
        self.show(exchange.number)
        return exchange

    def find(self, number: int) -> Exchange | None:
        return self.all_exchanges.get(number)

    def place_of(self, number: int) -> int:
        """The position of an exchange in its branch, from 1."""
        return sum(1 for _ in self._back(number))

    def show(self, number: int, selected: int = 0) -> None:
        self.shown, self.selected = number, selected

    def history(self, parent: int | None) -> list[Turn]:
        """The turns up to an exchange, that one included."""
        path = list(self._back(parent))[MAX_EXCHANGES - 1 :: -1]
        return [turn for exchange in path for turn in exchange.turns]

    def branches(self, exchange: Exchange) -> list[int]:
        """The exchanges that follow the same one, itself included, oldest first."""
        return [number for number, other in self.all_exchanges.items() if other.parent == exchange.parent]

    def turn_to(self, number: int) -> None:
        """Show the branch of an exchange, down to its newest end."""
        seen = {number}
        while following := [n for n, other in self.all_exchanges.items() if other.parent == number and n not in seen]:
            number = following[-1]
            seen.add(number)
        self.tip = number
        self.earlier_count = self.editing = self.judging = 0
        self.show(number)

    def stop(self) -> None:
        with CLAIMS:
            self.stopping, run = True, self.run
        if run is not None:
            run.stop()

    def clear(self) -> None:
        """Begin a new conversation. Numbers go on, so that a late click on an old marker finds nothing."""
        self.stop()
        self.conversation_count += 1
        self.only = self.adding = self.unread = ()
        self.conversation, self.all_exchanges, self.tip = None, {}, None
        self.earlier_count = self.editing = self.judging = self.missing = 0
        self.show(0)

    def _back(self, number: int | None) -> Iterator[Exchange]:
        """An exchange and those that it follows. Ends even if the numbers form a loop: a file may hold anything."""
        known, seen = self.all_exchanges, set[int]()
        while number is not None and number not in seen and (exchange := known.get(number)) is not None:
            seen.add(number)
            yield exchange
            number = exchange.parent
