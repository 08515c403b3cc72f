"""Reading: how well each unit of a text answers a question, and whether any does."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rag.embedding import BertEmbedder, Embedder, load_embedder
from rag.errors import ModelError
from rag.settings import ReaderUse, Settings

logger = logging.getLogger(__name__)

# Embedders that need the reader's own embedder loaded as well, if it is on this machine.
BESIDE = ("embeddinggemma-300m",)
WEIGHTS_FILE = Path(__file__).with_name("weights.safetensors")


@dataclass(frozen=True, slots=True)
class Text:
    """A text to read: its heading and its units, such as sentences."""

    heading: str
    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """Log odds against "nothing here answers": of each unit of a text, and of it all."""

    units: tuple[float, ...]
    answers: float


class Reader(Protocol):
    """May be called from several threads at once."""

    def read(self, question: str, texts: Sequence[Text]) -> list[Reading]:
        """One reading per text."""


def open_reader(settings: Settings, embedder: Embedder, file: Path = WEIGHTS_FILE) -> Reader | None:
    """The reader, over this embedder if it was trained over it, or over one loaded `BESIDE` it; None if the settings
    turn it off, if none exists for the embedder, or, with a warning in the log, if its file is missing or damaged."""
    if settings.reader is ReaderUse.OFF:
        return None
    if embedder.identity.partition("@")[0] in BESIDE:
        embedder = _default_embedder(settings) or embedder
    if not isinstance(embedder, BertEmbedder):
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


def _default_embedder(settings: Settings) -> Embedder | None:
    name = Settings.model_fields["embedder"].default
    try:
        return load_embedder(settings.model_copy(update={"embedder": name}))
    except ModelError as error:
        logger.warning("no reader, refusals rest on likeness alone: %s", error)
        return None
