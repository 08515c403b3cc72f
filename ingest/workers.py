"""Reads documents and embeds passages: in this process, or in a Ray cluster (`ingest.cluster`)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ingest.reading.parser_process import ParserProcess
from rag.errors import DocumentError, IngestError
from rag.settings import Settings, WorkersName

if TYPE_CHECKING:
    from ingest.prepare import Prepared
    from rag.embedding import Embedder, Progress
    from rag.index.tokens import PassageTokens, TokenCodec


@dataclass(frozen=True, slots=True)
class File:
    """A document to read: the number of its root, its path below that, and its full path."""

    root: int
    relative: str
    path: Path


class PassageError(IngestError):
    """A text that no worker can embed."""

    def __init__(self, message: str, text: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.text = text


class Workers(Protocol):
    """Results come in any order, each with the place of its input."""

    def prepare(self, files: Iterable[tuple[int, File]]) -> "Iterator[tuple[int, Prepared | DocumentError | OSError]]":
        """Read, clean and cut files. An unreadable one gives an error in its place."""

    def load_embedder(self) -> "Embedder":
        """The embedder for a run's other needs."""

    def encode(
        self, texts: Sequence[str], codec: "TokenCodec | None", progress: "Progress"
    ) -> "Iterator[tuple[int, NDArray[np.float32], PassageTokens | None]]":
        """The vector of each text, and its tokens if there is a codec."""


class InProcess:
    """Workers that are this process."""

    def __init__(self, settings: Settings, load_embedder: "Callable[[], Embedder]") -> None:
        self._settings = settings
        self._parser = ParserProcess(ocr=settings.ocr)
        self._load_embedder = cache(load_embedder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._parser.close()

    def prepare(self, files: Iterable[tuple[int, File]]) -> "Iterator[tuple[int, Prepared | DocumentError | OSError]]":
        for place, file in files:
            from ingest.prepare import prepare  # takes half a second, and a run without changes does not need it

            try:
                yield place, prepare(file.root, file.relative, file.path, self._settings, self._parser)
            except (DocumentError, OSError) as error:
                yield place, error

    def load_embedder(self) -> "Embedder":
        return self._load_embedder()

    def encode(
        self, texts: Sequence[str], codec: "TokenCodec | None", progress: "Progress"
    ) -> "Iterator[tuple[int, NDArray[np.float32], PassageTokens | None]]":
        embedder = self._load_embedder()
        if codec is None:
            for place, vector in enumerate(embedder.embed_passages(texts, progress)):
                yield place, vector, None
            return
        for place, encoded in embedder.encode_passages(texts, progress):
            yield place, encoded.vector, codec.encode(encoded)


def open_workers(
    settings: Settings, load_embedder: "Callable[[], Embedder]", identity: str
) -> AbstractContextManager[Workers]:
    """The workers that the settings name. `identity` identifies the embedder that `load_embedder` loads."""
    here = InProcess(settings, load_embedder)
    if settings.workers is WorkersName.LOCAL:
        return here
    from ingest.cluster.workers import RayWorkers

    return RayWorkers(settings, identity, here)
