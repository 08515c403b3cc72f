"""What a run with a cluster writes equals what a run without it writes, whatever happens to the workers meanwhile."""

import os
import shutil
import signal
import sqlite3
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from ingest.cluster import outgoing
from ingest.cluster import pool as pool_module
from ingest.cluster import workers as workers_module
from ingest.cluster.pool import Pool, Task
from ingest.cluster.version import Program, differences, program
from ingest.cluster.workers import RayWorkers
from ingest.report import Stage
from ingest.sync import Report, sync
from ingest.workers import InProcess
from rag.embedding import Embedder
from rag.errors import IngestError, ModelError, Unreadable
from rag.index.generation import open_index
from rag.settings import Settings, WorkersName
from tests.conftest import HashEmbedder
from tests.ingest.cluster.conftest import TwoNodes
from tests.paths import FORMATS, ROOT
from tools.hash_embedder import load_hash_embedder

SECRET = "sk-of-nobody-else"
KILLER = "poison.md"


def load_killer(settings: Settings) -> Embedder:
    """An embedder, in a process that dies of one document. Sent to the workers as it stands here."""
    import os
    import signal

    from ingest import prepare
    from tools.hash_embedder import HashEmbedder

    real = prepare.prepare_bytes

    def dying(root: int, relative: str, *more: Any) -> Any:
        if relative == "poison.md":
            os.kill(os.getpid(), signal.SIGKILL)
        return real(root, relative, *more)

    vars(prepare)["prepare_bytes"] = dying
    return HashEmbedder()


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every format, pages of the corpus, a broken file, and an empty one."""
    folder = tmp_path_factory.mktemp("documents")
    shutil.copytree(
        FORMATS, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.py", "__pycache__", "README.md")
    )
    for page in sorted((ROOT / "corpus").glob("*/*.md"), key=lambda page: page.stat().st_size)[1:4]:
        shutil.copy(page, folder)
    (folder / "broken.docx").write_bytes(b"PK\x03\x04" + bytes(100))
    (folder / "empty.md").write_bytes(b"")
    return folder


@pytest.fixture(scope="module")
def in_process(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    index, embedder = tmp_path_factory.mktemp("index"), HashEmbedder()
    return index, sync(Settings(index=index), lambda: embedder, [documents], identity=embedder.identity)


class Run:
    """Runs over one index, with the workers of a cluster."""

    def __init__(self, two_nodes: TwoNodes, index: Path) -> None:
        self.settings = Settings(
            index=index, workers=WorkersName.RAY, ray_address=two_nodes.address, endpoint_key=SecretStr(SECRET)
        )
        self.embedder = HashEmbedder()

    @contextmanager
    def workers(self, **more: Any) -> Iterator[RayWorkers]:
        here = InProcess(self.settings, lambda: self.embedder)
        options: dict[str, Any] = {"load": load_hash_embedder, "always": True} | more
        with RayWorkers(self.settings, self.embedder.identity, here, **options) as workers:
            yield workers

    def sync(self, folder: Path, workers: RayWorkers, **more: Any) -> Report:
        return sync(self.settings, lambda: self.embedder, [folder], identity="hash@1", workers=workers, **more)


@pytest.fixture
def run(two_nodes: TwoNodes, tmp_path: Path) -> Run:
    return Run(two_nodes, tmp_path / "index")


def processes(workers: RayWorkers) -> list[int]:
    return [worker.process for worker in workers.pool().greetings]


def said(report: Report) -> dict[str, Any]:
    return report.as_dict() | {"seconds": 0, "warnings": report.warnings, "cleaned": report.cleaned}


def assert_equal(index: Path, other: Path) -> None:
    """Byte for byte what was read, and what was embedded within rounding."""
    ours, theirs = (dump(next((folder / "generations").iterdir()) / "passages.sqlite") for folder in (index, other))
    assert ours == theirs
    one, two = open_index(index), open_index(other)
    assert np.allclose(one.vectors.all(), two.vectors.all(), atol=1e-6)
    assert one.tokens is not None
    assert two.tokens is not None
    assert np.array_equal(one.tokens.token_ids, two.tokens.token_ids)
    # A number on the border of two levels can fall on either side.
    assert np.mean(one.tokens.codes == two.tokens.codes) > 0.999
    one.close()
    two.close()


def dump(file: Path) -> list[str]:
    connection = sqlite3.connect(file)
    lines = list(connection.iterdump())
    connection.close()
    return lines


def test_the_result_equals_a_run_without(
    run: Run, documents: Path, in_process: tuple[Path, Report], two_nodes: TwoNodes
) -> None:
    told: list[tuple[Stage, int, int]] = []
    with run.workers() as workers:
        report = run.sync(documents, workers, progress=lambda *step: told.append(step))
        assert len(workers.pool().greetings) == 2  # a processor each, so one on each node
        assert not run.sync(documents, workers).published
    assert said(report) == said(in_process[1])
    assert report.documents.failed
    assert_equal(run.settings.index, in_process[0])
    count = len(list(documents.iterdir()))
    assert [step[1] for step in told if step[0] is Stage.DOCUMENTS] == list(range(count + 1))
    assert told[-1] == (Stage.PASSAGES, report.passages_total, report.passages_total)
    logs = [file.read_bytes() for file in two_nodes.folder.rglob("*") if file.is_file()]
    assert logs
    assert not [log for log in logs if SECRET.encode() in log]


@pytest.mark.parametrize("stage", list(Stage))
def test_a_killed_worker_costs_its_task(
    stage: Stage,
    run: Run,
    documents: Path,
    in_process: tuple[Path, Report],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(outgoing, "TASK_FILES", 1)
    with run.workers() as workers:
        killed: list[int] = []

        def kill(at: Stage, done: int, total: int) -> None:
            if at is stage and done > 1 and not killed:
                killed.extend(processes(workers))
                os.kill(killed[0], signal.SIGKILL)

        report = run.sync(documents, workers, progress=kill)
        assert killed
        assert said(report) == said(in_process[1])
    assert_equal(run.settings.index, in_process[0])
    assert not capfd.readouterr().out  # where Ray would tell of it, and only results belong


def test_a_document_that_kills_workers_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found among those of its task, which are read; it keeps its last good version, if there was one."""
    import ray

    cloudpickle: Any = ray.cloudpickle
    dead: list[BaseException] = []
    monkeypatch.setattr(Pool, "_count_death", lambda _, error: dead.append(error))
    folder = tmp_path / "documents"
    folder.mkdir()
    for name in ("a.md", KILLER, "z.md"):
        (folder / name).write_text(f"# {name}\n\n注意力把每个位置和其他位置联系起来。{name}\n", encoding="utf-8")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        with run.workers(load=load_killer) as workers:
            report = run.sync(folder, workers)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    (failure,) = report.documents.failed
    assert report.documents.added == 2
    assert len(dead) == 3
    assert failure.error.startswith(f"{KILLER}: 3 workers that were to read it died: ")
    assert failure.reason is Unreadable.PROGRAM


