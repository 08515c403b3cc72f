"""The network over somebody else's vocabulary, and what it makes of texts."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rag.embedding.encoder import Encoder
from rag.embedding.stored import Floats
from rag.reader import weights
from rag.reader.network import ENCODER, Heads, JoinedReader, network_over
from rag.reader.reading import Text
from rag.reader.windows import Special, Window
from tests.tools.small_embedder import WIDTH, numbers, small_bert, small_encoder
from tools import packed_weights
from tools.reader.network import SHARED, ReaderNetwork, pad

if TYPE_CHECKING:
    from transformers import BertModel

SPECIAL = Special(begin=0, end=2)
QUESTION = "what is kept"
TEXTS = [
    Text("cache", ("keys are kept.", "values too.")),
    Text("other", ("nothing of that.",)),
    Text("long", tuple(f"unit {number} says some more of it." for number in range(30))),
]


def characters(texts: Sequence[str]) -> list[list[int]]:
    return [[3 + ord(character) % 90 for character in text] for text in texts]


@pytest.fixture(scope="module")
def model() -> "BertModel":
    found = small_bert(layers=3)
    nn.Module.eval(found).requires_grad_(False)
    return found


@pytest.fixture(scope="module")
def encoder(model: "BertModel") -> Encoder:
    return small_encoder(model.state_dict())


@pytest.fixture(scope="module")
def trained(model: "BertModel") -> dict[str, Tensor]:
    """Weights of two layers, with heads."""
    torch.manual_seed(4)
    network = ReaderNetwork(model)
    return {
        name: value.clone()
        for name, value in network.state_dict().items()
        if not name.startswith(SHARED) and ".layer.2." not in name
    }


@pytest.fixture(scope="module")
def reader(encoder: Encoder, trained: dict[str, Tensor]) -> JoinedReader:
    return opened(encoder, trained)


def opened(encoder: Encoder, trained: dict[str, Tensor]) -> JoinedReader:
    network, heads = network_over(encoder, numbers(trained))
    return JoinedReader(network.states, heads, characters, SPECIAL)


def test_the_vocabulary_is_shared_and_the_layers_are_its_own(encoder: Encoder, trained: dict[str, Tensor]) -> None:
    network, _ = network_over(encoder, numbers(trained))
    assert network.embeddings is encoder.embeddings
    assert not np.allclose(network.states([0, 5, 2]), encoder.states([0, 5, 2]), atol=1e-3)


def test_it_reads_what_was_trained(model: "BertModel", trained: dict[str, Tensor], reader: JoinedReader) -> None:
    """transformers' BertModel says the same of padded inputs."""
    network = ReaderNetwork(copy.deepcopy(model)).eval().requires_grad_(False)
    network.encoder.encoder.layer = network.encoder.encoder.layer[:2]
    network.load_state_dict(trained, strict=False)

    def states(ids: Sequence[int]) -> Floats:
        states: Floats = network(*pad([Window(tuple(ids), 0, (0, 0), ())]))[0].numpy()
        return states

    heads = Heads.of({n: w for n, w in numbers(trained).items() if not n.startswith(ENCODER)}, WIDTH)
    expected = JoinedReader(states, heads, characters, SPECIAL).read(QUESTION, TEXTS)
    for reading, other in zip(reader.read(QUESTION, TEXTS), expected, strict=True):
        assert reading.units == pytest.approx(other.units, abs=1e-4)
        assert reading.answers == pytest.approx(other.answers, abs=1e-4)


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
    encoder: Encoder, trained: dict[str, Tensor], reader: JoinedReader, tmp_path: Path
) -> None:
    file = tmp_path / "weights.safetensors"
    packed_weights.save(file, trained, {"embedder": "tiny@1"})
    assert weights.embedder_of(file) == "tiny@1"
    assert file.stat().st_size < 0.4 * sum(4 * value.numel() for value in trained.values())
    kept = weights.load(file)
    for name, value in trained.items():
        assert kept[name].shape == value.shape
        assert torch.allclose(torch.from_numpy(kept[name]), value, atol=float(value.abs().max()) / 127 + 1e-3), name
    packed = opened(encoder, {name: torch.from_numpy(value) for name, value in kept.items()})
    for exact, near in zip(reader.read(QUESTION, TEXTS), packed.read(QUESTION, TEXTS), strict=True):
        assert near.answers == pytest.approx(exact.answers, abs=0.1)


@pytest.mark.parametrize("wrong", ["missing", "unknown", "of another width", "layer", "layers", "narrow layer"])
def test_weights_that_do_not_fit_are_refused(wrong: str, encoder: Encoder, trained: dict[str, Tensor]) -> None:
    changed = dict(trained)
    match wrong:
        case "missing":
            del changed["unit.weight"]
        case "unknown":
            changed["third.weight"] = torch.zeros(1)
        case "layer":
            del changed["encoder.encoder.layer.1.output.dense.weight"]
        case "layers":
            changed = {name: value for name, value in changed.items() if not name.startswith("encoder.")}
        case "narrow layer":
            name = "encoder.encoder.layer.0.intermediate.dense.weight"
            changed[name] = changed[name][:, :-1]
        case _:
            changed["unit.weight"] = torch.zeros(1, 31)
    with pytest.raises(ValueError, match="do not fit the embedder"):
        network_over(encoder, numbers(changed))


def test_scores_are_those_that_are_trained(model: "BertModel", trained: dict[str, Tensor]) -> None:
    network = ReaderNetwork(copy.deepcopy(model)).eval().requires_grad_(False)
    network.load_state_dict(trained, strict=False)
    heads = Heads.of({n: w for n, w in numbers(trained).items() if not n.startswith(ENCODER)}, WIDTH)
    states = torch.randn(12, WIDTH)
    window = Window(tuple(range(12)), 0, (1, 3), ((5, 7), (8, 11)))
    scores, nothing = network.scores(states, window)
    np.testing.assert_allclose(heads.odds(states.numpy(), window), (scores - nothing).numpy(), atol=1e-4)
