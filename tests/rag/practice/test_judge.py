"""The judge over somebody else's vocabulary."""

from pathlib import Path
from typing import cast

import pytest
import torch

from rag.embedding import BertEmbedder
from rag.embedding.stored import Floats
from rag.practice.judge import MOST_TOKENS, Judge, Relation, joined, read_judge
from tests.tools.small_embedder import WIDTH, SmallEmbedder, bert_weights, numbers
from tools.packed_weights import save

PAIRS = [("keys are kept", f"statement {number} " + "word " * number) for number in range(40)]


def trained(width: int = WIDTH) -> dict[str, Floats]:
    return numbers(weights(width))


def weights(width: int = WIDTH) -> dict[str, torch.Tensor]:
    layers = {f"encoder.{n}": w for n, w in bert_weights(2, seed=5).items() if n.startswith("encoder.layer.")}
    torch.manual_seed(1)
    return layers | {"head.weight": torch.randn(len(Relation), width), "head.bias": torch.zeros(len(Relation))}


def test_many_pairs_are_judged_as_each_alone() -> None:
    judge = Judge(cast("BertEmbedder", SmallEmbedder()), trained())
    together = judge.judge(PAIRS)
    for pair, found in zip(PAIRS[::7], together[::7], strict=True):
        [alone] = judge.judge([pair])
        assert found.says == pytest.approx(alone.says, abs=1e-5)
        assert found.says + found.denies + found.other == pytest.approx(1, abs=1e-5)
    assert judge.judge([]) == []


def test_the_claim_is_cut_before_the_statement() -> None:
    ids = joined(cast("BertEmbedder", SmallEmbedder()), "a" * 900, "b" * 90)
    assert len(ids) == MOST_TOKENS
    assert ids.count(3 + ord("b") % 90) == 90


def test_weights_that_do_not_fit_are_refused() -> None:
    embedder = cast("BertEmbedder", SmallEmbedder())
    with pytest.raises(ValueError, match="another width"):
        Judge(embedder, trained(width=7))
    with pytest.raises(ValueError, match="no weights"):
        Judge(embedder, {name: value for name, value in trained().items() if "output" not in name})


def test_a_file_over_another_embedder_or_in_pieces_gives_no_judge(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    small, file = SmallEmbedder(), tmp_path / "judge.safetensors"
    embedder = cast("BertEmbedder", small)
    save(file, weights(), {"embedder": "another@1"})
    assert read_judge(embedder, file) is None
    assert not caplog.records
    file.write_bytes(file.read_bytes()[:90])
    read_judge.cache_clear()
    assert read_judge(embedder, file) is None
    assert "graded by likeness alone" in caplog.text
    save(file, weights(), {"embedder": small.identity})
    read_judge.cache_clear()
    judge = read_judge(embedder, file)
    assert judge is not None
    assert judge.judge(PAIRS[:1])[0].says == pytest.approx(
        Judge(embedder, trained()).judge(PAIRS[:1])[0].says, abs=0.05
    )
    read_judge.cache_clear()
