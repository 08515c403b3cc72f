"""The judge's training: what its pairs are, and a loss that falls."""

import json
from collections import Counter
from pathlib import Path
from typing import cast

import numpy as np
import torch
from safetensors.numpy import load_file

from rag.embedding import BertEmbedder
from rag.practice.judge import Judge, Relation
from tests.tools.small_embedder import WIDTH, SmallEmbedder, bert_weights
from tools.bert import Bert
from tools.judge.encoder import Encoder
from tools.judge.statements import Claim, Pair, pairs_of, read_claims
from tools.judge.train import train

STATEMENTS = Path(__file__).parents[3] / "tools" / "judge" / "statements.jsonl"


def test_every_statement_is_told_from_what_it_says_nothing_of() -> None:
    claims = [
        Claim("a.md", "keys are kept", ("it keeps keys",), ("it drops keys",)),
        Claim("a.md", "it grows", ("it gets longer",), ()),
    ]
    pairs = pairs_of(claims, 1)
    of_claim = [pair for pair in pairs if pair.relation is not Relation.OTHER and pair.claim != pair.statement]
    assert {(pair.claim, pair.statement, pair.relation) for pair in of_claim} == {
        ("keys are kept", "it keeps keys", Relation.SAYS),
        ("keys are kept", "it drops keys", Relation.DENIES),
        ("it keeps keys", "it drops keys", Relation.DENIES),
        ("it drops keys", "it keeps keys", Relation.DENIES),
        ("it grows", "it gets longer", Relation.SAYS),
    }
    others = {
        (pair.claim, pair.statement)
        for seed in range(9)
        for pair in pairs_of(claims, seed)
        if pair.relation is Relation.OTHER
    }
    assert others <= {("it grows", "it keeps keys"), ("it grows", "it drops keys"), ("keys are kept", "it gets longer")}
    assert pairs == pairs_of(claims, 1)


def test_the_statements_are_of_pages_and_of_both_kinds() -> None:
    claims = read_claims([STATEMENTS])
    assert len(claims) >= 7_000
    assert min(len(claim.right) for claim in claims) >= 2
    assert min(len(claim.wrong) for claim in claims) >= 2
    assert max(Counter(statement for claim in claims for statement in (*claim.right, *claim.wrong)).values()) <= 3


def test_the_loss_falls(tmp_path: Path) -> None:
    small = SmallEmbedder()
    embedder = cast("BertEmbedder", small)
    pairs = [Pair("a", "a" * 5, Relation.SAYS), Pair("a", "z" * 5, Relation.DENIES)] * 640
    start = {name: value for name, value in bert_weights(2, seed=5).items() if name.startswith("encoder.layer.")}
    start |= {"head.weight": torch.zeros(len(Relation), WIDTH), "head.bias": torch.zeros(len(Relation))}
    train(
        embedder,
        Bert.of(small.weights, heads=2, epsilon=1e-12),
        start,
        pairs,
        tmp_path / "judge.safetensors",
        minutes=1.0,
    )
    log = [json.loads(line) for line in (tmp_path / "judge.jsonl").read_text().splitlines()]
    assert log[-1]["loss"] < log[0]["loss"]
    judge = Judge(embedder, load_file(tmp_path / "judge.safetensors"))
    for odds in judge.judge([("a", "aaaaa"), ("a", "zzzzz")]):
        assert odds.other < min(odds.says, odds.denies)  # of which there was none


def test_states_are_those_of_the_encoder() -> None:
    small = SmallEmbedder()
    texts = [np.asarray(ids, np.int32) for ids in small.token_ids(["a", "a longer text", "other words"])]
    upper = {
        name: value.clone().requires_grad_()
        for name, value in small.weights.items()
        if name.startswith(("encoder.layer.1", "encoder.layer.2"))
    }
    found = Encoder(Bert.of(small.weights, heads=2, epsilon=1e-12), 1).states(upper, texts)
    for rows, ids in zip(found, texts, strict=True):
        assert torch.allclose(rows, torch.from_numpy(small.network.states(ids)), atol=1e-5)
    sum(rows.sum() for rows in found).backward()  # type: ignore[union-attr]
    assert all(value.grad is not None for value in upper.values())
