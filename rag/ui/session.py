"""What one reader has asked and been answered. Holds facts, not HTML: it can be shown in either language."""

from dataclasses import dataclass, field
from enum import StrEnum

from rag.choices import Choices
from rag.types import Answer, Turn
from rag.ui.running import Run
from rag.ui.sources import Excerpt, Nearby
from rag.ui.texts import Language

# A conversation longer than this forgets its oldest questions: memory, and what is sent to the page, stay bounded.
MAX_EXCHANGES = 100


class State(StrEnum):
    SEARCHING = "searching"
    LOADING = "loading"
    WRITING = "writing"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(slots=True)
class Exchange:
    """One question and what became of it. `number` counts from 1 within a conversation and is never used again."""

    number: int
    question: str
    state: State = State.SEARCHING
    chunks: list[str] = field(default_factory=list)
    nearby: tuple[Nearby, ...] = ()
    answer: Answer | None = None
    excerpts: tuple[Excerpt, ...] = ()
    problem: Exception | None = None

    @property
    def turns(self) -> list[Turn]:
        """What a later question may lean on; a question that failed was not answered, but it was asked."""
        said = self.answer.text if self.answer is not None else "".join(self.chunks).strip()
        return [Turn("user", self.question)] + ([Turn("assistant", said)] if said else [])


@dataclass(slots=True)
class Session:
    language: Language = Language.ZH
    exchanges: list[Exchange] = field(default_factory=list)
    run: Run | None = None
    preferences: Choices = field(default_factory=Choices)
    # The question whose sources are shown, and which of them is picked out.
    shown: int = 0
    selected: int = 0
    asked: int = 0

    @property
    def busy(self) -> bool:
        return self.run is not None

    def begin(self, question: str) -> Exchange:
        self.asked += 1
        exchange = Exchange(self.asked, question)
        self.exchanges = [*self.exchanges, exchange][-MAX_EXCHANGES:]
        self.show(exchange.number)
        return exchange

    def find(self, number: int) -> Exchange | None:
        return next((exchange for exchange in self.exchanges if exchange.number == number), None)

    def show(self, number: int, selected: int = 0) -> None:
        self.shown, self.selected = number, selected

    def history(self, before: Exchange) -> list[Turn]:
        return [turn for exchange in self.exchanges if exchange.number < before.number for turn in exchange.turns]

    def stop(self) -> None:
        if self.run is not None:
            self.run.stop()

    def clear(self) -> None:
        """Forget everything. Numbers go on, so that a late click on an old marker finds nothing."""
        self.stop()
        self.exchanges = []
        self.show(0)
