"""The reader's weights on disk: matrices of one byte a weight, over the vocabulary of the embedder.

A matrix is kept as whole numbers from -127 to 127 with a scale for each of its rows, everything else as 16-bit floats.
"""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

SCALE = ".scale"
LARGEST = 127


def save(file: Path, weights: Mapping[str, Tensor], about: Mapping[str, str]) -> None:
    """Write the weights with what is to be known about them."""
    packed: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.dim() == 2 and min(weight.shape) > 1:
            scale = weight.abs().amax(1, keepdim=True).clamp_min(1e-8) / LARGEST
            packed[name] = (weight / scale).round().to(torch.int8)
            packed[name + SCALE] = scale.to(torch.float32)
        else:
            packed[name] = weight.to(torch.float16)
    save_file(packed, file, metadata={"format": "pt", **about})


def embedder_of(file: Path) -> str:
    """The identity of the embedder that the weights were trained over. Raises OSError or SafetensorError."""
    with safe_open(file, framework="pt") as opened:
        return str((opened.metadata() or {}).get("embedder", ""))


def load(file: Path) -> dict[str, Tensor]:
    """The weights in float32. Raises OSError or SafetensorError."""
    packed = load_file(file)
    return {
        name: weight.float() * packed[name + SCALE] if name + SCALE in packed else weight.float()
        for name, weight in packed.items()
        if not name.endswith(SCALE)
    }
