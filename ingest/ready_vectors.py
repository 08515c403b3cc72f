"""Vectors of the passages of the pages that come with the program, so that these are searched from the first minute on.
`python -m tools.ready_vectors` makes the file; a page that changed since is embedded like any other."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).with_suffix(".safetensors")
# Bytes of a key of an embedded text that are kept: two texts of some ten thousand do not share them.
KEY = 16
# A number of a vector, as a share of the largest, in 8 bits: the cosine with the vector itself is .9999.
LARGEST = 127
# No larger file is looked at, since no page is; bytes.
LARGEST_PAGE = 1_000_000


class ReadyVectors(Mapping[str, NDArray[np.float32]]):
    """Unit vectors by the key of the embedded text. `documents` are the SHA-256 of the files that they were made of."""

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
        """Whether all passages of a file are among them."""
        try:
            if not self.documents or file.stat().st_size > LARGEST_PAGE:
                return False
            return hashlib.sha256(file.read_bytes()).hexdigest() in self.documents
        except OSError:  # the run tells of it
            return False


NONE = ReadyVectors((), np.zeros((0, 0), np.int8), ())


@cache
def ready_vectors(identity: str, passage_tokens: int) -> ReadyVectors:
    """Those of an embedder, of passages of this size; none where they were made with another."""
    from safetensors import safe_open

    with safe_open(str(FILE), "np") as file:
        made = json.loads(file.metadata()["made_with"])
        if made != _made_with(identity, passage_tokens):
            return NONE
        keys = [bytes(key).hex() for key in file.get_tensor("keys")]
        documents = [bytes(digest).hex() for digest in file.get_tensor("documents")]
        return ReadyVectors(keys, file.get_tensor("codes"), documents)


def write_ready_vectors(
    vectors: Mapping[str, NDArray[np.float32]], documents: Sequence[str], identity: str, passage_tokens: int, file: Path
) -> None:
    """Write the vectors, by the key of the embedded text, and the SHA-256 of the documents that these make up."""
    from safetensors.numpy import save_file

    keys = sorted(vectors)
    rows = np.stack([vectors[key] for key in keys])
    codes = np.rint(rows / np.abs(rows).max(axis=1, keepdims=True) * LARGEST).astype(np.int8)
    save_file(
        {
            "keys": np.asarray([list(bytes.fromhex(key)[:KEY]) for key in keys], np.uint8),
            "codes": codes,
            "documents": np.asarray([list(bytes.fromhex(digest)) for digest in sorted(documents)], np.uint8),
        },
        file,
        {"made_with": json.dumps(_made_with(identity, passage_tokens))},
    )


def _made_with(identity: str, passage_tokens: int) -> dict[str, object]:
    return {"embedder": identity, "passage_tokens": passage_tokens}
