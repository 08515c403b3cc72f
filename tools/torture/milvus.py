"""kill -9 of a writer, or of the server, at random moments of an ingest into Milvus: python -m tools.torture.milvus

Every round edits the documents, starts an ingest, kills it (in some rounds the server), and asks what the store
holds: the old generation or the new one, whole. The next run must end where an ingest from nothing ends, with no row
left over.
"""

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from hashlib import sha256
from pathlib import Path

from ingest.sync import sync
from rag.errors import IndexMissingError
from rag.index import Index, open_index
from rag.settings import Settings, StoreName
from tools.dense_milvus import without_sparse_vectors
from tools.full_milvus import FullMilvusServer
from tools.milvus_server import MilvusServer
from tools.torture import milvus_crowd
from tools.torture.processes import DONE, REFUSED, end, start
from tools.torture.scene import EMBEDDER, edit, page

DOCUMENTS = 8
SERVER_EVERY = 5
MISSING = "missing"
# How long a writer waits for the claim of one that died: it is void at once on the same machine.
WAIT = 60.0
# How long a call waits for the server; a full one needs half a minute to come back.
AWAY = 120.0
CROWDED = 300.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.torture.milvus", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--server-every", type=int, default=SERVER_EVERY, help="every N-th round it is the server")
    parser.add_argument("--crowd", action="store_true", help="writers and readers at the same time instead")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--readers", type=int, default=32)
    parser.add_argument("--versions", type=int, default=3, help="what each writer publishes")
    parser.add_argument("--restarts", type=int, default=2, help="of the server, under the crowd")
    parser.add_argument("--full", action="store_true", help="the full server, without sparse vectors")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    if options.crowd and options.full:
        parser.error("readers search by keywords, which the full server cannot")
    sys.stderr.write(f"seed {options.seed}\n")
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="torture-milvus-") as temporary, ExitStack() as block:
        server = MilvusServer(Path(temporary) / "server")
        if options.full:
            server = FullMilvusServer(server.folder)
            block.enter_context(without_sparse_vectors())
        block.callback(server.kill)
        server.spawn()
        _in_child(lambda: _wait(server), Path(temporary))
        figures = (_crowd if options.crowd else _kill)(options, server, Path(temporary))
    seconds = round(time.perf_counter() - started, 1)
    told = {"part": "milvus", "server": server.name, "seed": options.seed, **figures, "seconds": seconds}
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


def _kill(options: argparse.Namespace, server: MilvusServer, folder: Path) -> dict[str, int]:
    return torture(server, options.kills, random.Random(options.seed), folder, options.server_every)


def _crowd(options: argparse.Namespace, server: MilvusServer, folder: Path) -> dict[str, int]:
    settings = Settings(store=StoreName.MILVUS, milvus_uri=server.uri, milvus_timeout=CROWDED, milvus_grace=CROWDED)
    return milvus_crowd.torture(
        server, settings, random.Random(options.seed), folder, writers=options.writers, readers=options.readers,
        versions=options.versions, restarts=options.restarts,
    )  # fmt: skip


