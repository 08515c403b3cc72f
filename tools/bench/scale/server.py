"""Vector search in a full Milvus server, by the kind of its index.

The server that the package index has (`tools.full_milvus`) is older than sparse vectors, so passages lie in it without
their terms, and the search by keywords is left out. All else is as the store has it: the fields that a search filters
by and returns, and its conditions.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray
from pymilvus import DataType, MilvusClient

from rag.search.retrieval import CANDIDATES
from tools.bench.embedded_corpus import WORK
from tools.bench.measuring import milliseconds, seconds, spread, used_by_session
from tools.bench.vectors import recall
from tools.full_milvus import VERSION, FullMilvusServer

NAME = "passages"
AT_ONCE = 2_000
TIMEOUT = 1_200.0
# The kind that the store uses, and what it could use instead: how each is built and asked.
KINDS: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "FLAT": ({}, {}),
    "IVF_SQ8": ({"nlist": 1_024}, {"nprobe": 64}),
    "HNSW": ({"M": 16, "efConstruction": 200}, {"ef": 200}),
}
# Building HNSW over more takes many minutes.
MOST_OF_HNSW = 100_000
# Packed as the store packs some 30 terms.
COUNTS = "A" * 240


def measure_server(vectors: NDArray[np.float32], queries: NDArray[np.float32]) -> list[dict[str, Any]]:
    """Each kind in a server of its own: on its disk is nothing that another one left."""
    truth = faiss.knn(queries, vectors, CANDIDATES, metric=faiss.METRIC_INNER_PRODUCT)[1]
    rows = []
    for kind in KINDS:
        if kind == "HNSW" and len(vectors) > MOST_OF_HNSW:
            continue
        with _server() as server:
            rows.append(_measure(server, kind, vectors, queries, truth))
    return rows


def _measure(
    server: "_Server", kind: str, vectors: NDArray[np.float32], queries: NDArray[np.float32], truth: NDArray[np.int64]
) -> dict[str, Any]:
    build, ask = KINDS[kind]
    client = MilvusClient(server.uri, timeout=TIMEOUT)
    inserted = seconds(lambda: _insert(client, vectors))
    built = seconds(lambda: _index(client, kind, build))

    def search(query: NDArray[np.float32]) -> NDArray[np.int64]:
        (hits,) = client.search(
            NAME, data=[query], anns_field="vector", limit=CANDIDATES, output_fields=["counts", "length"],
            filter="generation >= 1 and generation <= 1", consistency_level="Bounded",
            search_params={"metric_type": "IP", "params": ask},
        )  # fmt: skip
        return np.asarray([hit["id"] for hit in hits], np.int64)

    before = used_by_session(server.process_id).core_seconds
    taken = milliseconds(search, queries)
    used = used_by_session(server.process_id)
    return {
        "passages": len(vectors),
        "server": f"milvus {VERSION}",
        "index": " ".join([kind, *(f"{name} {value}" for name, value in {**build, **ask}.items())]),
        "dense ms": spread(taken),
        "server core ms a search": round((used.core_seconds - before) / (len(queries) + 1) * 1_000, 2),
        "recall@10": recall([search(query) for query in queries], truth, 10),
        "insert s": round(inserted, 1),
        "index s": round(built, 1),
        "server MB": round(used.megabytes),
        "disk MB": round(server.megabytes()),
    }


class _Server(FullMilvusServer):
    def megabytes(self) -> float:
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file()) / 2**20


@contextmanager
def _server() -> Iterator[_Server]:
    with tempfile.TemporaryDirectory(prefix="scale-", dir=WORK, ignore_cleanup_errors=True) as temporary:
        server = _Server(Path(temporary) / "milvus")
        server.start()
        try:
            yield server
        finally:
            server.kill()


def _insert(client: MilvusClient, vectors: NDArray[np.float32]) -> None:
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=vectors.shape[1])
    for number in ("generation", "document", "place", "length"):
        schema.add_field(number, DataType.INT64)
    schema.add_field("counts", DataType.VARCHAR, max_length=65_535)
    client.create_collection(NAME, schema=schema, consistency_level="Strong")
    for start in range(0, len(vectors), AT_ONCE):
        some = range(start, min(start + AT_ONCE, len(vectors)))
        client.insert(NAME, [
            {"id": n, "vector": vectors[n], "generation": 1, "document": n // 20, "place": n % 20, "length": 34,
             "counts": COUNTS}
            for n in some
        ])  # fmt: skip
    client.flush(NAME)


def _index(client: MilvusClient, kind: str, build: dict[str, int]) -> None:
    """Build it over all that was inserted, and load it."""
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type=kind, metric_type="IP", params=build)
    client.create_index(NAME, indexes)
    while (described := client.describe_index(NAME, "vector")).get("state") != "Finished":
        if described.get("state") == "Failed":
            raise RuntimeError(f"the index {kind} was not built: {described.get('index_state_fail_reason')}")
        time.sleep(1)
    client.load_collection(NAME)
