"""The network over somebody else's vocabulary, and what it makes of texts."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from rag.reader import weights
from rag.reader.network import SHARED, JoinedReader, ReaderNetwork, network_over
from rag.reader.reading import Text
from rag.reader.windows import Special

SPECIAL = Special(begin=0, end=2, pad=1)
QUESTION = "what is kept"
TEXTS = [
    Text("cache", ("keys are kept.", "values too.")),
    Text("other", ("nothing of that.",)),
    Text("long", tuple(f"unit {number} says some more of it." for number in range(30))),
]


def characters(texts: Sequence[str]) -> list[list[int]]:
    return [[3 + ord(character) % 90 for character in text] for text in texts]


@pytest.fixture(scope="module")
def encoder() -> BertModel:
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=3, num_attention_heads=2, intermediate_size=64
    )
    return BertModel(config, add_pooling_layer=False)


@pytest.fixture(scope="module")
def trained(encoder: BertModel) -> dict[str, Tensor]:
    """Weights of two layers, with heads."""
    torch.manual_seed(4)
    network = ReaderNetwork(encoder, 32)
    return {
        name: value.clone()
        for name, value in network.state_dict().items()
        if not name.startswith(SHARED) and ".layer.2." not in name
    }


@pytest.fixture(scope="module")
def reader(encoder: BertModel, trained: dict[str, Tensor]) -> JoinedReader:
    return JoinedReader(network_over(encoder, trained), characters, SPECIAL)


def test_the_vocabulary_is_shared_and_the_layers_are_its_own(encoder: BertModel, trained: dict[str, Tensor]) -> None:
    network = network_over(encoder, trained)
    assert network.encoder.embeddings is encoder.embeddings
    assert network.encoder.config.num_hidden_layers == 2
    assert encoder.config.num_hidden_layers == 3
    assert not any(parameter.is_meta for parameter in network.parameters())


def test_texts_read_together_say_what_they_say_alone(reader: JoinedReader) -> None:
    together = reader.read(QUESTION, TEXTS)
    for text, reading in zip(TEXTS, together, strict=True):
        [alone] = reader.read(QUESTION, [text])
        assert len(reading.units) == len(text.units)
        assert reading.units == pytest.approx(alone.units, abs=1e-4)
        assert reading.answers == pytest.approx(alone.answers, abs=1e-4)
        assert reading.answers >= max(reading.units) - 1e-6


def test_a_text_without_units_answers_nothing(reader: JoinedReader) -> None:
    [reading] = reader.read(QUESTION, [Text("bare", ())])
    assert reading.units == ()
    assert reading.answers == float("-inf")


def test_weights_of_one_byte_read_nearly_alike(
    encoder: BertModel, trained: dict[str, Tensor], reader: JoinedReader, tmp_path: Path
) -> None:
    file = tmp_path / "weights.safetensors"
    weights.save(file, trained, {"embedder": "tiny@1"})
    assert weights.embedder_of(file) == "tiny@1"
    assert file.stat().st_size < 0.4 * sum(4 * value.numel() for value in trained.values())
    kept = weights.load(file)
    for name, value in trained.items():
        assert kept[name].shape == value.shape
        assert torch.allclose(kept[name], value, atol=float(value.abs().max()) / 127 + 1e-3), name
    packed = JoinedReader(network_over(encoder, kept), characters, SPECIAL)
    for exact, near in zip(reader.read(QUESTION, TEXTS), packed.read(QUESTION, TEXTS), strict=True):
        assert near.answers == pytest.approx(exact.answers, abs=0.1)


@pytest.mark.parametrize("wrong", ["missing", "unknown", "of another width"])
def test_weights_that_do_not_fit_are_refused(wrong: str, encoder: BertModel, trained: dict[str, Tensor]) -> None:
    changed = dict(trained)
    match wrong:
        case "missing":
            del changed["unit.weight"]
        case "unknown":
            changed["third.weight"] = torch.zeros(1)
        case _:
            changed["unit.weight"] = torch.zeros(1, 31)
    with pytest.raises(ValueError, match="do not fit the embedder"):
        network_over(encoder, changed)
