"""Answers questions from the live generation of an index: opens the pipeline's resources and runs it."""

import contextlib
import copy
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Self

from rag.answer.choices import Choices
from rag.answer.pipeline import find, prepare, stream
from rag.answer.trace import AnswerResources, Event, Finished, Trace
from rag.chat_models.model import ChatModel
from rag.chat_models.select import open_chat_model
from rag.chat_models.stored_endpoint import open_kept
from rag.embedding import Embedder, embedder_identity, load_embedder
from rag.errors import RagError, UsageError
from rag.index import Index
from rag.index.late_tokens import with_late_tokens
from rag.index.manifest import require_embedder
from rag.index.part import part_of, source_of
from rag.index.stores import open_store
from rag.language.messages import courtesy
from rag.process import give_back_memory
from rag.reader.reading import open_reader
from rag.search.retrieval import Evidence
from rag.search.searcher import Searcher
from rag.settings import ChatModelName, Settings, rebuild_settings
from rag.types import Answer, Turn

MAX_QUESTION_CHARACTERS = 4_000
# Searchers kept ready: of the whole index, of the parts to which readers limit themselves, for another number of hits.
SEARCHERS_KEPT = 8
WARM_UP_QUESTION = "attention 是什么？"


class Assistant:
    """One index, one embedder, one way to answer. Safe to use from several threads."""

    def __init__(
        self,
        settings: Settings,
        embedder: Embedder,
        *,
        chat_model: ChatModel | None = None,
        index: Index | None = None,
    ) -> None:
        self.settings = _writing_with(settings, chat_model)
        self.embedder = embedder
        # The settings that shape an index, as a rebuild would use them.
        self.index_settings = rebuild_settings(settings, embedder.identity)
        self.choices = Choices()
        self.reader = open_reader(settings, embedder)
        self._chat_model = chat_model
        self._switching = threading.Lock()
        self._parting = threading.Lock()
        self._opening = threading.Lock()
        self._store = open_store(settings)
        self._index = with_late_tokens(index or self._store.open(embedder=embedder.identity), embedder)
        self._searchers: dict[tuple[tuple[str, ...], int], Searcher] = {}
        # The chat models that readers chose, opened once each.
        self._opened: dict[ChatModelName, ChatModel | None] = {}

    @classmethod
    def open(cls, settings: Settings, *, kept: bool = False) -> Self:
        """Open index, embedder and chat model as the settings say; if `kept` and they name no endpoint, use the one set
        up on the page. The index is checked before anything heavy is loaded."""
        index = open_store(settings).open()
        require_embedder(settings.index, index.manifest, embedder_identity(settings))
        embedder = load_embedder(settings)
        settings, chat_model = open_kept(settings) if kept else (settings, open_chat_model(settings))
        opened = cls(settings, embedder, chat_model=chat_model, index=index)
        give_back_memory()
        return opened

    def choosing(self, choices: Choices) -> "Assistant":
        """An assistant over the same index that applies a reader's choices; itself if unchanged.

        Raises SettingsError or ChatModelError for an unusable chat model.
        """
        if choices == self.choices:
            return self
        _ = self.index  # the copy starts with the live generation
        with self._switching:
            chosen = copy.copy(self)
        chosen.choices = choices
        if choices.llm is not None and choices.llm != chosen.llm:
            if choices.llm not in chosen._opened:
                chosen._opened[choices.llm] = open_chat_model(chosen.settings.model_copy(update={"llm": choices.llm}))
            chosen._chat_model = chosen._opened[choices.llm]
            chosen.settings = _writing_with(chosen.settings, chosen._chat_model)
        if choices.top_k is not None:
            chosen.settings = chosen.settings.model_copy(update={"top_k": choices.top_k})
        return chosen

    def write_with(self, settings: Settings, chat_model: ChatModel | None) -> None:
        """Use another chat model from the next question on, for everybody. `settings` also say which other models
        readers can choose. Answers under way keep their model."""
        with self._switching:
            self.settings = _writing_with(settings, chat_model)
            self._chat_model = chat_model
            self._opened = {}

    @property
    def index(self) -> Index:
        """The live generation; reopened after a new one was published. Answers under way keep theirs.

        The first question after that opens and verifies the new one; other questions do not wait for it. If the disk
        cannot be read for a moment, the open generation keeps answering.
        """
        if not self._opening.acquire(blocking=False):  # another question is opening it
            return self._index
        try:
            live = self._store.reopen(self._index)
            if live is not self._index:
                self._index = with_late_tokens(live, self.embedder)
                give_back_memory()
            return self._index
        finally:
            self._opening.release()

    @property
    def llm(self) -> ChatModelName:
        return self.resources_over(self._index).llm

    @property
    def model_name(self) -> str | None:
        """The chat model's own name, if one is used."""
        return self._chat_model.model_name if self._chat_model else None

    @property
    def resources(self) -> AnswerResources:
        """The pipeline's current resources."""
        return self.resources_over(self.index)

    def resources_over(self, index: Index) -> AnswerResources:
        """The pipeline's resources over an index that is already open."""
        searcher = self._searcher(index)  # may read from a server: nobody else waits for it
        with self._switching:
            return AnswerResources(searcher, self.settings, self.choices, self._chat_model, self.reader)

    def _searcher(self, index: Index) -> Searcher:
        """Searches the part of the index that answers. Recent ones of the same generation are kept."""
        if not self.choices.only:
            return self._kept_searcher(index) or self._keep(index, index)
        known = self._kept_searcher(index)
        if known is None:
            with self._parting:
                known = self._kept_searcher(index) or self._keep(part_of(index, self.choices.only), index)
        return known

    @property
    def _search_key(self) -> tuple[tuple[str, ...], int]:
        """The documents that may answer, and the passages that a search returns."""
        return self.choices.only, self.settings.top_k

    def _kept_searcher(self, index: Index) -> Searcher | None:
        known = self._searchers.get(self._search_key)
        return known if known is not None and known.is_of(index) else None

    def _keep(self, part: Index, index: Index) -> Searcher:
        new, key = Searcher(part, self.embedder, self.settings.top_k), self._search_key
        with self._switching:
            kept = {other: one for other, one in self._searchers.items() if one.is_of(index) and other != key}
            self._searchers.clear()
            self._searchers.update({**dict(list(kept.items())[1 - SEARCHERS_KEPT :]), key: new})
        return new

    def search(self, question: str, history: Sequence[Turn] = (), *, k: int | None = None) -> Evidence:
        """The passages for a question, best first, from which an answer would be taken. Raises UsageError if the
        question is empty or too long."""
        assistant = self if k is None else self.choosing(replace(self.choices, top_k=k))
        return find(assistant.begin(question, history)).result.evidence

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Answer:
        """The whole answer."""
        return self.finish(question, history).answer

    def finish(self, question: str, history: Sequence[Turn] = ()) -> Finished:
        """The whole answer and its trace."""
        for event in self.stream(question, history):
            if isinstance(event, Finished):
                return event
        raise AssertionError("a stream of events ends with Finished")

    def stream(self, question: str, history: Sequence[Turn] = ()) -> Iterator[Event]:
        """The answer as a stream: evidence, checked text, the whole. Closing the iterator stops the work. Raises
        UsageError like `search`."""
        yield from stream(self.begin(question, history))

    def prepare(self, question: str, history: Sequence[Turn] = ()) -> Trace:
        """The trace of a question up to, but not including, the writing. Raises UsageError like `search`."""
        return prepare(self.begin(question, history))

    def begin(self, question: str, history: Sequence[Turn] = ()) -> Trace:
        """The trace that starts the pipeline."""
        message = check_question(question)
        return Trace(self.resources, message, tuple(history), courtesy(message))

    def warm_up(self) -> None:
        """Load in advance all that the first question would wait for: lazy parts, the material's vocabulary and its
        sounds."""
        with contextlib.suppress(RagError):  # the reader's question will report it
            self.prepare(WARM_UP_QUESTION)
            _ = self.index.sounds

    def source(self, document: str) -> str | None:
        """The source text of a document as ingested; its name may be typed with any form of accents."""
        return source_of(self.index, document)


def _writing_with(settings: Settings, chat_model: ChatModel | None) -> Settings:
    """The settings with the actual `llm`: `auto` is resolved once, when a chat model is opened."""
    return settings.model_copy(update={"llm": chat_model.name if chat_model else ChatModelName.EXTRACTIVE})


def check_question(question: str) -> str:
    """The question without control characters and outer space. Raises UsageError if it is empty or too long."""
    text = "".join(character for character in question if character.isprintable() or character in "\n\t").strip()
    if not text:
        raise UsageError("the question is empty", hint="type a question")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise UsageError(
            f"the question has {len(text):,} characters; at most {MAX_QUESTION_CHARACTERS:,} are allowed",
            hint="shorten it",
        )
    return text
