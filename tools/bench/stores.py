"""The embedded store beside Milvus: the same questions over the same index, what they find and how long it takes.

    python -m tools.bench.stores --index DIR [--beir FOLDER ...] [--work DIR] [--uri URI] [--limit N] [--out FILE]

asks the development halves of gold.jsonl and asked.jsonl, questions to a folder only among them; with --beir also those
of public sets, whose documents are ingested below --work, or found there. Without --uri a milvus-lite server is
started. An index is copied, and its copy published to the store first.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rag.embedding import Embedder, load_embedder
from rag.evaluation.answers.asked import load_asked
from rag.evaluation.datasets import Split, load_dataset, load_gold
from rag.evaluation.provenance import commit, today
from rag.evaluation.retrieval.indexing import index_documents
from rag.index import Index, open_index
from rag.index.milvus.connection import Connection
from rag.index.milvus.generations import Generation, read_live
from rag.index.milvus.lease import writing
from rag.index.milvus.publish import publish
from rag.index.milvus.schema import Table, create_missing
from rag.index.milvus.store import MilvusStore
from rag.index.part import part_of
from rag.paths import PROGRAM
from rag.search.retrieval import encode_questions, search
from rag.settings import Settings, StoreName, load_settings
from rag.types import Hit
from tools.bench.measuring import machine, seconds, spread
from tools.milvus_server import MilvusServer

DATA = PROGRAM / "rag" / "evaluation" / "data"
DEPTH = 10
# Questions that are asked of a part of the index.
SCOPED = 100
# Scores that differ by less are a tie: the two add up 32-bit numbers in other orders.
TIE = 2e-6


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the documents that answer it, and those that it is asked of; none: all."""

    id: str
    question: str
    relevant: frozenset[str]
    only: tuple[str, ...] = ()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.stores", description=__doc__)
    parser.add_argument("--index", type=Path, required=True, metavar="DIR", help="an index, which is copied")
    parser.add_argument("--beir", type=Path, nargs="*", default=[], metavar="FOLDER", help="public sets")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keeps their indexes, as `rag eval retrieval` does")
    parser.add_argument("--uri", default="", help="a Milvus server (default: milvus-lite is started)")
    parser.add_argument("--limit", type=int, default=500, help="questions of each set")
    parser.add_argument("--out", type=Path, metavar="FILE")
    options = parser.parse_args()
    gold = _dev_gold()
    sets = {"gold, dev": gold, "asked, dev": _dev_asked(), "gold, dev, of a folder": _scoped(gold)}
    with tempfile.TemporaryDirectory(prefix="stores-") as temporary, _server(options.uri, Path(temporary)) as uri:
        settings = load_settings(options={"store": StoreName.MILVUS, "milvus_uri": uri})
        settings = settings.model_copy(update={"milvus_prefix": f"bench_{int(time.time())}", "milvus_timeout": 120.0})
        result = {"corpus": _measure(_copied(settings, options.index, Path(temporary) / "corpus"), sets, options.limit)}
        for folder in options.beir:
            name = folder.resolve().name
            indexed, asked = _beir(folder, settings, options.work or Path(temporary) / "beir")
            copy = _copied(settings, indexed, Path(temporary) / name)
            result[name] = _measure(copy, {name: asked}, options.limit)
    text = json.dumps(
        {
            "what": "the embedded store beside Milvus",
            "commit": commit(),
            "date": today(),
            "machine": machine(),
            **result,
        },
        indent=1,
    )
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")
    return 0


def _dev_gold() -> list[Asked]:
    rows = [row for row in load_gold(DATA / "gold.jsonl") if row.split == "dev" and not row.history]
    return [Asked(row.id, row.question, frozenset(each.document for each in row.evidence)) for row in rows]


def _dev_asked() -> list[Asked]:
    rows = [row for row in load_asked(DATA / "asked.jsonl") if row.split is Split.DEV and row.after is None]
    return [Asked(row.id, row.question, frozenset(document for document, _ in row.belong)) for row in rows]


def _scoped(gold: Sequence[Asked]) -> list[Asked]:
    """Questions to the folder that answers them, and to one document beside it."""
    answered = [each for each in gold if each.relevant][:SCOPED]
    return [
        replace(each, only=(f"{sorted(each.relevant)[0].rpartition('/')[0]}/", sorted(other.relevant)[0]))
        for each, other in zip(answered, [*answered[1:], answered[0]], strict=True)
    ]


