"""Made-up models in wheels that the tests build."""

import hashlib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from rag.models import Form, PinnedModel, WheelMember

CONTENTS = (b"first " * 1000, b"second " * 1000, b"third " * 1000)


Pin = Callable[[PinnedModel], PinnedModel]


def build_wheel(folder: Path, package: str, members: Mapping[str, bytes], *, tag: str = "py3-none-any") -> Path:
    """A wheel that pip accepts, with code in it that must never run."""
    module = package.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{module}-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{module}/__init__.py", "raise SystemExit('code of a model package ran')")
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def file_model(contents: tuple[bytes, ...] = CONTENTS, *, needs_consent: bool = False) -> PinnedModel:
    joined = b"".join(contents)
    return PinnedModel(
        name="made-up",
        licence="MIT",
        about="a made-up model",
        form=Form.FILE,
        parts=tuple(
            WheelMember(f"made-up-part{n}", "1.0", f"made_up_part{n}/data.bin") for n in range(1, len(contents) + 1)
        ),
        size=len(joined),
        sha256=sha256(joined),
        needs_consent=needs_consent,
    )


def zip_model(zipped: bytes, *, wanted: Mapping[str, str] = MappingProxyType({})) -> PinnedModel:
    return PinnedModel(
        name="made-up-zip",
        licence="MIT",
        about="a made-up model",
        form=Form.ZIP,
        parts=(WheelMember("made-up-part1", "1.0", "made_up_part1/data.bin"),),
        size=len(zipped),
        sha256=sha256(zipped),
        folder="inner/",
        file_sha256=wanted,
    )


def publish(index: Path, contents: tuple[bytes, ...]) -> None:
    for number, content in enumerate(contents, start=1):
        build_wheel(index, f"made-up-part{number}", {f"made_up_part{number}/data.bin": content})


def left_behind(folder: Path) -> list[str]:
    """Everything in the models folder but what was published."""
    return sorted(path.relative_to(folder).as_posix() for path in (folder / ".partial").rglob("*") if path.is_file())
