"""Clusters that are not there, the one that a run starts for itself, and that without the setting nothing changes."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from ingest.cluster.connection import joined, own_cores
from ingest.cluster.worker import fetch_and_load
from ingest.cluster.workers import RayWorkers
from ingest.sync import sync
from ingest.workers import InProcess
from rag.embedding import Embedder
from rag.errors import IngestError, SettingsError
from rag.index.generation import open_index
from rag.settings import Settings, WorkersName, load_settings
from tests.ingest.cluster.conftest import TwoNodes
from tests.ingest.library import Library
from tests.paths import ROOT

WITHOUT = """
import sys
from pathlib import Path
from ingest.sync import sync
from rag.settings import Settings
from tools.hash_embedder import HashEmbedder
folder, embedder = Path(sys.argv[1]), HashEmbedder()
report = sync(Settings(index=folder / "index"), lambda: embedder, [folder / "docs"], identity="hash@1")
assert report.published
assert not [name for name in sys.modules if name.split(".")[0] == "ray" or name.startswith("ingest.cluster")]
"""


def test_without_the_setting_ray_is_not_imported(library: Library) -> None:
    command = [sys.executable, "-c", WITHOUT, str(library.folder)]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True)


def test_ray_that_is_not_installed(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr("ingest.cluster.workers.FEW_BYTES", 0)
    with pytest.raises(SettingsError, match="which needs Ray") as caught:
        library.sync(settings=library.settings.model_copy(update={"workers": WorkersName.RAY}))
    assert caught.value.hint == 'pip install "interview-rag[ray]"'


@pytest.mark.parametrize("address", ["head", "ray://head", "ray://user:secret@head:10001", "http://head:1/", ":6379"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(SettingsError, match="'ray_address'"):
        load_settings(options={"ray_address": address}, environment={})


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_nobody_at_the_address(library: Library, scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said without asking Ray, which would try for minutes; what had been read before stays."""
    pytest.importorskip("ray", reason="needs the extra `ray`")
    library.sync()
    monkeypatch.setattr("ingest.cluster.workers.FEW_BYTES", 0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"{scheme}127.0.0.1:{free.getsockname()[1]}"
    library.page("rope")
    settings = library.settings.model_copy(update={"workers": WorkersName.RAY, "ray_address": address})
    monkeypatch.setattr("ray.init", lambda *_, **__: pytest.fail("Ray was asked"))
    with pytest.raises(IngestError, match="no Ray cluster answers at") as caught:
        library.sync(settings=settings)
    assert address in caught.value.message
    assert "ray start --head" in caught.value.hint
    assert library.names() == ["attention.md", "lora.md", "norm.md"]


def test_processors_of_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quota, as `docker run --cpus` sets it; what is left of a processor is not counted."""
    quota = tmp_path / "cpu.max"
    monkeypatch.setattr("ingest.cluster.connection.QUOTA", quota)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert own_cores() == 8
    for text, cores in ("max 100000", 8), ("250000 100000", 2), ("50000 100000", 1), ("1600000 100000", 8):
        quota.write_text(f"{text}\n", encoding="ascii")
        assert own_cores() == cores


def test_a_host_that_cannot_be() -> None:
    pytest.importorskip("ray", reason="needs the extra `ray`")
    with (
        pytest.raises(IngestError, match=r"no Ray cluster answers at head\.\.lan:6379"),
        joined("head..lan:6379", workers=1),
    ):
        pass


@pytest.mark.slow
def test_vectors_of_the_real_embedder(
    two_nodes: TwoNodes, library: Library, embedder: Embedder, tmp_path: Path
) -> None:
    """Workers find the model in the folder that the environment of their node names."""
    pages = [min((ROOT / "corpus").glob("*/*.md"), key=lambda page: page.stat().st_size)]
    sync(library.settings, lambda: embedder, pages, identity=embedder.identity)
    settings = Settings(index=tmp_path / "other", workers=WorkersName.RAY, ray_address=two_nodes.address)

    def never() -> Embedder:
        raise AssertionError("the writer needs no model")

    with RayWorkers(settings, embedder.identity, InProcess(settings, never), always=True) as workers:
        sync(settings, never, pages, identity=embedder.identity, workers=workers)
    one, two = open_index(library.settings.index), open_index(settings.index)
    assert one.manifest.passages == two.manifest.passages > 1
    assert np.sum(one.vectors.all() * two.vectors.all(), axis=1).min() > 0.999
    assert one.tokens is not None
    assert two.tokens is not None
    assert np.array_equal(one.tokens.token_ids, two.tokens.token_ids)
    for number in range(one.manifest.passages):
        assert np.sum(one.tokens.vectors(number) * two.tokens.vectors(number), axis=1).min() > 0.97
    one.close()
    two.close()


def test_a_model_that_a_node_lacks_is_fetched_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is fetched where it is not there."""
    fetched: list[tuple[str, Path]] = []
    monkeypatch.setattr("rag.models.fetch", lambda name, folder: fetched.append((name, folder)))
    monkeypatch.setattr("rag.embedding.load_embedder", lambda settings: settings.embedder)
    settings = Settings(models=tmp_path)
    assert fetch_and_load(settings) == settings.embedder  # type: ignore[comparison-overlap]
    assert fetched == [(settings.embedder, tmp_path)]


@pytest.mark.slow
def test_ctrl_c_ends_the_cluster_that_a_run_started(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs the extra `ray`")
    environment = os.environ | {"INTERVIEW_RAG_WORKERS": "ray", "INTERVIEW_RAG_RAY_WORKERS": "1"}
    environment |= {"STARTED_BY": str(tmp_path)}
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):  # those of the cluster of other tests
        environment.pop(name, None)
    command = [sys.executable, "-m", "ingest", "corpus", "--index", str(tmp_path / "index")]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        assert run.stderr is not None
        said = ""
        while " 1/" not in said and run.poll() is None:  # a document has come back
            said += run.stderr.read(1)
        assert list(Path("/tmp").glob(f"rag-ray-{run.pid}-*"))
        assert run.pid in _started_by(tmp_path)
        assert len(_started_by(tmp_path)) > 1
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does: the processes of the cluster get it too
        said += run.stderr.read()
        assert run.wait(60) == 130, said
    assert said.endswith("interrupted\n")
    assert "Traceback" not in said
    assert not (tmp_path / "index" / "CURRENT").exists()
    assert not list(Path("/tmp").glob(f"rag-ray-{run.pid}-*"))
    assert not _started_by(tmp_path)


def _started_by(folder: Path) -> list[int]:
    """Processes that have it in their environment."""
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # another user's, or gone
            if f"STARTED_BY={folder}".encode() in file.read_bytes().split(b"\0"):
                found.append(int(file.parent.name))
    return found
