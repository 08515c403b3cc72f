"""The findings of an agent's steps so far. Tools that run side by side share them."""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag.answer.quoted.paragraphs import Paragraph
from rag.answer.trace import AnswerResources, Exploration
from rag.search.retrieval import Evidence
from rag.types import Step, StepKind

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

# Characters kept of a call that reached no tool, and of its error.
MOST_SHOWN = 200


@dataclass(slots=True)
class Findings:
    """`paragraphs` are those that the model was given to read, in order; `asks` is its question to the reader, `done`
    the requests so far, and `told` counts the steps that `untold` has returned."""

    resources: AnswerResources
    step_tokens: int
    paragraphs: list[Paragraph] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    asks: str = ""
    done: set[tuple[StepKind, str]] = field(default_factory=set)
    told: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_new(self, kind: StepKind, request: str) -> bool:
        """Whether a request is made for the first time; it is remembered."""
        key = (kind, " ".join(request.split()).lower())
        with self.lock:
            new = key not in self.done
            self.done.add(key)
            return new

    def add(self, paragraphs: Iterable[Paragraph], evidence: Evidence | None = None) -> list[Paragraph]:
        """Add paragraphs; returns those that were not read before."""
        with self.lock:
            new = [paragraph for paragraph in paragraphs if paragraph not in self.paragraphs]
            self.paragraphs += new
            if evidence is not None:
                self.evidence.append(evidence)
            return new

    def note(
        self,
        kind: StepKind,
        request: str,
        result: str,
        *,
        began: float,
        failed: bool = False,
        documents: Iterable[str] = (),
    ) -> None:
        """Keep a step; `began` is on the clock of `time.perf_counter`."""
        seconds = round(time.perf_counter() - began, 3)
        with self.lock:
            self.steps.append(Step(kind, request, result, tuple(dict.fromkeys(documents)), failed, seconds))

    def untold(self, message: "BaseMessage | None" = None) -> list[Step]:
        """The steps since the last call. An error message about a call that reached no tool becomes a step, too."""
        if message is not None and message.type == "tool" and getattr(message, "status", "") == "error":
            tool, told = str(message.name)[:MOST_SHOWN], str(message.text)[:MOST_SHOWN]
            self.note(StepKind.MISTAKE, tool, told, began=time.perf_counter(), failed=True)
        with self.lock:
            new, self.told = self.steps[self.told :], len(self.steps)
            return new

    def exploration(self, reply: str | None, calls: int) -> Exploration:
        with self.lock:
            return Exploration(tuple(self.steps), tuple(self.paragraphs), tuple(self.evidence), reply, self.asks, calls)
