"""Vectors for passages of the pages that come with the program, to make these searchable from the first minute.
`python -m tools.ready_vectors` makes the file; a page changed since is embedded like any other."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).with_suffix(".safetensors")
# Stored bytes of an embedding key: no two of some ten thousand texts share them.
KEY = 16
# Bytes; larger files are skipped, since no page is larger.
LARGEST_PAGE = 1_000_000


class ReadyVectors(Mapping[str, NDArray[np.float32]]):
    """Unit vectors by embedding key. `documents` are the SHA-256 of the files that they were made from."""

    def __init__(self, keys: Sequence[str], codes: NDArray[np.int8], documents: Iterable[str]) -> None:
        self._places = {key[: 2 * KEY]: place for place, key in enumerate(keys)}
        self._codes = codes
        self.documents = frozenset(documents)

    def __getitem__(self, key: str) -> NDArray[np.float32]:
        vector = self._codes[self._places[key[: 2 * KEY]]].astype(np.float32)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key[: 2 * KEY] in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def hold(self, file: Path) -> bool:
        """Whether they cover all passages of a file."""
        try:
            if not self.documents or file.stat().st_size > LARGEST_PAGE:
                return False
            return hashlib.sha256(file.read_bytes()).hexdigest() in self.documents
        except OSError:  # the run reports it
            return False


NONE = ReadyVectors((), np.zeros((0, 0), np.int8), ())


@cache
def ready_vectors(identity: str, passage_tokens: int) -> ReadyVectors:
    """The vectors for an embedder and passage size; none if they were made with others."""
    from safetensors import safe_open

    with safe_open(str(FILE), "np") as file:
        made = json.loads(file.metadata()["made_with"])
        if made != made_with(identity, passage_tokens):
            return NONE
        keys = [bytes(key).hex() for key in file.get_tensor("keys")]
        documents = [bytes(digest).hex() for digest in file.get_tensor("documents")]
        return ReadyVectors(keys, file.get_tensor("codes"), documents)


def made_with(identity: str, passage_tokens: int) -> dict[str, object]:
    """What vectors depend on besides the pages."""
    return {"embedder": identity, "passage_tokens": passage_tokens}
