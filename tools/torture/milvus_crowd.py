"""Writers that publish in turn into one store, readers that ask without pause, and a server that is killed meanwhile.

Each writer has documents of its own, all of whose passages carry its number and that of the version: an answer, or a
list of hits, that shows two versions of a writer mixes generations. A question that fails fails the torture.

A writer is a process. Readers are threads of a few processes, as those of page servers are; every second process keeps
an Assistant, the others open the store anew for each question.
"""

import json
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from ingest.sync import sync
from rag.answer.assistant import Assistant
from rag.search.retrieval import search
from rag.settings import ChatModelName, Settings
from tools.milvus_server import MilvusServer
from tools.torture.scene import EMBEDDER, WORDS, page

STAMP = re.compile(r"作者(\d+)版次(\d+)号")
PAGES = 2
PROCESSES = 4
# Seconds from an answer to the next question, at most.
THOUGHT = 1.0
# How long a writer waits for its turn.
TURN = 3_600.0


def torture(
    server: MilvusServer, settings: Settings, chance: random.Random, folder: Path,
    *, writers: int, readers: int, versions: int, restarts: int,
) -> dict[str, int]:  # fmt: skip
    """Each writer publishes so many versions; the server, which runs, is killed so often. Raises AssertionError."""
    results, stop = folder / "results", folder / "stop"
    results.mkdir(parents=True)
    assert not _end(_start(_publish, settings, folder, 0, 0, chance.randrange(10**9)))
    seeds = [chance.randrange(10**9) for _ in range(writers + readers)]
    asking = [
        _start(_serve, settings, stop, results, seeds[writers + n :: PROCESSES], n % 2 == 0)
        for n in range(min(PROCESSES, readers))
    ]
    writing = [_start(_write, settings, folder, n, versions, seeds[n]) for n in range(writers)]
    try:
        for number in range(restarts):
            _await_publications(folder, (number + 1) * writers * versions // (restarts + 1), writing)
            server.kill()
            server.spawn()
        codes = list(map(_end, writing))
    except BaseException:
        for process in writing:
            process.kill()
        raise
    finally:
        stop.touch()
        asked = list(map(_end, asking))
    assert codes == [0] * writers, f"exit codes of the writers: {codes}"
    assert asked == [0] * len(asking), f"exit codes of the readers: {asked}"
    told = [json.loads(file.read_bytes()) for file in results.iterdir()]
    failures = [failure for one in told for failure in one["failures"]]
    assert not failures, f"{len(failures)} failed requests, the first: {failures[0]}"
    assert not _end(_start(_hold, settings, folder / "held"))
    held = json.loads((folder / "held").read_bytes())
    assert held == {str(n): [versions] for n in range(writers)}, f"live are {held}"
    return {
        "writers": writers, "readers": readers, "published": writers * versions, "server killed": restarts,
        "requests": sum(one["requests"] for one in told), "failed": 0, "mixed": 0, "lost": 0,
        "versions seen": len({tuple(seen) for one in told for seen in one["seen"]}),
    }  # fmt: skip


def _start(work: Callable[..., None], *arguments: object) -> BaseProcess:
    """In a new process, not a forked one: gRPC has been seen to hang in those."""
    process = get_context("spawn").Process(target=work, args=arguments)
    process.start()
    return process


def _end(process: BaseProcess) -> int | None:
    process.join()
    return process.exitcode


def _await_publications(folder: Path, count: int, writing: Sequence[BaseProcess]) -> None:
    """Until so many versions have been published, or no writer is left."""
    while len(list(folder.glob("writer-*/published-*"))) < count and any(writer.is_alive() for writer in writing):
        time.sleep(0.2)


def _write(settings: Settings, folder: Path, writer: int, versions: int, seed: int) -> None:
    for version in range(versions):
        _publish(settings, folder, writer, version + 1, seed + version)


def _publish(settings: Settings, folder: Path, writer: int, version: int, seed: int) -> None:
    """Bring the pages of a writer to a version; its working copy of the index is its own."""
    own, chance = folder / f"writer-{writer}", random.Random(seed)
    docs = own / "docs"
    docs.mkdir(parents=True, exist_ok=True)
    for number in range(PAGES):
        text = page(chance).replace("。", f"，作者{writer}版次{version}号。")
        (docs / f"writer-{writer}-{number}.md").write_text(text, encoding="utf-8")
    settings = settings.model_copy(update={"index": own / "index"})
    sync(settings, lambda: EMBEDDER, [docs], identity=EMBEDDER.identity, wait=TURN)
    (own / f"published-{version}").touch()


def _serve(settings: Settings, stop: Path, results: Path, seeds: Sequence[int], keeps: bool) -> None:
    """Readers in one process, each in a thread."""
    from rag.index.milvus.store import MilvusStore

    settings = settings.model_copy(update={"llm": ChatModelName.EXTRACTIVE, "index": results / "none"})
    assistant = Assistant(settings, EMBEDDER) if keeps else None
    store = MilvusStore(settings)

    def read(question: str) -> Iterator[list[str]]:
        """Texts that must be of one generation: what is found, and what is quoted, which may be nothing."""
        if assistant is not None:
            yield [hit.passage.text for hit in assistant.search(question).hits]
            yield [citation.quote for citation in assistant.ask(question).citations]
        else:
            hits = search(store.open(embedder=EMBEDDER.identity), EMBEDDER, question).hits
            yield [hit.passage.text for hit in hits]

    def ask(seed: int) -> None:
        told = _ask(read, stop, random.Random(seed))
        (results / f"{seed}.json").write_text(json.dumps(told), encoding="utf-8")

    with ThreadPoolExecutor(len(seeds)) as pool:
        list(pool.map(ask, seeds))


def _ask(read: Callable[[str], Iterator[list[str]]], stop: Path, chance: random.Random) -> dict[str, object]:
    """Ask until there is nothing more to wait for."""
    requests, failures, seen = 0, [], set()
    while not stop.exists():
        time.sleep(chance.uniform(0, THOUGHT))
        try:
            for number, texts in enumerate(read("".join(chance.choices(WORDS, k=4)))):
                stamps = {stamp for text in texts for stamp in STAMP.findall(text)}
                seen |= stamps
                if (not stamps and not number) or len({writer for writer, _ in stamps}) != len(stamps):
                    failures.append(f"not one version of each writer: {sorted(stamps)}")
        except Exception as error:
            failures.append(repr(error))
        requests += 1
    return {"requests": requests, "failures": failures, "seen": sorted(seen)}


def _hold(settings: Settings, result: Path) -> None:
    """The versions of each writer that the live generation has."""
    from rag.index.milvus.store import MilvusStore

    held: dict[str, set[int]] = {}
    for document in MilvusStore(settings).open(embedder=EMBEDDER.identity).storage.documents():
        for writer, version in STAMP.findall(document.source):
            held.setdefault(writer, set()).add(int(version))
    result.write_text(json.dumps({writer: sorted(found) for writer, found in sorted(held.items())}), encoding="utf-8")