def _beir(folder: Path, settings: Settings, work: Path) -> tuple[Path, list[Asked]]:
    """A set's index, and its questions with the names that documents have there."""
    dataset = load_dataset(folder)
    indexed = index_documents(dataset.documents or (), settings, work)
    names = {document: name for name, document in indexed.names.items()}
    return indexed.settings.index, [
        Asked(query.id, query.text, frozenset(names[document] for document in dataset.qrels[query.id]))
        for query in dataset.scored
    ]


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


def _copied(settings: Settings, index: Path, to: Path) -> Settings:
    shutil.copytree(index, to)
    return settings.model_copy(update={"index": to})


def _measure(settings: Settings, sets: Mapping[str, Sequence[Asked]], limit: int) -> dict[str, Any]:
    store = MilvusStore(settings)
    with closing(open_index(settings.index)) as disk:
        try:
            published: list[Generation] = []
            publishing = seconds(lambda: published.append(publish_copy(store.connection, settings.index)))
            again = seconds(lambda: published.append(publish_copy(store.connection, settings.index)))
            started = time.perf_counter()
            stored = store.open()
            opening = time.perf_counter() - started
            embedder = load_embedder(settings)
            compared = {name: _compare(disk, stored, embedder, asked[:limit]) for name, asked in sets.items()}
        finally:
            for table in filter(store.connection.has, Table):
                store.connection.drop(table)
    return {
        "passages": disk.manifest.passages,
        "token vectors": disk.tokens is not None,
        "seconds to publish": round(publishing, 1),
        "seconds to publish what has not changed": round(again, 1),
        "seconds to open": round(opening, 1),
        "sets": compared,
    }


def _compare(disk: Index, stored: Index, embedder: Embedder, asked: Sequence[Asked]) -> dict[str, Any]:
    found = {name: _ask(index, embedder, asked) for name, index in (("embedded", disk), ("milvus", stored))}
    ours, theirs = found["milvus"][0], found["embedded"][0]
    same = [_same(one, other) for one, other in zip(ours, theirs, strict=True)]
    return {
        "questions": len(asked),
        "same top 10, ties apart": sum(same),
        "differ": [each.id for each, equal in zip(asked, same, strict=True) if not equal],
        "largest difference of scores": _largest_difference(ours, theirs),
        "ndcg@10": {name: _ndcg(hits, asked) for name, (hits, _) in found.items()},
        "ms a search, the question encoded": {name: spread(taken) for name, (_, taken) in found.items()},
    }


def publish_copy(connection: Connection, folder: Path) -> Generation:
    """Send the index of a folder to the store."""
    create_missing(connection, (Table.STATE,))
    with writing(connection, wait=0) as lease, closing(open_index(folder)) as disk:
        return publish(connection, lease, read_live(connection), disk)


def _ask(index: Index, embedder: Embedder, asked: Sequence[Asked]) -> tuple[list[tuple[Hit, ...]], list[float]]:
    """What each question finds, and the milliseconds it takes after it was encoded and its documents were named."""
    hits, taken = [], []
    parts = {only: part_of(index, only) for only in {each.only for each in asked}}
    search(index, embedder, asked[0].question, k=DEPTH)  # opens what is opened late
    for each in asked:
        (encoded,) = encode_questions(embedder, [each.question])
        started = time.perf_counter()
        hits.append(search(parts[each.only], embedder, each.question, k=DEPTH, encoded=encoded).hits)
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


def _ndcg(found: Sequence[Sequence[Hit]], asked: Sequence[Asked]) -> float:
    """The mean over answerable questions; a page counts once, where it comes first."""
    gains = []
    for hits, each in zip(found, asked, strict=True):
        relevant = each.relevant
        if relevant:
            pages = list(dict.fromkeys(hit.passage.document for hit in hits))
            won = sum(1 / np.log2(rank + 2) for rank, page in enumerate(pages) if page in relevant)
            most = sum(1 / np.log2(rank + 2) for rank in range(min(DEPTH, len(relevant))))
            gains.append(won / most)
    return round(float(np.mean(gains)), 5)


if __name__ == "__main__":
    sys.exit(main())
