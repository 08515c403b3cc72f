"""Training: one pass over shuffled rows, resumed from its last checkpoint."""

import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from rag.embedding import BertEmbedder
from rag.reader.windows import Special, Window, windows
from tools.learning_rate import share_of_rate
from tools.reader.data import Row
from tools.reader.network import SHARED, ReaderNetwork, pad

# Inputs sorted by length together, so that a batch is padded little.
POOL = 64


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is trained. `rows` of a batch bring each at most `texts_of_row` windows; the heads, which begin
    with nothing, learn at `heads` times the rate."""

    rows: int = 6
    texts_of_row: int = 3
    rate: float = 8e-5
    warm_up: float = 0.06
    decay: float = 0.01
    between: float = 0.5
    heads: float = 20.0
    seed: int = 1
    checkpoint_minutes: float = 4.0


@dataclass(frozen=True, slots=True)
class Example:
    """The windows of a row, and for each the places of its units that answer, counted within it."""

    windows: tuple[Window, ...]
    answering: tuple[tuple[int, ...], ...]

    @property
    def tokens(self) -> int:
        return max(len(window.ids) for window in self.windows)


def fresh_network(folder: Path, layers: int) -> ReaderNetwork:
    """The encoder of a sentence-transformers folder with new heads; of 6 of 12 layers every second one."""
    from transformers import BertModel

    encoder = BertModel.from_pretrained(folder, dtype=torch.float32, add_pooling_layer=False)
    kept = [place * len(encoder.encoder.layer) // layers for place in range(layers)]
    encoder.encoder.layer = nn.ModuleList(encoder.encoder.layer[place] for place in kept)
    encoder.config.num_hidden_layers = layers
    network = ReaderNetwork(encoder)
    for parameter in encoder.embeddings.parameters():
        parameter.requires_grad = False  # the vocabulary is shared with the embedder
    return network


def trained(network: ReaderNetwork) -> dict[str, Tensor]:
    """The weights that training changes."""
    return {name: value for name, value in network.state_dict().items() if not name.startswith(SHARED)}


def example_of(embedder: BertEmbedder, row: Row, most: int, rng: random.Random) -> Example | None:
    """The windows of all texts of a row, those that answer first, at most `most`; None where nothing is to be read."""
    found: list[tuple[Window, tuple[int, ...]]] = []
    special = Special(*embedder.special_ids())
    for text in row.texts:
        for window in windows(embedder.token_ids, special, row.question, text.heading, text.units):
            places = range(len(window.spans))
            found.append((window, tuple(place for place in places if window.first + place in text.answering)))
    rng.shuffle(found)
    found.sort(key=lambda pair: not pair[1])
    found = found[:most]
    return Example(tuple(w for w, _ in found), tuple(a for _, a in found)) if found else None


def loss_of(network: ReaderNetwork, batch: Sequence[Example], between: float) -> Tensor:
    """Of each window the cross-entropy of its units and "nothing answers"; of each row with one answering window
    among others that of the windows, by how much their best units beat "nothing answers"."""
    flat = [pair for example in batch for pair in zip(example.windows, example.answering, strict=True)]
    states = network(*pad([window for window, _ in flat]))
    losses, says = [], []
    for row, (window, answer) in enumerate(flat):
        scores, nothing = network.scores(states[row], window)
        logits = torch.cat([nothing.unsqueeze(0), scores])
        gold = [place + 1 for place in answer] or [0]
        losses.append(logits.logsumexp(0) - logits[gold].logsumexp(0))
        says.append(logits[1:].logsumexp(0) - logits[0])
    loss = torch.stack(losses).mean()
    start, rankings = 0, []
    for example in batch:
        end = start + len(example.windows)
        right = [place for place, answer in enumerate(example.answering) if answer]
        if right and len(right) < len(example.windows):
            logits = torch.stack(says[start:end])
            rankings.append(logits.logsumexp(0) - logits[right].logsumexp(0))
        start = end
    return loss + between * torch.stack(rankings).mean() if rankings else loss


def batches(examples: Sequence[Example], size: int) -> Iterator[list[Example]]:
    for start in range(0, len(examples), size * POOL):
        pool = sorted(examples[start : start + size * POOL], key=lambda example: example.tokens)
        groups = [pool[place : place + size] for place in range(0, len(pool), size)]
        random.Random(start).shuffle(groups)
        yield from groups


def train(
    network: ReaderNetwork,
    embedder: BertEmbedder,
    rows: Sequence[Row],
    recipe: Recipe,
    folder: Path,
    *,
    minutes: float,
) -> bool:
    """Train on all rows once, for at most so many minutes; whether all were seen. `folder` keeps `last.pt`, from which
    a later call goes on, and at the end `reader.safetensors`; `log.jsonl` has the loss."""
    folder.mkdir(parents=True, exist_ok=True)
    order = list(rows)
    random.Random(recipe.seed).shuffle(order)
    torch.manual_seed(recipe.seed)
    # Computed in bfloat16, which takes a third of the time, and kept in float32, for small steps would be rounded away.
    computed = [parameter for parameter in network.parameters() if parameter.requires_grad]
    steps = math.ceil(len(order) / recipe.rows)
    done, checkpoint, state = 0, folder / "last.pt", None
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        network.load_state_dict(state["weights"], strict=False)
        done = int(state["done"])
    parameters = [parameter.detach().clone() for parameter in computed]
    named = [name for name, parameter in network.named_parameters() if parameter.requires_grad]
    heads = [p for name, p in zip(named, parameters, strict=True) if not name.startswith("encoder.")]
    layers = [p for name, p in zip(named, parameters, strict=True) if name.startswith("encoder.")]
    groups = [{"params": layers, "scale": 1.0}, {"params": heads, "scale": recipe.heads}]
    optimizer = torch.optim.AdamW(groups, recipe.rate, weight_decay=recipe.decay)
    if state:
        optimizer.load_state_dict(state["optimizer"])
    network.encoder.to(torch.bfloat16)  # type: ignore[arg-type]
    began, saved, average = time.monotonic(), time.monotonic(), 0.0
    network.eval()  # no dropout: every row is seen once, and attention with it takes four times as long
    for step, batch in enumerate(_examples(embedder, order, recipe)):
        if step < done:
            continue
        for group in optimizer.param_groups:
            group["lr"] = group["scale"] * recipe.rate * share_of_rate(step, steps, recipe.warm_up)
        loss = loss_of(network, batch, recipe.between)
        loss.backward()  # type: ignore[no-untyped-call]
        for parameter, low in zip(parameters, computed, strict=True):
            parameter.grad, low.grad = low.grad.float() if low.grad is not None else None, None
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        with torch.no_grad():
            for parameter, low in zip(parameters, computed, strict=True):
                low.copy_(parameter)
        average = 0.98 * average + 0.02 * loss.item() if average else loss.item()
        now = time.monotonic()
        if step % 25 == 0:
            line = {"step": step, "of": steps, "loss": round(average, 4), "seconds": round(now - began)}
            with (folder / "log.jsonl").open("a") as log:
                log.write(json.dumps(line) + "\n")
        out_of_time = now - began > 60 * minutes
        if out_of_time or now - saved > 60 * recipe.checkpoint_minutes:
            state = {"weights": _weights(network, parameters), "optimizer": optimizer.state_dict(), "done": step + 1}
            torch.save(state, checkpoint)
            saved = now
        if out_of_time:
            return False
    network.float()
    network.load_state_dict(_weights(network, parameters), strict=False)
    save_file(trained(network), folder / "reader.safetensors")
    (folder / "recipe.json").write_text(json.dumps(asdict(recipe)))
    checkpoint.unlink(missing_ok=True)
    return True


def _weights(network: ReaderNetwork, parameters: Sequence[Tensor]) -> dict[str, Tensor]:
    names = [name for name, parameter in network.named_parameters() if parameter.requires_grad]
    return dict(zip(names, parameters, strict=True))


def _examples(embedder: BertEmbedder, rows: Sequence[Row], recipe: Recipe) -> Iterator[list[Example]]:
    rng = random.Random(recipe.seed)
    chunk = recipe.rows * POOL
    for start in range(0, len(rows), chunk):
        made = [example_of(embedder, row, recipe.texts_of_row, rng) for row in rows[start : start + chunk]]
        yield from batches([example for example in made if example], recipe.rows)


def load(file: Path) -> dict[str, Tensor]:
    """The weights that training left."""
    return load_file(file)
