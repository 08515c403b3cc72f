"""How an index describes itself: CURRENT, a generation's manifest, and the files that it lists."""

import hashlib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rag.errors import IndexCorruptError, IndexMismatchError

# Stored fingerprints of passages are part of the format: change it with ingest.structure.repeats.
FORMAT = 11
# The format of a generation whose passages lack tokens, which earlier versions would take for complete.
UNFILLED = 12
FORMATS = (FORMAT, UNFILLED)
REBUILD_HINT = "rebuild it: python -m ingest --rebuild"


class FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Root(FrozenModel):
    """A file or folder that the index mirrors.

    `number` never changes. `prefixed` says whether document names start with the root's; it is fixed when the root is
    added, so that names stay whatever other roots come and go. It is None in indexes made before 2.0.
    """

    number: int
    path: str
    name: str
    prefixed: bool | None = None


class FileRecord(FrozenModel):
    sha256: str
    size: int


class Anchor(FrozenModel):
    """Distribution of `match` for questions that the material does not answer: its median, and the distance between
    10% and 90% quantiles. Both depend on the material and embedder."""

    median: float
    spread: float


class Anchors(FrozenModel):
    """The anchors of questions in Chinese and in other languages, and whether the material has passages in them.

    Measured over `passages` passages; `changed` counts those added and removed since.
    """

    chinese: Anchor
    other: Anchor
    writes_chinese: bool = True
    writes_other: bool = True
    passages: int = 0
    changed: int = 0

    def of(self, *, chinese: bool) -> Anchor:
        return self.chinese if chinese else self.other

    def writes(self, *, chinese: bool) -> bool:
        return self.writes_chinese if chinese else self.writes_other


class Manifest(FrozenModel):
    format: int
    generation: int
    settings: dict[str, Any]
    """What it was made with: `rag.settings.rebuild_settings`."""
    dimension: int
    roots: tuple[Root, ...]
    documents: int
    passages: int
    files: dict[str, FileRecord]
    report: dict[str, Any]
    anchors: Anchors | None = None
    """What refusals are calibrated by; None in small indexes and in older ones."""

    @property
    def embedder(self) -> str:
        """The identity of the embedder."""
        return str(self.settings["embedder"])

    @property
    def embedder_name(self) -> str:
        """The name in the embedder's identity `name@hash`: calibrations and weights hold for every build of a model."""
        return self.embedder.partition("@")[0]

    def writes(self, *, chinese: bool) -> bool:
        """Whether the material is written in Chinese, or in another language; False where nobody has looked."""
        return self.anchors is not None and self.anchors.writes(chinese=chinese)


class Current(FrozenModel):
    generation: str
    manifest_sha256: str


def read_current(file: Path) -> Current:
    """Parse CURRENT. Raises IndexCorruptError."""
    try:
        return Current.model_validate_json(file.read_bytes())
    except (ValidationError, OSError) as error:
        raise IndexCorruptError(f"{file} is damaged", hint=REBUILD_HINT) from error


def record_of(file: Path) -> FileRecord:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
    return FileRecord(sha256=digest.hexdigest(), size=file.stat().st_size)


def verify_file(file: Path, record: FileRecord) -> None:
    """Raise IndexCorruptError unless the file matches the record byte for byte."""
    if not file.is_file():
        raise IndexCorruptError(f"{file} is missing", hint=REBUILD_HINT)
    actual = record_of(file)
    if actual.size != record.size:
        raise IndexCorruptError(f"{file} has {actual.size:,} bytes, {record.size:,} were published", hint=REBUILD_HINT)
    if actual.sha256 != record.sha256:
        raise IndexCorruptError(f"{file} is not the file that was published (SHA-256 differs)", hint=REBUILD_HINT)


def require_embedder(index_folder: Path, manifest: Manifest, embedder: str) -> None:
    """Raise IndexMismatchError if the index was made with an embedder of another identity."""
    if manifest.embedder != embedder:
        raise IndexMismatchError(
            f"the index at {index_folder} was made with embedder {manifest.embedder!r}, the settings name {embedder!r}",
            hint=f"set `embedder` back, or {REBUILD_HINT}",
        )
