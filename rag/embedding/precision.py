"""The number types of models."""

from collections.abc import Callable
from typing import Any

from rag.settings import Precision


def wants_bfloat16(precision: Precision, device: str) -> bool:
    """Whether a model computes in bfloat16 on this device, else in float32."""
    return precision is Precision.BFLOAT16 or (precision is Precision.AUTO and _has_fast_bfloat16(device))


def _has_fast_bfloat16(device: str) -> bool:
    """Whether bfloat16 is native; emulated, it is slower than float32."""
    import torch

    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # Non-x86 processors may have it too, but it has not been measured there. Older versions of torch cannot be asked.
    ask: Callable[[], dict[str, Any]] = getattr(torch.cpu, "get_capabilities", dict)
    return device == "cpu" and any(ask().get(name) for name in ("avx512_bf16", "amx_bf16"))
