"""The reader's weights on disk: matrices of one byte per weight, over the embedder's vocabulary.

A matrix is stored as integers from -127 to 127 with a scale per row, everything else as 16-bit floats.
"""

from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

from rag.embedding.stored import Floats

SCALE = ".scale"


def embedder_of(file: Path) -> str:
    """The identity of the embedder that the weights were trained over. Raises OSError or SafetensorError."""
    with safe_open(file, framework="np") as opened:
        return str((opened.metadata() or {}).get("embedder", ""))


def load(file: Path) -> dict[str, Floats]:
    """The weights in float32. Raises OSError or SafetensorError."""
    packed = load_file(file)
    return {
        name: weight.astype(np.float32) * packed.get(name + SCALE, np.float32(1))
        for name, weight in packed.items()
        if not name.endswith(SCALE)
    }
