"""Training by late interaction: the passage that answers is told from all others of a few pages that resemble each
other, the sentence from all others of its page, and the passage once more by its vector alone.

As in Khattab & Zaharia, "ColBERT" (2020), with the weights that the search gives to tokens (`rag.index.tokens`).
"""

import json
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor, nn

from rag.embedding import BertEmbedder
from rag.models.e5 import PROMPTS
from tools.embedder.network import Encoder
from tools.embedder.pages import Asked, TrainedPage, TrainedPassage, neighbours, sentence_of_token
from tools.learning_rate import share_of_rate

# Cosines of tokens lie within some tenths of each other: differences are multiplied before the softmax.
SHARPNESS = 50.0
LEAST = -1e4


@dataclass(frozen=True, slots=True)
class Recipe:
    """`first` is the first layer that is trained. A step has so many `pages`, every second a neighbour of the one
    before it, with at most `passages` of each and `questions` about it; `sentences` and `vectors` are the shares of
    these losses beside that of passages."""

    first: int = 6
    pages: int = 6
    passages: int = 22
    questions: int = 21
    rate: float = 5e-5
    warm_up: float = 0.06
    decay: float = 0.01
    sentences: float = 0.5
    vectors: float = 0.5
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Inputs:
    """A text as it goes into the encoder: the ids of its own tokens stand between `first` and the last."""

    ids: NDArray[np.int32]
    first: int

    @property
    def own(self) -> NDArray[np.int32]:
        return self.ids[self.first : -1]

    def own_rows(self, rows: Tensor) -> Tensor:
        """Unit vectors of its own tokens."""
        return nn.functional.normalize(rows[self.first : -1], dim=-1)


class Tokenizer:
    """Texts as inputs, and the weights of tokens: the idf among the passages of all pages."""

    def __init__(self, embedder: BertEmbedder, pages: Sequence[TrainedPage]) -> None:
        self._embedder = embedder
        self._begin, self._end = embedder.special_ids()
        self._prompts = {kind: embedder.token_ids([prompt])[0] for kind, prompt in PROMPTS.items()}
        texts = sorted({passage.text for page in pages for passage in page.passages})
        held = Counter(token for ids in embedder.token_ids(texts) for token in set(ids))
        self._rarest = math.log1p((len(texts) + 0.5) / 0.5)
        self._rarity = {token: math.log1p((len(texts) - n + 0.5) / (n + 0.5)) for token, n in held.items()}

    def inputs(self, text: str, kind: str) -> Inputs:
        """`kind` is "query" or "document"."""
        room = self._embedder.max_tokens - 2 - len(self._prompts[kind])
        ids = [self._begin, *self._prompts[kind], *self._embedder.token_ids([text])[0][:room], self._end]
        return Inputs(np.asarray(ids, np.int32), 1 + len(self._prompts[kind]))

    def rarity(self, inputs: Inputs) -> Tensor:
        """The weights of a text's own tokens, which sum to 1, shape (tokens,)."""
        weights = torch.tensor([self._rarity.get(token, self._rarest) for token in inputs.own.tolist()])
        return weights / weights.sum()

    def sentences(self, passage: TrainedPassage, inputs: Inputs) -> NDArray[np.int64]:
        """The sentence of each of its own tokens, -1 for headings."""
        return sentence_of_token(self._embedder, passage)[: len(inputs.own)]


@dataclass(frozen=True, slots=True)
class Step:
    """Pages with some of their passages and some questions about them. The places in `answers` count within these
    passages."""

    passages: tuple[TrainedPassage, ...]
    page_of: tuple[int, ...]
    asked: tuple[Asked, ...]
    page_asked: tuple[int, ...]