def test_bytes_in_flight_are_bounded(
    run: Run, documents: Path, in_process: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outgoing, "TASK_BYTES", 10_000)
    monkeypatch.setattr(outgoing, "TASK_TEXTS", 4)
    largest = max(file.stat().st_size for file in documents.iterdir())
    in_flight: list[int] = []

    class Noting(Pool):
        """Notes what is in flight whenever tasks were given."""

        def _feed(self, coming: Iterator[Task], again: "deque[Task]") -> None:
            super()._feed(coming, again)
            in_flight.append(self.bytes_in_flight)

    monkeypatch.setattr(workers_module, "Pool", Noting)
    with run.workers(most_bytes=30_000) as workers:
        report = run.sync(documents, workers)
        assert 10_000 < max(in_flight) <= max(30_000, largest)
        assert workers.pool().bytes_in_flight == 0
    assert said(report) == said(in_process[1])


def test_what_is_cancelled_ends_its_workers_and_no_others(
    run: Run, documents: Path, in_process: tuple[Path, Report]
) -> None:
    ended: list[int] = []

    def cancel(stage: Stage, done: int, total: int) -> None:
        if stage is Stage.PASSAGES:
            ended.extend(processes(workers))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), run.workers() as workers:
        run.sync(documents, workers, progress=cancel)
    assert len(ended) == 2
    assert not (run.settings.index / "CURRENT").exists()
    with run.workers() as workers:  # the cluster is there, and has its processors back
        assert said(run.sync(documents, workers)) == said(in_process[1])
        assert not set(ended) & set(processes(workers))
    assert not [process for process in ended if Path(f"/proc/{process}/exe").exists()]


def test_another_program_on_a_node_is_refused(run: Run, documents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = program()
    other = Program("0" * 64, (("python", "3.9"), *own.versions[1:]))
    monkeypatch.setattr(pool_module, "program", lambda: other)
    with pytest.raises(IngestError, match="runs another program") as caught, run.workers() as workers:
        run.sync(documents, workers)
    assert f"code {own.code[:12]} instead of 000000000000; python {own.versions[0][1]} instead of 3.9" in (
        caught.value.message
    )
    assert "requirements.lock" in caught.value.hint
    assert not list(differences(own, own))


def test_another_embedder_on_a_node_is_refused(run: Run, documents: Path) -> None:
    run.embedder.identity = "hash@2"
    with pytest.raises(ModelError, match=r"has the embedder hash@1, the run is for hash@2"), run.workers() as workers:
        run.sync(documents, workers)


def test_little_work_is_done_here(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# 注意力\n\n每个位置和其他位置联系起来。\n", encoding="utf-8")
    with run.workers(always=False, load=None) as workers:
        assert run.sync(tmp_path / "a.md", workers).passages_total == 1
        assert workers._pool is None
