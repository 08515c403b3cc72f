"""The embedded store beside Milvus over 10,000 to 1,000,000 passages: writing, searching, memory and disk.

Vectors are perturbed ones of the corpus, texts recombined sentences of it. There are no token vectors, which would fill
37 GB at the largest size. For each size a Milvus server of its own is started: the whole store in milvus-lite as far as
that goes, and vector search in a full server (`server`). Clocks tell what else the machine does as well, seconds
of cores less so: both are told.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import faiss
import numpy as np
from numpy.typing import NDArray

from rag.embedding import Encoded
from rag.index import open_index
from rag.index.generation import DiskIndex
from rag.index.milvus.store import MilvusStore
from rag.index.stores import open_store
from rag.language.terms import terms
from rag.search.fusion import ranking_for
from rag.search.retrieval import CANDIDATES, encode_questions, propose, search_keyword
from rag.settings import Settings, StoreName
from tools.bench.embedded_corpus import WORK, EmbeddedCorpus
from tools.bench.measuring import (
    in_fresh_process,
    milliseconds,
    resident_megabytes,
    spread,
    table,
    used_by_session,
)
from tools.bench.scale.server import measure_server
from tools.bench.stores import publish_copy
from tools.bench.synthetic_index import publish_seconds, synthetic_index
from tools.bench.vectors import recall
from tools.milvus_server import MilvusServer

SHORT, REAL = 80, 365
"""Characters of a passage; the latter is the mean of the corpus."""
SIZES = {REAL: (30_000, 100_000), SHORT: (10_000, 30_000, 100_000, 300_000, 1_000_000)}
IN_A_SERVER = (10_000, 100_000, 1_000_000)
# Its search by keywords is written in Python, and its one thread is busy for a minute with the index of a segment.
MOST_OF_LITE = 10_000
QUERIES = 100
DEPTH = 10
# Passages of the corpus that are embedded, to tell what that costs.
EMBEDDED = 32
# Questions whose nearest passages are looked for by comparing all.
COMPARED = 20

Asked = Sequence[tuple[str, Encoded]]
Row = dict[str, Any]
Item = TypeVar("Item")


def measure(corpus: EmbeddedCorpus, *, quick: bool) -> Row:
    questions = list(corpus.questions[:QUERIES])
    asked = list(zip(questions, encode_questions(corpus.embedder, questions), strict=True))
    passage = _passage(corpus)
    sys.stderr.write(f"{passage}\n")
    rows: list[Row] = []
    servers: list[Row] = []
    for length, sizes in SIZES.items():
        for size in sizes[:1] if quick else sizes:
            settings, _ = synthetic_index(corpus, size, length=length)
            found = [_embedded(settings, asked)]
            if length == SHORT and size <= MOST_OF_LITE:
                found.append(_milvus_lite(settings, asked))
                found[1]["top 10 shared"] = _shared(found[1]["found"], found[0]["found"])
            for row in found:
                del row["found"]
                _tell(rows, {"passages": size, "characters": length, **row})
            if length == SHORT and size in IN_A_SERVER:
                with closing(open_index(settings.index)) as index:
                    for row in measure_server(index.vectors.all(), np.stack([e.vector for _, e in asked])):
                        _tell(servers, row)
    return {
        "rows": rows,
        "vector search in a full server": servers,
        "a passage of the corpus": passage,
        "settings": {"queries": QUERIES, "candidates": CANDIDATES, "depth": DEPTH},
    }


def _passage(corpus: EmbeddedCorpus) -> dict[str, float]:
    """What a real passage costs that made-up ones do not have."""
    texts = corpus.texts[:: len(corpus.texts) // EMBEDDED][:EMBEDDED]
    list(corpus.embedder.encode_passages(texts[:2]))
    used = time.process_time()
    list(corpus.embedder.encode_passages(texts))
    used = time.process_time() - used
    with closing(open_index(corpus.settings.index)) as index:
        tokens = sum(record.size for name, record in index.manifest.files.items() if name.startswith("tokens."))
    return {
        "characters": round(float(np.mean([len(text) for text in corpus.texts])), 1),
        "embedding core ms": round(used / len(texts) * 1_000, 2),
        "token vectors kB": round(tokens / len(corpus.texts) / 1_000, 2),
    }


def _tell(rows: list[Row], row: Row) -> None:
    rows.append(row)
    sys.stderr.write(f"{row}\n")


def show(result: Row) -> str:
    names = ("passages", "characters", "store", "publish s", "dense ms", "keyword ms", "fused ms", "memory MB")
    stores = table([{name: row.get(name) for name in names} for row in result["rows"]])
    return f"{stores}\n\n{table(result['vector search in a full server'])}"


def _embedded(settings: Settings, asked: Asked) -> Row:
    sealing, sealing_core = publish_seconds(settings)
    told = in_fresh_process(_ask, settings, asked)
    with closing(open_index(settings.index)) as index:
        report, files = index.manifest.report, index.manifest.files
    disk: dict[str, float] = {}
    for name, record in files.items():
        part = ".".join(name.split(".")[:2]) if name.startswith("vectors") else name.split(".")[0]
        disk[part] = disk.get(part, 0) + record.size / 2**20
    return {
        "store": "embedded",
        "publish s": round(sum(report["seconds"].values()) + sealing, 2),
        "publish core s": round(report["core_seconds"] + sealing_core, 2),
        **told,
        "disk MB": {part: round(size, 2) for part, size in disk.items()},
    }


def _milvus_lite(settings: Settings, asked: Asked) -> Row:
    with tempfile.TemporaryDirectory(prefix="scale-", dir=WORK) as temporary:
        server = MilvusServer(Path(temporary) / "milvus")
        server.start()
        try:
            settings = settings.model_copy(
                update={"store": StoreName.MILVUS, "milvus_uri": server.uri, "milvus_timeout": 600.0}
            )
            written = in_fresh_process(_publish, settings)
            writing = used_by_session(server.process_id)
            told = in_fresh_process(_ask, settings, asked)
            reading = used_by_session(server.process_id)
            disk = sum(file.stat().st_size for file in Path(temporary).rglob("*") if file.is_file()) / 2**20
        finally:
            server.kill()
    searches = told["searches"]
    return {
        "store": "milvus-lite",
        "publish s": written["seconds"],
        "publish core s": round(written["core seconds"] + writing.core_seconds, 2),
        **told,
        "server core ms a search": round((reading.core_seconds - writing.core_seconds) / searches * 1_000, 2),
        "server MB": round(reading.megabytes),
        "disk MB": {"server": round(disk, 2)},
    }


def _publish(settings: Settings) -> dict[str, float]:
    started, used = time.perf_counter(), time.process_time()
    publish_copy(MilvusStore(settings).connection, settings.index)
    return {
        "seconds": round(time.perf_counter() - started, 2),
        "core seconds": round(time.process_time() - used, 2),
    }


def _ask(settings: Settings, asked: Asked) -> Row:
    """What each part of a search costs in a process that does nothing else, and what is found."""
    before, own = resident_megabytes(), resident_megabytes(own=True)
    started = time.perf_counter()
    index = open_store(settings).open()
    opening = time.perf_counter() - started
    ranking = ranking_for(index)
    found: dict[str, list[str]] = {}

    def fused(each: tuple[str, Encoded]) -> None:
        candidates = propose(index, *each, count=CANDIDATES, ranking=ranking)
        numbers = [] if candidates is None else candidates.numbers[candidates.order[:DEPTH]].tolist()
        found[each[0]] = [passage.text for passage in index.storage.passages(numbers)]

    # First, while no row of a server is kept yet.
    told = {"fused ms": _timed(fused, asked)}
    told["dense ms"] = _timed(lambda each: index.vectors.search(each[1].vector, CANDIDATES), asked)
    words = [terms(question) for question, _ in asked]
    told["keyword ms"] = _timed(lambda asks: search_keyword(index.keywords.match(asks), CANDIDATES), words)
    grown, grown_own = resident_megabytes() - before, resident_megabytes(own=True) - own
    row = {
        **told,
        "searches": 3 * (len(asked) + 1),
        "open s": round(opening, 2),
        "memory MB": {"own": round(grown_own), "mapped": round(grown - grown_own)},
        "found": found,
    }
    if isinstance(index, DiskIndex):
        row["recall@10"] = _recall(index, [encoded.vector for _, encoded in asked[:COMPARED]])
    index.close()
    return row


def _timed(work: Callable[[Item], object], items: Sequence[Item]) -> dict[str, float]:
    used = time.process_time()
    taken = milliseconds(work, items)
    core = (time.process_time() - used) / (len(items) + 1) * 1_000
    return {**spread(taken), "core": round(core, 3)}


def _recall(index: DiskIndex, queries: Sequence[NDArray[np.float32]]) -> float:
    """Of the vector search, against comparing all."""
    truth = faiss.knn(np.stack(queries), index.vectors.all(), DEPTH, metric=faiss.METRIC_INNER_PRODUCT)[1]
    return recall([index.vectors.search(query, CANDIDATES)[0] for query in queries], truth, DEPTH)


def _shared(found: Mapping[str, list[str]], expected: Mapping[str, list[str]]) -> float:
    """The share of the expected passages that were found, of all questions."""
    shares = [len({*found[question]} & {*texts}) / max(len({*texts}), 1) for question, texts in expected.items()]
    return round(float(np.mean(shares)), 4)