def torture(
    server: MilvusServer, kills: int, chance: random.Random, folder: Path, server_every: int = SERVER_EVERY
) -> dict[str, int]:
    """Kill `kills` times; the server runs. Raises AssertionError naming the round."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    for number in range(DOCUMENTS):
        (docs / f"page-{number}.md").write_text(page(chance), encoding="utf-8")
    outcomes: Counter[str] = Counter()
    settings = Settings(
        index=folder / "index", store=StoreName.MILVUS, milvus_uri=server.uri, milvus_timeout=AWAY, milvus_grace=0.0
    )
    _seconds(settings, docs)  # this one also makes the collections
    edit(docs, chance)
    longest = _seconds(settings, docs)
    there = _in_child(lambda: in_store(settings), folder)
    while outcomes["writer killed"] + outcomes["server killed"] < kills:
        killed = server if (outcomes["rounds"] + 1) % server_every == 0 else None
        there = _round(settings, docs, killed, chance, longest, outcomes, there)
    return dict(outcomes)


def _round(
    settings: Settings,
    docs: Path,
    server: MilvusServer | None,
    chance: random.Random,
    longest: float,
    outcomes: Counter[str],
    old: str,
) -> str:
    """Kill the writer, or the server where one is given. What the store holds: `old` before the round, the value after
    it."""
    folder = docs.parent
    outcomes["rounds"] += 1
    where = f"round {outcomes['rounds']}, after {[edit(docs, chance) for _ in range(chance.randint(1, 3))]}"
    new = from_nothing(docs, folder / "scratch")
    child = start(lambda: _ingest(settings, docs))
    time.sleep(chance.uniform(0, longest))
    if server is not None:
        server.kill()
        server.spawn()
        outcomes["server killed"] += 1
        died = end(child)
        assert died in (DONE, REFUSED), f"{where}: exit code {died}"
        outcomes["writer went on" if died == DONE else "writer gave up"] += 1
    else:
        died = end(child, signal.SIGKILL)
        assert died in (DONE, -signal.SIGKILL), f"{where}: exit code {died}"
        outcomes["writer killed" if died else "done before the kill"] += 1
    found = _in_child(lambda: in_store(settings), folder)
    assert found in (old, new), f"{where}: neither the old nor the new generation"
    assert died or found == new, f"{where}: done, but the old generation is live"
    if old != new:
        outcomes["old" if found == old else "new"] += 1
    assert end(start(lambda: _ingest(settings, docs))) == DONE, f"{where}: the next run fails"
    held, left_over = _in_child(lambda: f"{in_store(settings)} {_left_over(settings)}", folder).split()
    assert held == new, f"{where}: the next run is no ingest from nothing"
    assert left_over == "0", f"{where}: rows are left over"
    if outcomes["rounds"] % 7 == 0:  # the next writer works elsewhere, and fetches first
        shutil.rmtree(settings.index)
    return new


def in_store(settings: Settings) -> str:
    from rag.index.milvus.store import MilvusStore

    try:
        return content(MilvusStore(settings).open(embedder=EMBEDDER.identity))
    except IndexMissingError:
        return MISSING


def from_nothing(docs: Path, scratch: Path) -> str:
    """What an ingest of the documents into a new embedded index holds."""
    shutil.rmtree(scratch, ignore_errors=True)
    sync(Settings(index=scratch), lambda: EMBEDDER, [docs], identity=EMBEDDER.identity)
    with closing(open_index(scratch)) as index:
        return content(index)


def content(index: Index) -> str:
    """A digest of all that a reader can see, whatever numbers passages have."""
    digest = sha256()
    documents = index.storage.documents(with_passages=True)
    places = {p.number: (d.name, n) for d in documents for n, p in enumerate(d.passages) if p.number is not None}
    for document in documents:
        digest.update(repr((document.entry, document.title, document.source, document.pages)).encode())
        for stored in document.passages:
            same_as = places[stored.same_as] if stored.same_as is not None else None
            digest.update(repr((stored.section, stored.content, stored.fingerprint, stored.blocks, same_as)).encode())
    numbers = list(places)
    for passage in index.storage.passages(numbers):
        digest.update(repr((passage.document, passage.title, passage.content, passage.also_in)).encode())
    digest.update(index.vectors.rows(numbers).tobytes())
    assert index.tokens is not None
    for number in numbers:
        digest.update(index.tokens.vectors(number).round(4).tobytes())
    for term in sorted({term for d in documents for p in d.passages for term in d.keyword_terms(p)}):
        digest.update(f"{term}{index.keywords.frequency(term)}".encode())
        digest.update(index.keywords.match([term]).of(numbers).round(4).tobytes())
    return digest.hexdigest()


def _ingest(settings: Settings, docs: Path) -> None:
    sync(settings, lambda: EMBEDDER, [docs], identity=EMBEDDER.identity, wait=WAIT)


def _left_over(settings: Settings) -> str:
    """How many rows of passages and documents the live generation does not see, and of generations but it."""
    from rag.index.milvus.connection import Connection
    from rag.index.milvus.generations import GENERATION, require_live
    from rag.index.milvus.schema import Table

    connection = Connection(settings)
    live = require_live(connection)
    rows = sum(connection.count(table, "generation >= 0") - count for table, count in live.rows.items())
    generations = connection.count(Table.STATE, f'kind == "{GENERATION}"') - 1
    return str(rows + generations)


def _seconds(settings: Settings, docs: Path) -> float:
    """How long a run takes that publishes all, in a process of its own."""
    started = time.perf_counter()
    assert end(start(lambda: _ingest(settings, docs))) == DONE
    return time.perf_counter() - started


def _wait(server: MilvusServer) -> str:
    server.wait()
    return ""


def _in_child(work: Callable[[], str], folder: Path) -> str:
    """What the work says, done in a process of its own: gRPC does not outlive a fork, so this one never loads it."""
    file = folder / "said"
    assert end(start(lambda: file.write_text(work(), encoding="utf-8"))) == DONE
    return file.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
