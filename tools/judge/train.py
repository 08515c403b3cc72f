"""Training the judge: one pass over all pairs, from the reader's layers, which have learnt to compare two texts."""

import json
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from rag.embedding import BertEmbedder
from rag.practice.judge import ENCODER, HEAD, Relation, joined
from rag.reader import weights
from rag.reader.reading import WEIGHTS_FILE as READER
from tools.bert import Bert
from tools.judge.encoder import Encoder
from tools.judge.statements import Pair
from tools.learning_rate import share_of_rate

BATCH = 64
RATE, HEAD_RATE = 6e-5, 1e-3
WARM_UP = 0.06
SMOOTHING = 0.05


def fresh(embedder: BertEmbedder, every: int) -> dict[str, Tensor]:
    """The reader's layers, every so manieth of them, and a new head."""
    read = {
        name.removeprefix(ENCODER): torch.from_numpy(value)
        for name, value in weights.load(READER).items()
        if name.startswith(ENCODER)
    }
    kept = {}
    for name, value in read.items():
        parts = name.split(".")
        if int(parts[2]) % every == every - 1:
            kept[".".join([*parts[:2], str(int(parts[2]) // every), *parts[3:]])] = value
    head = nn.Linear(embedder.dimension, len(Relation))
    return kept | {f"{HEAD}weight": head.weight.detach(), f"{HEAD}bias": head.bias.detach()}


def train(
    embedder: BertEmbedder,
    network: Bert,
    start: Mapping[str, Tensor],
    pairs: Sequence[Pair],
    file: Path,
    *,
    minutes: float,
) -> None:
    """Train layers over the vocabulary of `network`, which is the embedder's, on the pairs in their order for at most
    so many minutes, and write the weights, in float32, as the program names them."""
    torch.manual_seed(1)
    encoder = Encoder(network, 0)
    parameters = {name: value.float().clone().requires_grad_() for name, value in start.items()}
    head = [value for name, value in parameters.items() if name.startswith(HEAD)]
    layers = [value for name, value in parameters.items() if not name.startswith(HEAD)]
    groups = [{"params": layers, "full": RATE}, {"params": head, "full": HEAD_RATE}]
    optimizer = torch.optim.AdamW(groups, RATE, weight_decay=0.01)
    steps, began, average = math.ceil(len(pairs) / BATCH), time.monotonic(), 0.0
    log = file.with_suffix(".jsonl")
    log.unlink(missing_ok=True)
    for number in range(steps):
        done = max(number / steps, (time.monotonic() - began) / (60 * minutes))
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = group["full"] * share_of_rate(int(done * steps), steps, WARM_UP)
        batch = pairs[number * BATCH : (number + 1) * BATCH]
        inputs = [np.asarray(joined(embedder, pair.claim, pair.statement), np.int32) for pair in batch]
        states = encoder.states({n: v for n, v in parameters.items() if not n.startswith(HEAD)}, inputs)
        encoder.forget()
        logits = nn.functional.linear(torch.stack([rows[0] for rows in states]), *head)
        wanted = torch.tensor([int(pair.relation) for pair in batch])
        loss = nn.functional.cross_entropy(logits, wanted, label_smoothing=SMOOTHING)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(parameters.values(), 1.0)
        optimizer.step()
        average = 0.97 * average + 0.03 * loss.item() if average else loss.item()
        if number % 10 == 0:
            line = {"step": number, "of": steps, "loss": round(average, 4), "seconds": round(time.monotonic() - began)}
            with log.open("a") as lines:
                lines.write(json.dumps(line) + "\n")
        if number % 100 == 99:
            _save(parameters, file)
    _save(parameters, file)


def _save(parameters: Mapping[str, Tensor], file: Path) -> None:
    save_file(
        {(name if name.startswith(HEAD) else ENCODER + name): value.detach() for name, value in parameters.items()},
        file,
    )
