"""Training the embedder: which sentences answer, every question once, gradients of the upper layers alone, and losses
that fall."""

import json
from collections import Counter
from pathlib import Path
from typing import cast

import numpy as np
import torch
from safetensors.torch import load_file

from rag.embedding import BertEmbedder
from tests.conftest import HashEmbedder
from tests.rag.library import ingest
from tests.tools.small_embedder import SmallEmbedder
from tools.embedder.network import Encoder, between, upper_layers
from tools.embedder.pages import Asked, TrainedPage, TrainedPassage, pages_of_index
from tools.embedder.train import Recipe, Tokenizer, loss_of, steps, train

RECIPE = Recipe(first=1, pages=2, passages=3, questions=2, rate=3e-3, warm_up=0.0)
WORDS = ("alpha", "bravo", "delta", "gamma", "kappa", "lambda")


def page(name: str, words: tuple[str, ...]) -> TrainedPage:
    passages = []
    for word in words:
        text = f"{name}\nit is {word}. nothing else."
        start = len(name) + 1
        border = text.index(". ") + 1
        passages.append(
            TrainedPassage(text, name, "en", np.asarray([(start, border), (border + 1, len(text))], np.int32))
        )
    asked = [Asked(f"where is {word}", ((place, 0),)) for place, word in enumerate(words)]
    return TrainedPage(name, tuple(passages), asked)


def pages() -> list[TrainedPage]:
    return [page("first", WORDS[:3]), page("second", WORDS[3:]), page("third", WORDS[1:4])]


def embedder() -> BertEmbedder:
    return cast("BertEmbedder", SmallEmbedder())


def test_states_are_those_of_the_encoder() -> None:
    small = SmallEmbedder()
    texts = [np.asarray(ids, np.int32) for ids in small.token_ids(["a", "a longer text", "other words"])]
    encoder = Encoder(small.network, 1)
    upper = {name: value.clone().requires_grad_() for name, value in upper_layers(small.weights, 1).items()}
    assert {name.split(".")[2] for name in upper} == {"1", "2"}
    found = encoder.states(upper, texts)
    for rows, expected in zip(found, small.network.states(texts), strict=True):
        assert torch.allclose(rows, expected, atol=1e-5)
    sum(rows.sum() for rows in found).backward()  # type: ignore[union-attr]
    assert all(value.grad is not None for value in upper.values())


def test_weights_between_the_published_and_the_trained() -> None:
    mixed = between({"a": torch.zeros(2), "b": torch.ones(1)}, {"a": torch.ones(2), "b": torch.ones(1)}, 0.25)
    assert {name: weight.tolist() for name, weight in mixed.items()} == {"a": [0.25, 0.25], "b": [1.0]}


def test_every_question_is_asked_once() -> None:
    asked = Counter(row.text for step in steps(pages(), RECIPE) for row in step.asked)
    assert asked == Counter(row.text for one in pages() for row in one.asked)
    for step in steps(pages(), RECIPE):
        for row in step.asked:
            for place, _ in row.answers:
                assert row.text.removeprefix("where is ") in step.passages[place].text


def test_the_losses_fall(tmp_path: Path) -> None:
    small = embedder()
    tokenizer = Tokenizer(small, pages())
    encoder = Encoder(small.network, RECIPE.first)
    start = upper_layers(SmallEmbedder().weights, RECIPE.first)
    [*_, step] = steps(pages(), RECIPE)
    before = loss_of(encoder, tokenizer, start, step)
    weights = start
    for _ in range(12):
        train(small, weights, pages(), RECIPE, tmp_path / "w.safetensors", minutes=1.0)
        weights = load_file(tmp_path / "w.safetensors")
    after = loss_of(encoder, tokenizer, weights, step)
    assert set(before) == {"passages", "sentences", "vectors"}
    assert after["passages"] < before["passages"]
    assert weights.keys() == start.keys()
    log = [json.loads(line) for line in (tmp_path / "w.jsonl").read_text().splitlines()]
    assert [line["step"] for line in log] == list(range(log[0]["of"]))


def test_where_the_answer_stands(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    text = "# Cache\n\n## What it holds\nIt holds keys. It holds values.\n\n## Size\nIt holds keys. It grows.\n"
    ingest(tmp_path, hash_embedder, {"cache.md": text})
    rows = [
        {"document": "cache.md", "heading": "Size", "question": "what grows", "answer": "It holds keys"},
        {"document": "cache.md", "question": "what of values", "answer": "It holds values"},
        {"document": "cache.md", "question": "gone", "answer": "no such sentence"},
        {"document": "cache.md", "question": "near miss", "answer": ""},
    ]
    [found], lost = pages_of_index(tmp_path / "index", rows)
    assert lost == 1
    assert [row.text for row in found.asked] == ["what grows", "what of values"]
    for row, said in zip(found.asked, ("It holds keys.", "It holds values."), strict=True):
        for place, sentence in row.answers:
            start, end = found.passages[place].sentences[sentence]
            assert found.passages[place].text[start:end] == said
