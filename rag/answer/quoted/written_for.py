"""How similar in meaning a question is to those that a section is written to answer.

The vectors of questions mostly encode their subject, which the sections of a page share. A linear map, learnt to tell
the sections of a page apart by their questions, keeps the differences: how to measure something is not how to reduce
it. The file holds the map and a vector for each section of corpus/, by the stems of its questions, so that any
index of these pages finds them; `python -m tools.fit.written_for` makes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

FILE = Path(__file__).with_name("written_for.safetensors")
KEY_BYTES = 8
# The names of its arrays, and of the embedder's identity.
MAP, SECTIONS, KEYS, EMBEDDER = "map", "sections", "keys", "embedder"


@dataclass(frozen=True, slots=True)
class WrittenFor:
    """`map` has the shape (dimension of the embedder, width); `sections`, shape (sections, width), are 8-bit integers
    in any scale; `places` are their rows, by `key_of`."""

    embedder: str
    map: NDArray[np.float32]
    sections: NDArray[np.int8]
    places: dict[bytes, int]

    def alike(self, question: NDArray[np.float32], keys: Sequence[bytes]) -> NDArray[np.float64]:
        """The cosine similarity of a question vector to each section, shape (len(keys),). An unknown section gets the
        mean of the known ones; all are 0 if none is known."""
        known = [place for place, key in enumerate(keys) if key in self.places]
        found = np.zeros(len(keys))
        if not known:
            return found
        rows = self.sections[[self.places[keys[place]] for place in known]].astype(np.float32)
        asked = question @ self.map
        cosines = rows @ asked / (np.linalg.norm(rows, axis=1) * np.linalg.norm(asked))
        found[:] = cosines.mean()
        found[known] = cosines
        return found


def key_of(heading: str, questions: Sequence[Sequence[str]]) -> bytes:
    """Identifies a section by its heading and the stems of its written questions."""
    written = "\n".join([heading, *(" ".join(question) for question in questions)])
    return sha256(written.encode()).digest()[:KEY_BYTES]


@cache
def read_written_for() -> WrittenFor:
    """The data that the program ships."""
    return read(FILE)


def read(file: Path) -> WrittenFor:
    with safe_open(file, framework="np") as opened:
        keys = opened.get_tensor(KEYS)
        return WrittenFor(
            embedder=opened.metadata()[EMBEDDER],
            map=opened.get_tensor(MAP).astype(np.float32),
            sections=opened.get_tensor(SECTIONS),
            places={key.tobytes(): place for place, key in enumerate(keys)},
        )