def steps(pages: Sequence[TrainedPage], recipe: Recipe) -> Iterator[Step]:
    """Every question once, in an order that the seed decides."""
    rng = random.Random(recipe.seed)
    near = neighbours(pages, 8)
    waiting = {place: rng.sample(page.asked, len(page.asked)) for place, page in enumerate(pages) if page.asked}
    while waiting:
        chosen: list[int] = []
        while len(chosen) < min(recipe.pages, len(waiting)):
            free = [place for place in waiting if place not in chosen]
            close = [place for place in near[chosen[-1]] if place in free] if len(chosen) % 2 else []
            # By the questions that are left, so that all pages end together.
            chosen.append(rng.choice(close) if close else rng.choices(free, [len(waiting[place]) for place in free])[0])
        yield _step(pages, {place: waiting[place][: recipe.questions] for place in chosen}, recipe.passages, rng)
        waiting = {place: left[recipe.questions :] if place in chosen else left for place, left in waiting.items()}
        waiting = {place: left for place, left in waiting.items() if left}


def _step(pages: Sequence[TrainedPage], asked: Mapping[int, list[Asked]], most: int, rng: random.Random) -> Step:
    passages: list[TrainedPassage] = []
    page_of, questions, page_asked = [], [], []
    for place, rows in asked.items():
        page = pages[place]
        answering = {passage for row in rows for passage, _ in row.answers}
        others = [number for number in range(len(page.passages)) if number not in answering]
        kept = sorted([*answering, *rng.sample(others, min(len(others), max(0, most - len(answering))))])
        moved = {number: len(passages) + rank for rank, number in enumerate(kept)}
        passages += [page.passages[number] for number in kept]
        page_of += [place] * len(kept)
        for row in rows:
            answers = tuple((moved[passage], sentence) for passage, sentence in row.answers)
            questions.append(Asked(row.text, answers))
            page_asked.append(place)
    return Step(tuple(passages), tuple(page_of), tuple(questions), tuple(page_asked))


def loss_of(encoder: Encoder, tokenizer: Tokenizer, weights: Mapping[str, Tensor], step: Step) -> dict[str, Tensor]:
    """The losses by name: "passages", "sentences", "vectors"."""
    questions = [tokenizer.inputs(row.text, "query") for row in step.asked]
    passages = [tokenizer.inputs(passage.text, "document") for passage in step.passages]
    rows = encoder.states(weights, [inputs.ids for inputs in (*questions, *passages)])
    asked, read = rows[: len(questions)], rows[len(questions) :]
    # All tokens of all passages in one row, cut into runs of one sentence each.
    tokens = torch.cat([inputs.own_rows(found) for inputs, found in zip(passages, read, strict=True)])
    runs, run_sentence, run_passage = _runs(step, passages, tokenizer)
    own = torch.cat([inputs.own_rows(found) for inputs, found in zip(questions, asked, strict=True)])
    cosines = tokens @ own.T
    best = torch.segment_reduce(cosines, "max", lengths=runs, axis=0)  # (runs, tokens of questions)
    lengths = torch.bincount(torch.tensor(run_passage), minlength=len(passages))
    of_passages = torch.segment_reduce(best, "max", lengths=lengths, axis=0)
    mixing = torch.block_diag(*[tokenizer.rarity(inputs)[:, None] for inputs in questions])  # type: ignore[no-untyped-call]
    by_run, by_passage = (best @ mixing).T, (of_passages @ mixing).T  # (questions, …)
    vectors = [
        nn.functional.normalize(torch.stack([found.mean(0) for found in part]), dim=-1) for part in (asked, read)
    ]
    by_vector = vectors[0] @ vectors[1].T
    allowed = _allowed(step)
    right = torch.zeros_like(allowed)
    page_of_run = torch.tensor(step.page_of)[run_passage]
    own_page = page_of_run[None, :] == torch.tensor(step.page_asked)[:, None]
    in_page = own_page & (torch.tensor(run_sentence) >= 0)[None, :] & allowed[:, run_passage]
    right_run = torch.zeros_like(in_page)
    places = {key: place for place, key in enumerate(zip(run_passage, run_sentence, strict=True))}
    for number, row in enumerate(step.asked):
        for passage, sentence in row.answers:
            right[number, passage] = True
            if (passage, sentence) in places:
                right_run[number, places[passage, sentence]] = True
    return {
        "passages": _cross_entropy(by_passage, right, allowed),
        "sentences": _cross_entropy(by_run, right_run, in_page | right_run),
        "vectors": _cross_entropy(by_vector, right, allowed),
    }


