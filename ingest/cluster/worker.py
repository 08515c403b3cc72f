"""Code that runs in an actor on a node. Imports little: a node with another program must get as far as saying so."""

import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.cluster.version import Program, program

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ingest.prepare import Prepared
    from ingest.reading.parser_process import ParserProcess
    from rag.embedding import Embedder
    from rag.errors import DocumentError
    from rag.index.tokens import PassageTokens, TokenCodec
    from rag.settings import Settings


@dataclass(frozen=True, slots=True)
class Job:
    """A worker's view of a run: the settings that shape an index, and none of the others, some of which are secret.
    `models` is the folder of models if the cluster is this machine; elsewhere it is the node's own."""

    settings: dict[str, Any]
    models: str | None
    identity: str
    load: "Callable[[Settings], Embedder]"


@dataclass(frozen=True, slots=True)
class Greeting:
    """The node a worker is on, its process, and the program that it runs."""

    node: str
    process: int
    program: Program


@dataclass(frozen=True, slots=True)
class EmbedderLimits:
    """Dimension and longest text of a worker's embedder."""

    dimension: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file as sent: its bytes, since the node need not see the folder."""

    root: int
    relative: str
    suffix: str
    data: bytes


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """Texts as vectors, shape (n, dimension); `tokens`, if requested, are those of one text after another, `counts`
    of each."""

    vectors: "NDArray[np.float32]"
    counts: "NDArray[np.int64]"
    tokens: "PassageTokens | None" = None


class Worker:
    """Reads documents and embeds texts, one task after another."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._parser: ParserProcess | None = None
        self._embedder: Embedder | None = None

    def greet(self) -> Greeting:
        # Ray hides a node's GPUs only from actors that request some, and torch looks once, on import.
        os.environ |= {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
        from rag.process import own_process

        own_process()
        return Greeting(platform.node(), os.getpid(), program())

    def load(self) -> EmbedderLimits:
        """Load the embedder."""
        embedder = self._loaded()
        return EmbedderLimits(embedder.dimension, embedder.max_tokens)

    def read(self, files: Sequence[SentFile]) -> "list[Prepared | DocumentError | OSError]":
        """Each file as `ingest.prepare` prepares it. Formats are parsed in a confined process of the node."""
        from ingest.prepare import prepare_bytes
        from ingest.reading.parser_process import ParserProcess
        from rag.errors import DocumentError

        settings = self._settings()
        if self._parser is None:
            self._parser = ParserProcess(ocr=settings.ocr)
        prepared: list[Prepared | DocumentError | OSError] = []
        for file in files:
            try:
                prepared.append(prepare_bytes(file.root, file.relative, file.suffix, file.data, settings, self._parser))
            except (DocumentError, OSError) as error:
                prepared.append(error)
        return prepared

    def encode(self, texts: Sequence[str], codec: "TokenCodec | None") -> EncodedBatch:
        import numpy as np

        from rag.index.tokens import PassageTokens

        embedder = self._loaded()
        if codec is None:
            return EncodedBatch(embedder.embed_passages(texts), np.zeros(len(texts), np.int64))
        encoded = dict(embedder.encode_passages(texts))
        coded = [codec.encode(encoded[place]) for place in range(len(texts))]
        return EncodedBatch(
            np.stack([encoded[place].vector for place in range(len(texts))]),
            np.asarray([len(text.scales) for text in coded], np.int64),
            PassageTokens(
                np.concatenate([text.codes for text in coded]),
                np.concatenate([text.scales for text in coded]),
                np.concatenate([text.lengths for text in coded]),
                np.concatenate([text.token_ids for text in coded]),
            ),
        )

    def ask(self, texts: Sequence[str], method: str) -> list[Any]:
        """The result of an embedder's method for each text."""
        embedder = self._loaded()
        match method:
            case "embed_query":
                return [embedder.embed_query(text) for text in texts]
            case "encode_passages":
                encoded = dict(embedder.encode_passages(texts))
                return [encoded[place] for place in range(len(texts))]
            case _:
                return list(getattr(embedder, method)(texts))

    def _settings(self) -> "Settings":
        from rag.settings import ENVIRONMENT_PREFIX, Settings, default_models_folder

        own = os.environ.get(f"{ENVIRONMENT_PREFIX}MODELS")
        models = self._job.models or own or default_models_folder()
        return Settings.model_validate(self._job.settings | {"models": Path(models)})

    def _loaded(self) -> "Embedder":
        if self._embedder is None:
            from rag.errors import ModelError

            embedder = self._job.load(self._settings())
            if embedder.identity != self._job.identity:
                raise ModelError(
                    f"the node {platform.node()} has the embedder {embedder.identity}, the run is for "
                    f"{self._job.identity}",
                    hint="put the same model there, or name a pinned one in the setting `embedder`",
                )
            os.environ["OMP_NUM_THREADS"] = "1"  # an actor has one processor, whatever the environment says
            if torch := sys.modules.get("torch"):
                torch.set_num_threads(1)
            self._embedder = embedder
        return self._embedder


def fetch_and_load(settings: "Settings") -> "Embedder":
    """The embedder of the settings. The first worker that needs a pinned one fetches it if the node lacks it; the
    node's others wait."""
    from rag.embedding import load_embedder
    from rag.errors import ModelError
    from rag.models import MODELS, fetch, locate

    if settings.embedder in MODELS:
        try:
            locate(settings.embedder, settings.models)
        except ModelError:
            fetch(settings.embedder, settings.models)
    return load_embedder(settings)
