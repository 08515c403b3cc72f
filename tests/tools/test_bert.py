"""Attention as it is trained over."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from tools.bert import attention


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 1_000.0])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_attention_is_that_of_torch_however_large_its_scores(kind: torch.dtype, scale: float) -> None:
    """Beyond some 80 powers of two overflow, and those of a row that lies as far below nothing vanish."""
    torch.manual_seed(1)
    query, key, value = (torch.randn(2, 9, 16).to(kind) for _ in range(3))
    for shift in (-1.0, 1.0):
        shifted = key * scale + shift * scale * query.mean(1, keepdim=True)
        found = attention(query, shifted, value)
        expected = scaled_dot_product_attention(query.float(), shifted.float(), value.float())
        assert torch.isfinite(found).all()
        if kind is torch.float32:
            torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)
        elif scale <= 1:
            torch.testing.assert_close(found.float(), expected, atol=0.05, rtol=0.05)


def test_attention_keeps_large_values_in_range() -> None:
    query = torch.full((1, 9, 16), 4.5)
    value = torch.full((1, 9, 16), 3_000.0)
    torch.testing.assert_close(attention(query, query, value), value)
