"""Identifies a process's program: every machine must cut documents, and make vectors, by the same code."""

import hashlib
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from rag.paths import PROGRAM

# Libraries that affect texts and vectors.
LIBRARIES = (
    "langchain-text-splitters", "lxml", "markdown-it-py", "numpy", "onnxruntime", "opencc",
    "opencv-python-headless", "pypdfium2", "pyyaml", "rapidocr", "sentence-transformers", "tiktoken", "tokenizers",
    "torch", "transformers",
)  # fmt: skip
SHOWN = 12
NONE = "none"


@dataclass(frozen=True, slots=True)
class Program:
    """`code` is a hash of the packages `ingest` and `rag`."""

    code: str
    versions: tuple[tuple[str, str], ...]


@cache
def program() -> Program:
    """The program of this process."""
    digest = hashlib.sha256()
    files = (file for package in ("ingest", "rag") for file in (PROGRAM / package).rglob("*.py"))
    for name, data in sorted((file.relative_to(PROGRAM).as_posix(), file.read_bytes()) for file in files):
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    python = ".".join(platform.python_version_tuple()[:2])
    return Program(digest.hexdigest(), (("python", python), *((name, _version(name)) for name in LIBRARIES)))


def differences(here: Program, there: Program) -> Iterator[str]:
    """How a worker's program differs from that of this process, as text."""
    if here.code != there.code:
        yield f"code {there.code[:SHOWN]} instead of {here.code[:SHOWN]}"
    found = dict(there.versions)
    for name, own in here.versions:
        if found.get(name, NONE) != own:
            yield f"{name} {found.get(name, NONE)} instead of {own}"


def _version(name: str) -> str:
    """Without what follows +, such as `cpu`: builds of torch for other processors are the same program."""
    try:
        return version(name).partition("+")[0]
    except PackageNotFoundError:
        return NONE