def _runs(step: Step, passages: Sequence[Inputs], tokenizer: Tokenizer) -> tuple[Tensor, list[int], list[int]]:
    """Runs of tokens of one sentence: their lengths, and of each its sentence and its passage."""
    lengths, sentences, of_passage = [], [], []
    for place, (passage, inputs) in enumerate(zip(step.passages, passages, strict=True)):
        found = tokenizer.sentences(passage, inputs)
        borders = np.flatnonzero(np.diff(found)) + 1
        for run in np.split(found, borders):
            lengths.append(len(run))
            sentences.append(int(run[0]))
            of_passage.append(place)
    return torch.tensor(lengths), sentences, of_passage


def _allowed(step: Step) -> Tensor:
    """What a question is compared with, shape (questions, passages): all but passages of its own page that may say the
    same in another language than those that are known to answer."""
    languages = [passage.language for passage in step.passages]
    allowed = torch.ones(len(step.asked), len(step.passages), dtype=torch.bool)
    for number, (row, page) in enumerate(zip(step.asked, step.page_asked, strict=True)):
        known = {languages[passage] for passage, _ in row.answers}
        for place, language in enumerate(languages):
            allowed[number, place] = step.page_of[place] != page or language in known
    return allowed


def _cross_entropy(scores: Tensor, right: Tensor, allowed: Tensor) -> Tensor:
    """Mean over the rows that have something right; several right ones share the probability."""
    rows = right.any(1)
    logits = (scores * SHARPNESS).masked_fill(~allowed, LEAST)[rows]
    return (logits.logsumexp(1) - logits.masked_fill(~right[rows], LEAST).logsumexp(1)).mean()


def train(
    embedder: BertEmbedder,
    weights: Mapping[str, Tensor],
    pages: Sequence[TrainedPage],
    recipe: Recipe,
    file: Path,
    *,
    minutes: float,
) -> None:
    """Train on every question once, for at most so many minutes, and write the weights, in float32, to `file`; the
    losses go to its neighbour that ends in .jsonl."""
    torch.manual_seed(recipe.seed)
    tokenizer, encoder = Tokenizer(embedder, pages), Encoder(embedder.network, recipe.first)
    parameters = {name: weight.float().clone().requires_grad_() for name, weight in weights.items()}
    optimizer = torch.optim.AdamW(parameters.values(), recipe.rate, weight_decay=recipe.decay)
    planned = list(steps(pages, recipe))
    began = time.monotonic()
    with file.with_suffix(".jsonl").open("w") as log:
        for number, step in enumerate(planned):
            done = max(number / len(planned), (time.monotonic() - began) / (60 * minutes))
            if done >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate * share_of_rate(int(done * len(planned)), len(planned), recipe.warm_up)
            losses = loss_of(encoder, tokenizer, parameters, step)
            loss = losses["passages"] + recipe.sentences * losses["sentences"] + recipe.vectors * losses["vectors"]
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(parameters.values(), 1.0)
            optimizer.step()
            line = {name: round(value.item(), 4) for name, value in losses.items()}
            line |= {"step": number, "of": len(planned), "seconds": round(time.monotonic() - began)}
            log.write(json.dumps(line) + "\n")
            log.flush()
            if number % 50 == 49:
                save_file({name: value.detach() for name, value in parameters.items()}, file)
    save_file({name: value.detach() for name, value in parameters.items()}, file)
