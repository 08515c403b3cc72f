"""The index interface for search and answers, whatever the store.

`Index` is one open generation: complete, and unchanged while it is held. Its parts are protocols. The embedded store
(`rag.index.generation`) reads them from files, the distributed one (`rag.index.milvus`) asks a Milvus server.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Encoded
from rag.index.manifest import Manifest
from rag.index.storage import DocumentEntry, DocumentSummary, StoredDocument
from rag.index.vocabulary import MaterialVocabulary, Sounds, read_sounds, read_vocabulary
from rag.index.written_questions import AskedQuestions, read_asked
from rag.text.page import Outline
from rag.types import Passage

Numbers = Sequence[int] | NDArray[np.int64]
Found = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Numbers of passages, best first, and their scores. Of equal scores the lower number comes first."""

# Passages spaced evenly over the whole material, with which a question is compared besides its search results.
BACKGROUND = 10


class Passages(Protocol):
    """Documents and passages. Passage numbers are stable and unique within a generation."""

    def passages(self, numbers: Sequence[int]) -> list[Passage]: ...
    def document_numbers(self, name: str) -> list[int]: ...
    def entries(self) -> list[DocumentEntry]: ...
    def documents(self, *, with_passages: bool = False) -> list[StoredDocument]: ...
    def summaries(self) -> list[DocumentSummary]: ...
    def names(self, most: int) -> list[str]: ...
    def texts(self, most: int) -> list[str]: ...
    def known_as(self, name: str) -> tuple[str, ...]: ...
    def all_questions(self) -> Sequence[tuple[str, str, tuple[str, ...]]]:
        """Document, heading and terms of every question that a section answers, the questions of a section
        and the sections of a document together."""

    def source(self, name: str) -> str | None: ...
    def pages(self, name: str) -> tuple[int, ...]: ...
    def outline(self, name: str) -> Outline | None: ...
    def close(self) -> None: ...


class VectorSearch(Protocol):
    """Unit vectors of passages."""

    @property
    def dimension(self) -> int: ...
    def search(self, vector: NDArray[np.float32], count: int, within: NDArray[np.int64] | None = None) -> Found: ...
    def rows(self, numbers: Numbers) -> NDArray[np.float32]: ...
    def background(self) -> NDArray[np.int64]:
        """The numbers of BACKGROUND evenly spaced passages."""


class KeywordMatch(Protocol):
    """The BM25 scores of one query."""

    def best(self, count: int, within: NDArray[np.int64] | None = None) -> Found:
        """The best passages (among `within`) that share a term with the query."""

    def of(self, numbers: Numbers) -> NDArray[np.float32]: ...


class KeywordSearch(Protocol):
    @property
    def passage_count(self) -> int: ...
    @property
    def latin_terms(self) -> list[str]: ...
    def match(self, query: Sequence[str]) -> KeywordMatch: ...
    def ceiling(self, query: Sequence[str]) -> float: ...
    def frequency(self, term: str) -> int: ...


class TokenScores(Protocol):
    """Late interaction."""

    @property
    def centre(self) -> NDArray[np.float32]:
        """The mean that the codec subtracts."""

    def comparable(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Which of these passages can be compared."""

    def scores(self, question: Encoded, numbers: Numbers) -> NDArray[np.float32]: ...
    def part_scores(
        self, question: Encoded, numbers: Sequence[int], parts: Sequence[NDArray[np.bool_]]
    ) -> list[NDArray[np.float32]]: ...
    def vectors(self, number: int) -> NDArray[np.float32]: ...
    def rarity(self, token_ids: NDArray[np.int32]) -> NDArray[np.float32]: ...


@dataclass(frozen=True, kw_only=True)
class Index(ABC):
    """One open generation, identified by `manifest_sha256`.

    `within` holds the numbers of the passages that a search may return, in order; None allows all that `vectors` and
    `keywords` find. `whole` is the index that this one is a part of; see `rag.index.part`.
    """

    manifest: Manifest
    storage: Passages
    vectors: VectorSearch
    keywords: KeywordSearch
    tokens: TokenScores | None = None
    manifest_sha256: str = ""
    within: NDArray[np.int64] | None = None
    whole: "Index | None" = None

    @property
    def name(self) -> str:
        return f"{self.manifest.generation:06d}"

    @cached_property
    def vocabulary(self) -> MaterialVocabulary:
        return read_vocabulary(self.storage) if self.whole is None else self.whole.vocabulary

    @cached_property
    def sounds(self) -> Sounds:
        return read_sounds(self.storage) if self.whole is None else self.whole.sounds

    @cached_property
    def asked(self) -> AskedQuestions:
        return read_asked(self.storage) if self.whole is None else self.whole.asked

    @abstractmethod
    def part(self, documents: Sequence[str]) -> "Index":
        """These documents of the whole, by name; it finds and reads no others."""

    def close(self) -> None:
        self.storage.close()


class Store(Protocol):
    """Holds generations, one of which is live."""

    def is_there(self) -> bool:
        """Whether there is a generation to open."""

    def open(self, *, embedder: str | None = None) -> Index:
        """The live generation, held until closed. With `embedder` (an identity), refuses an index made with another
        one. Raises IndexMissingError, IndexCorruptError, IndexMismatchError or StoreError."""

    def reopen(self, index: Index) -> Index:
        """The live generation: `index` itself unless a newer one is known. Costs little if nothing changed, and takes
        no lock: call it outside any lock that a question needs."""
