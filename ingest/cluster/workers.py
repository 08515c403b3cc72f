"""Workers that are actors of a Ray cluster. This process hands out work, and puts results in place."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ingest.cluster.connection import joined, own_cores
from ingest.cluster.pool import ATTEMPTS, LostTask, Pool, connected
from ingest.cluster.worker import EncodedBatch, Job, fetch_and_load
from ingest.workers import File, InProcess, PassageError
from rag.errors import DocumentError, IngestError, Unreadable
from rag.index.tokens import PassageTokens, TokenCodec
from rag.models import MODELS
from rag.settings import IndexEffect, Settings, index_settings

if TYPE_CHECKING:
    from ingest.prepare import Prepared
    from rag.embedding import Embedder, Encoded, Progress, Vectors

# Too little to start the cluster for: this process reads it, then embeds it.
FEW_BYTES = 1 << 20
FEW_TEXTS = 128
# Bytes of files and texts on their way to workers.
MOST_BYTES = 128 << 20
Ask = Callable[[str, Sequence[str], "Progress | None"], list[Any]]
DEATH_HINT = "leave it out, or give the nodes more memory; the logs of the cluster may say more"


class RayWorkers:
    """Workers in the cluster that the settings name, which is joined when there is work for it.

    `here` does work too small for that. `load` is how a worker gets the embedder; with `always` no work is too small;
    at most `most_bytes` are on their way.
    """

    def __init__(
        self,
        settings: Settings,
        identity: str,
        here: InProcess,
        *,
        load: "Callable[[Settings], Embedder]" = fetch_and_load,
        always: bool = False,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        models = None if settings.ray_address else str(settings.models.absolute())
        self._job = Job(sent_settings(settings), models, identity, load)
        self._settings = settings
        self._here = here
        self._few_bytes, self._few_texts = (-1, 0) if always else (FEW_BYTES, FEW_TEXTS)
        self._most_bytes = most_bytes
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._pool: Pool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool = None
        with self._here:
            self._stack.close()

    def pool(self) -> Pool:
        """The actors, started on first use. Raises IngestError or SettingsError."""
        if self._pool is None:
            address, count = self._settings.ray_address, self._settings.ray_workers
            ray = self._stack.enter_context(joined(address, count or own_cores()))
            if not count:
                with connected(ray):
                    count = int(ray.cluster_resources().get("CPU", 0))
            if not count:
                raise IngestError(
                    f"the Ray cluster at {address} has no processors", hint="add nodes to it: ray start --address=…"
                )
            self._pool = Pool(ray, self._job, count, most_bytes=self._most_bytes)
            self._stack.callback(self._pool.close)
        return self._pool

    def prepare(self, files: Iterable[tuple[int, File]]) -> "Iterator[tuple[int, Prepared | DocumentError | OSError]]":
        files = iter(files)
        few: list[tuple[int, File]] = []
        if self._pool is None:
            size = 0
            for place, file in files:
                few.append((place, file))
                size += _size(file)
                if size > self._few_bytes:
                    break
            else:
                yield from self._here.prepare(few)
                return
        yield from self._prepare_there(chain(few, files))

    def _prepare_there(
        self, files: Iterable[tuple[int, File]]
    ) -> "Iterator[tuple[int, Prepared | DocumentError | OSError]]":
        from ingest.cluster.outgoing import Outgoing

        outgoing = Outgoing(self._settings, files)
        for task, results in self.pool().run(outgoing.tasks()):
            yield from outgoing.unreadable()
            if isinstance(results, LostTask):
                results = [_killer(task.items[0].relative, results)]
            for place, result in zip(task.places, results, strict=True):
                file, is_settled = outgoing.settled(place)
                if is_settled:
                    yield place, result
                else:  # being written, or removed
                    yield from self._here.prepare([(place, file)])
        yield from outgoing.unreadable()

    def load_embedder(self) -> "Embedder":
        if self._pool is None:
            return self._here.load_embedder()
        loaded = self._pool.wait()
        return RemoteEmbedder(self._ask, self._job.identity, loaded.dimension, loaded.max_tokens)

    def encode(
        self, texts: Sequence[str], codec: TokenCodec | None, progress: "Progress"
    ) -> Iterator[tuple[int, NDArray[np.float32], PassageTokens | None]]:
        if self._pool is None and len(texts) <= self._few_texts:
            yield from self._here.encode(texts, codec, progress)
            return
        from ingest.cluster.outgoing import text_tasks

        pool = self.pool()
        done = 0
        for task, batch in pool.run(text_tasks("encode", texts, len(pool), pool.share(codec))):
            if isinstance(batch, LostTask):
                raise _deadly_text(task.items[0], batch)
            for place, (vector, coded) in zip(task.places, _parts(batch), strict=True):
                yield place, vector, coded
            done += len(task.places)
            progress(done, len(texts))

    def _ask(self, method: str, texts: Sequence[str], progress: "Progress | None") -> list[Any]:
        from ingest.cluster.outgoing import text_tasks

        answers: list[Any] = [None] * len(texts)
        done = 0
        with self._lock:
            pool = self.pool()
            for task, found in pool.run(text_tasks("ask", texts, len(pool), method)):
                if isinstance(found, LostTask):
                    raise _deadly_text(task.items[0], found)
                for place, answer in zip(task.places, found, strict=True):
                    answers[place] = answer
                done += len(task.places)
                if progress:
                    progress(done, len(texts))
        return answers


class RemoteEmbedder:
    """An Embedder, for a run's needs besides passage vectors, whose results come from workers: the writer needs neither
    model nor memory for it.

    `ask` passes texts to a method of theirs and returns a result for each.
    """

    def __init__(self, ask: Ask, identity: str, dimension: int, max_tokens: int) -> None:
        self._ask = ask
        self.identity = identity
        self.dimension = dimension
        self.max_tokens = max_tokens

    def embed_passages(self, texts: Sequence[str], progress: "Progress | None" = None) -> "Vectors":
        found = self._ask("embed_passages", texts, progress)
        return np.stack(found) if found else np.zeros((0, self.dimension), np.float32)

    def embed_query(self, text: str) -> "Vectors":
        vector: Vectors = self._ask("embed_query", [text], None)[0]
        return vector

    def encode_passages(
        self, texts: Sequence[str], progress: "Progress | None" = None
    ) -> "Iterator[tuple[int, Encoded]]":
        yield from enumerate(self._ask("encode_passages", texts, progress))

    def encode_queries(self, texts: Sequence[str]) -> "list[Encoded]":
        return self._ask("encode_queries", texts, None)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._ask("count_tokens", texts, None)

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return self._ask("token_spans", texts, None)


def sent_settings(settings: Settings) -> dict[str, Any]:
    """Settings that shape an index; an embedder's folder as a whole path, since a worker runs in another one."""
    sent = index_settings(settings, *IndexEffect)
    folder = Path(settings.embedder).expanduser()
    return sent | {"embedder": str(folder.resolve())} if settings.embedder not in MODELS and folder.is_dir() else sent


def _size(file: File) -> int:
    try:
        return file.path.stat().st_size
    except OSError:
        return 0


def _parts(batch: EncodedBatch) -> Iterator[tuple[NDArray[np.float32], PassageTokens | None]]:
    """The vector and the tokens of each text. Vectors are copies: others would hold the batch in the object store."""
    ends = np.cumsum(batch.counts)
    for place, vector in enumerate(batch.vectors):
        coded = None
        if batch.tokens is not None:
            part = slice(int(ends[place] - batch.counts[place]), int(ends[place]))
            tokens = batch.tokens
            coded = PassageTokens(tokens.codes[part], tokens.scales[part], tokens.lengths[part], tokens.token_ids[part])
        yield vector.copy(), coded


def _killer(name: str, lost: LostTask) -> DocumentError:
    return DocumentError(
        f"{name}: {ATTEMPTS} workers that were to read it died: {lost.cause}",
        hint=DEATH_HINT,
        reason=Unreadable.PROGRAM,
    )


def _deadly_text(text: str, lost: LostTask) -> PassageError:
    return PassageError(
        f"{ATTEMPTS} workers that were to embed {text[:60]!r}… died: {lost.cause}", text, hint=DEATH_HINT
    )
