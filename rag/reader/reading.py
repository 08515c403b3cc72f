"""Reading: how well each unit of a text answers a question, and whether any does."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rag.embedding import BertEmbedder, Embedder
from rag.settings import ReaderUse, Settings

logger = logging.getLogger(__name__)

WEIGHTS_FILE = Path(__file__).with_name("weights.safetensors")


@dataclass(frozen=True, slots=True)
class Text:
    """A text to read: its heading and its units, such as sentences."""

    heading: str
    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """Log odds of each unit of a text against "nothing here answers", and of the text."""

    units: tuple[float, ...]
    answers: float


class Reader(Protocol):
    """May be called from several threads at once."""

    def read(self, question: str, texts: Sequence[Text]) -> list[Reading]:
        """What each of the texts says to the question."""


def open_reader(settings: Settings, embedder: Embedder, file: Path = WEIGHTS_FILE) -> Reader | None:
    """The reader that was trained over this embedder; None where the settings turn it off, where there is none for
    the embedder, and, with a word in the log, where its file is missing or damaged."""
    if settings.reader is ReaderUse.OFF or not isinstance(embedder, BertEmbedder):
        return None
    from safetensors import SafetensorError

    from rag.reader.network import JoinedReader
    from rag.reader.weights import embedder_of

    try:
        if embedder_of(file) != embedder.identity:
            return None
        return JoinedReader.open(file, embedder)
    except (OSError, SafetensorError, ValueError) as error:
        logger.warning("no reader, answers are ordered by likeness alone: cannot use %s: %s", file.name, error)
        return None
