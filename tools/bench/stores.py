"""The embedded store beside Milvus: the same questions over the same index, what they find and how long it takes.

    python -m tools.bench.stores --index DIR [--questions FILE] [--uri URI] [--limit N] [--out FILE]

Without --uri a milvus-lite server is started. The index is copied, and its copy published to the store first.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rag.embedding import Embedder, load_embedder
from rag.evaluation.datasets import GoldRow, load_gold
from rag.index import Index, open_index
from rag.index.milvus.connection import Connection
from rag.index.milvus.generations import Generation, read_live
from rag.index.milvus.lease import writing
from rag.index.milvus.publish import publish
from rag.index.milvus.schema import Table, create_missing
from rag.index.milvus.store import MilvusStore
from rag.paths import PROGRAM
from rag.search.retrieval import encode_questions, search
from rag.settings import Settings, StoreName, load_settings
from rag.types import Hit
from tools.bench.measuring import machine, seconds, spread
from tools.milvus_server import MilvusServer

GOLD = PROGRAM / "rag" / "evaluation" / "data" / "gold.jsonl"
DEPTH = 10
# Scores that differ by less are a tie: the two add up 32-bit numbers in other orders.
TIE = 2e-6


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.stores", description=__doc__)
    parser.add_argument("--index", type=Path, required=True, metavar="DIR", help="an index, which is copied")
    parser.add_argument("--questions", type=Path, default=GOLD, metavar="FILE", help="gold file; its dev half is asked")
    parser.add_argument("--uri", default="", help="a Milvus server (default: milvus-lite is started)")
    parser.add_argument("--limit", type=int, default=500, help="questions")
    parser.add_argument("--out", type=Path, metavar="FILE")
    options = parser.parse_args()
    rows = [row for row in load_gold(options.questions) if row.split == "dev" and not row.history][: options.limit]
    with tempfile.TemporaryDirectory(prefix="stores-") as temporary, _server(options.uri, Path(temporary)) as uri:
        copy = Path(temporary) / "index"
        shutil.copytree(options.index, copy)
        settings = load_settings(options={"index": copy, "store": StoreName.MILVUS, "milvus_uri": uri})
        settings = settings.model_copy(update={"milvus_prefix": f"bench_{int(time.time())}", "milvus_timeout": 120.0})
        result = _measure(settings, rows)
    text = json.dumps({"what": "the embedded store beside Milvus", "machine": machine(), **result}, indent=1)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")
    return 0


@contextmanager
def _server(uri: str, folder: Path) -> Iterator[str]:
    if uri:
        yield uri
        return
    server = MilvusServer(folder / "milvus")
    server.start()
    try:
        yield server.uri
    finally:
        server.kill()


def _measure(settings: Settings, rows: Sequence[GoldRow]) -> dict[str, Any]:
    store = MilvusStore(settings)
    with closing(open_index(settings.index)) as disk:
        published: list[Generation] = []
        publishing = seconds(lambda: published.append(_publish(store.connection, settings.index)))
        again = seconds(lambda: published.append(_publish(store.connection, settings.index)))
        started = time.perf_counter()
        stored = store.open()
        opening = time.perf_counter() - started
        embedder = load_embedder(settings)
        found = {name: _ask(index, embedder, rows) for name, index in (("embedded", disk), ("milvus", stored))}
        for table in Table:
            store.connection.drop(table)
    ours, theirs = found["milvus"][0], found["embedded"][0]
    same = [_same(one, other) for one, other in zip(ours, theirs, strict=True)]
    return {
        "passages": disk.manifest.passages,
        "token vectors": disk.tokens is not None,
        "questions": len(rows),
        "same top 10, ties apart": sum(same),
        "differ": [row.id for row, equal in zip(rows, same, strict=True) if not equal],
        "largest difference of scores": _largest_difference(ours, theirs),
        "ndcg@10": {name: _ndcg(hits, rows) for name, (hits, _) in found.items()},
        "ms a search, the question encoded": {name: spread(taken) for name, (_, taken) in found.items()},
        "seconds to publish": round(publishing, 1),
        "seconds to publish what has not changed": round(again, 1),
        "seconds to open": round(opening, 1),
    }


def _publish(connection: Connection, folder: Path) -> Generation:
    create_missing(connection, (Table.STATE,))
    with writing(connection, wait=0) as lease, closing(open_index(folder)) as disk:
        return publish(connection, lease, read_live(connection), disk)


def _ask(index: Index, embedder: Embedder, rows: Sequence[GoldRow]) -> tuple[list[tuple[Hit, ...]], list[float]]:
    """What each question finds, and the milliseconds it takes after it was encoded."""
    hits, taken = [], []
    search(index, embedder, rows[0].question, k=DEPTH)  # opens what is opened late
    for row in rows:
        (encoded,) = encode_questions(embedder, [row.question])
        started = time.perf_counter()
        hits.append(search(index, embedder, row.question, k=DEPTH, encoded=encoded).hits)
        taken.append((time.perf_counter() - started) * 1_000)
    return hits, taken


def _said(hit: Hit) -> tuple[object, ...]:
    return hit.passage.document, hit.passage.content


def _same(ours: Sequence[Hit], theirs: Sequence[Hit]) -> bool:
    """Whether both lists hold the same passages, but for the order of equal scores and which of them come last."""
    if len(ours) != len(theirs):
        return False
    return all(
        _said(one) == _said(other) or abs(one.score - other.score) <= TIE
        for one, other in zip(ours, theirs, strict=True)
    )


def _largest_difference(ours: Sequence[Sequence[Hit]], theirs: Sequence[Sequence[Hit]]) -> float:
    pairs = [(o, t) for one, other in zip(ours, theirs, strict=True) for o, t in zip(one, other, strict=False)]
    return max(abs(one.score - other.score) for one, other in pairs)


def _ndcg(found: Sequence[Sequence[Hit]], rows: Sequence[GoldRow]) -> float:
    """The mean over answerable questions; a page counts once, where it comes first."""
    gains = []
    for hits, row in zip(found, rows, strict=True):
        relevant = {evidence.document for evidence in row.evidence}
        if relevant:
            pages = list(dict.fromkeys(hit.passage.document for hit in hits))
            won = sum(1 / np.log2(rank + 2) for rank, page in enumerate(pages) if page in relevant)
            most = sum(1 / np.log2(rank + 2) for rank in range(min(DEPTH, len(relevant))))
            gains.append(won / most)
    return round(float(np.mean(gains)), 5)


if __name__ == "__main__":
    sys.exit(main())
