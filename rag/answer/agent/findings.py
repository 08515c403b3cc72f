"""What the steps of an agent have found so far. Tools that run side by side share it."""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag.answer.quoted.paragraphs import Paragraph
from rag.answer.trace import Exploration, Resources
from rag.search.retrieval import Evidence
from rag.types import Step, StepKind

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

# Characters of what a call was that reached no tool.
MOST_SHOWN = 200


@dataclass(slots=True)
class Findings:
    """`paragraphs` are those that the model was given to read, in order; `searched` and `read` what was asked for."""

    resources: Resources
    step_tokens: int
    paragraphs: list[Paragraph] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    asks: str = ""
    done: set[tuple[StepKind, str]] = field(default_factory=set)
    told: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_new(self, kind: StepKind, request: str) -> bool:
        """Whether this is asked for the first time; from now on it is not."""
        key = (kind, " ".join(request.split()).lower())
        with self.lock:
            new = key not in self.done
            self.done.add(key)
            return new

    def add(self, paragraphs: Iterable[Paragraph], evidence: Evidence | None = None) -> list[Paragraph]:
        """Those of the paragraphs that were not read before."""
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
        """The steps since this was asked last. A message that tells the model of a call that reached no tool is one."""
        if message is not None and message.type == "tool" and getattr(message, "status", "") == "error":
            tool, told = str(message.name)[:MOST_SHOWN], str(message.text)[:MOST_SHOWN]
            self.note(StepKind.MISTAKE, tool, told, began=time.perf_counter(), failed=True)
        with self.lock:
            new, self.told = self.steps[self.told :], len(self.steps)
            return new

    def exploration(self, reply: str | None, calls: int) -> Exploration:
        with self.lock:
            return Exploration(tuple(self.steps), tuple(self.paragraphs), tuple(self.evidence), reply, self.asks, calls)
