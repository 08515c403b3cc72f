"""Trained weights written as the program reads them: `rag.reader.weights`."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from rag.reader.weights import SCALE

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
