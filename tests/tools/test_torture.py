"""The torture in small; in full: python -m tools.torture."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from ingest.sync import sync
from rag.embedding import Embedder, embedder_identity
from rag.evaluation.retrieval.embedding_cache import CachedEmbedder
from rag.index.generation import current_generation, open_index
from rag.settings import Settings
from tests.paths import ROOT as HOUSE
from tools.torture.scene import content, page

COUNTS = {"kills": 12, "flips": 30, "disks": 4, "readers": 4, "ingests": 3}


def test_in_small() -> None:
    """In a process of its own, since it forks."""
    options = [f"--{name}={count}" for name, count in COUNTS.items()]
    parts = ["kills", "steps", "full", "disk", "flips", "crowd"]
    result = subprocess.run(
        [sys.executable, "-m", "tools.torture", *options, *(f"--only={part}" for part in parts)],
        cwd=HOUSE, env=os.environ, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    told = {line["part"]: line for line in map(json.loads, result.stdout.splitlines())}
    assert list(told) == parts
    assert told["kills"]["killed"] == COUNTS["kills"]
    for part in ("steps", "full"):
        assert told[part]["steps"] > 20
        assert told[part]["old"] > 0 < told[part]["new"]
    assert told["disk"].get("skipped") or told["disk"]["old"] > 0 < told["disk"]["new"]
    assert told["flips"]["random places"] == COUNTS["flips"]
    assert told["crowd"]["requests"] > COUNTS["readers"]


@pytest.mark.slow
def test_with_the_real_model(tmp_path: Path, model_settings: Settings, embedder: Embedder) -> None:
    """Killed once while it starts and once while it publishes or embeds; the next run finishes the work."""
    seed = random.randrange(10**6)
    print(f"seed {seed}")  # noqa: T201
    chance = random.Random(seed)
    docs, index = tmp_path / "docs", tmp_path / "index"
    docs.mkdir()
    (docs / "first.md").write_text(page(chance, sections=2), encoding="utf-8")
    settings = Settings(index=index, models=model_settings.models)
    identity = embedder_identity(settings)
    assert identity == embedder.identity
    sync(settings, lambda: embedder, [docs], identity=identity)
    old = content(index)
    for number in range(2):
        (docs / f"{number}.md").write_text(page(chance, sections=3), encoding="utf-8")
    command = [sys.executable, "-m", "ingest", "--index", str(index)]
    environment = os.environ | {"PYTHONPATH": str(HOUSE), "INTERVIEW_RAG_MODELS": str(settings.models)}
    for begun in ("documents", "passages"):  # the bars of the two stages
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            told = ""
            while begun not in told:
                told += process.stderr.read(1) or pytest.fail(told)
            time.sleep(chance.uniform(0, 0.3))
            process.kill()
            assert process.wait() in (0, -signal.SIGKILL)
        if current_generation(index) == "000001":
            assert content(index) == old
    cached = CachedEmbedder(embedder)
    report = sync(settings, lambda: cached, [docs], identity=identity)
    assert report.documents.failed == []
    fresh = Settings(index=tmp_path / "fresh", models=settings.models)
    sync(fresh, lambda: cached, [docs], identity=identity)
    stored = []
    for folder in (index, fresh.index):
        with closing(open_index(folder)) as opened:
            stored.append(opened.storage.documents(with_passages=True))
    assert stored[0] == stored[1]
    assert [document.name for document in stored[0]] == ["0.md", "1.md", "first.md"]
