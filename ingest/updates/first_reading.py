"""Reads a material for the first time, a few documents at once, while readers ask: first what they ask about."""

import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from ingest.previous_generation import Key
from ingest.workers import File
from rag.index.keywords import KeywordIndex
from rag.language.terms import terms
from rag.question.rare_terms import named_in

# A file in the index folder that marks an unfinished reading, also after the program has ended.
UNFINISHED_FILE = "unfinished"
# Documents per run: one takes some seven tenths of a second to embed, and each run another second to publish.
AT_ONCE = 8
# With ready vectors, documents only have to be read. A run reads as many as there are, since it writes these anew.
READY_AT_ONCE = 32
# Bytes of a file that tell its subject: its title and alternative names. More improves nothing.
HEAD = 1_000
# At most so many documents are read before a question is answered, those with this share of the best one's score: 2.1
# on average, and the right one is among them for .92 of the answerable development questions of `asked.jsonl`.
READ_FIRST = 3
NEAR = 0.5


def spread(files: Sequence[File], most: int) -> Sequence[File]:
    """At most `most` of the files, evenly spaced."""
    return files[:: max(1, len(files) // max(1, most))][:most]


class FirstReading:
    """Chooses the documents for the next run of `sync`: only a few of those that are not `ready`, with vectors of all
    their passages. Safe to use from several threads."""

    def __init__(self, ready: Callable[[Path], bool] = lambda file: False) -> None:
        self._is_ready = cache(ready)
        self._changed = threading.Condition()
        # None until the first run has listed the documents.
        self._unread: set[Key] | None = None
        self._tried: set[Key] = set()
        # Of the current run.
        self._chosen: set[Key] = set()
        self._is_cut_short = False
        self._wanted: dict[Key, None] = {}
        self._heads: tuple[KeywordIndex, tuple[Key, ...]] | None = None
        self._all = 0
        self._waiting = 0
        self._over = False

    @property
    def is_unfinished(self) -> bool:
        """Whether documents are left for another run."""
        with self._changed:
            return not self._over and (self._unread is None or bool(self._unread - self._tried))

    @property
    def is_awaited(self) -> bool:
        """Whether a question waits for documents."""
        with self._changed:
            return self._waiting > 0

    def ends_early(self) -> bool:
        """Whether the current run had better end, and does: a question waited for documents, and the run reads none
        that any question waits for."""
        with self._changed:
            wanted = self._wanted.keys() & (self._unread or set())
            outpaced = self._waiting > 0 and bool(wanted - self._tried) and not wanted & self._chosen
            self._is_cut_short |= outpaced
            return self._is_cut_short

    def choose(self, new: Sequence[File], known: Sequence[File]) -> Sequence[File]:
        """The new documents to read in this run, which ends the previous one."""
        heads = self._heads or _heads([*new, *known])
        is_ready = {_key(file): self._is_ready(file.path) for file in new}
        with self._changed:
            self._heads = heads
            self._all = self._all or len(new)
            if self._is_cut_short:
                self._tried -= self._chosen
                self._is_cut_short = False
            self._unread = {_key(file) for file in new} - self._tried
            wanted = [key for key in self._wanted if key in self._unread]
            unread = [file for file in new if _key(file) in self._unread]
            ready = [_key(file) for file in unread if is_ready[_key(file)]]
            most = max(READY_AT_ONCE, len(known))
            self._chosen = {*wanted[:AT_ONCE]} or {*ready[:most]} or {_key(file) for file in unread[:AT_ONCE]}
            self._tried |= self._chosen
            # The last run retries, and reports, what could not be read.
            left = bool(self._unread - self._chosen)
            self._changed.notify_all()
            return [file for file in new if _key(file) in self._chosen or not left]

    def read(self, share: float) -> tuple[int, int]:
        """How many documents are read, and of how many, counting this share of the current run."""
        with self._changed:
            under_way = len(self._tried & (self._unread or set()))
            return self._all - len(self._unread or ()) + int(share * under_way), self._all

    def end(self) -> None:
        """Everything readable is read, or reading has stopped."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def wait_for(self, question: str, seconds: float) -> None:
        """Have the documents whose beginnings fit the question best read first, and wait for them."""
        with self._changed:
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: self._over or self._unread is not None, seconds)
                about = self._about(question)
                self._wanted |= dict.fromkeys(about)
                self._changed.wait_for(lambda: self._over or not about & (self._unread or set()), seconds)
            finally:
                self._waiting -= 1

    def _about(self, question: str) -> set[Key]:
        if self._heads is None:
            return set()
        index, keys = self._heads
        scores = index.scores(named_in(question))
        best = scores.argsort(kind="stable")[::-1][:READ_FIRST]
        return {keys[place] for place in best.tolist() if scores[place] >= max(NEAR * scores.max(), 1e-6)}


def _heads(files: Sequence[File]) -> tuple[KeywordIndex, tuple[Key, ...]]:
    return KeywordIndex.build(terms(_head(file)) for file in files), tuple(map(_key, files))


def _head(file: File) -> str:
    """A file's name, and its beginning if that is text."""
    try:
        with file.path.open("rb") as stream:
            text = stream.read(HEAD).decode(errors="ignore")
    except OSError:  # the run reports it
        text = ""
    return f"{file.relative}\n{'' if chr(0) in text else text}"


def _key(file: File) -> Key:
    return file.root, file.relative
