"""What an embedder finds for labelled questions by itself: with nothing fitted on top."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from rag.text.terms import simplified
from tools.embedder.network import Encoder
from tools.embedder.pages import TrainedPage, read_questions
from tools.embedder.train import Inputs, Tokenizer

AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question, and the name of the page and the heading of the section that should come first."""

    question: str
    page: str
    heading: str


def read_labels(file: Path) -> dict[str, list[Labelled]]:
    """The answerable rows by their half ("dev", "test"; "all" where a file has none): those of best_places.jsonl that
    follow nothing, or questions about pages as `tools.embedder.pages` describes them."""
    halves: dict[str, list[Labelled]] = {}
    for row in read_questions([file]):
        place = row.get("best") or (row.get("document"), row.get("heading"))
        if all(place) and not row.get("after"):
            halves.setdefault(row.get("split", "all"), []).append(Labelled(row["question"], *place))
    return halves


@dataclass(frozen=True, slots=True)
class Found:
    """Shares of questions: `section`, the passage that scores most by late interaction is of the best section;
    `in_page`, of the passages of the right page it is; `page`, it is of the right page; `vector` and `vector_page`,
    `section` and `page` where the passage's vector scores."""

    section: float
    in_page: float
    page: float
    vector: float
    vector_page: float


class Encoded:
    """All passages of an index as an embedder with these weights encodes them."""

    def __init__(
        self, encoder: Encoder, tokenizer: Tokenizer, weights: Mapping[str, Tensor], pages: Sequence[TrainedPage]
    ) -> None:
        self._encoder, self._tokenizer, self._weights = encoder, tokenizer, weights
        inputs = [tokenizer.inputs(passage.text, "document") for page in pages for passage in page.passages]
        self._pages = np.asarray([place for place, page in enumerate(pages) for _ in page.passages])
        self._headings = [passage.heading for page in pages for passage in page.passages]
        self._names = {page.name: place for place, page in enumerate(pages)}
        tokens, vectors = self._rows(inputs)
        self._lengths = torch.tensor([len(rows) for rows in tokens])
        self._tokens, self._vectors = torch.cat(tokens), torch.stack(vectors)

    def found(self, labelled: Sequence[Labelled]) -> Found:
        inputs = [self._tokenizer.inputs(simplified(row.question), "query") for row in labelled]
        hits = []
        for row, ask, own, vector in zip(labelled, inputs, *self._rows(inputs), strict=True):
            best = torch.segment_reduce(self._tokens @ own.T, "max", lengths=self._lengths, axis=0)
            late, alone = (best @ self._tokenizer.rarity(ask)).numpy(), (self._vectors @ vector).numpy()
            page = self._names[row.page]
            inside = np.where(self._pages == page, late, -np.inf)
            right = [self._is_right(int(np.argmax(scores)), page, row.heading) for scores in (late, inside, alone)]
            pages = [bool(self._pages[int(np.argmax(scores))] == page) for scores in (late, alone)]
            hits.append((right[0], right[1], pages[0], right[2], pages[1]))
        return Found(*np.asarray(hits, float).mean(0).round(4).tolist())

    def _is_right(self, passage: int, page: int, heading: str) -> bool:
        return bool(self._pages[passage] == page) and self._headings[passage] == simplified(heading)

    def _rows(self, inputs: Sequence[Inputs]) -> tuple[list[Tensor], list[Tensor]]:
        """Unit vectors of the tokens of each text, and of each text one."""
        tokens, vectors = [], []
        with torch.inference_mode():
            for start in range(0, len(inputs), AT_ONCE):
                part = inputs[start : start + AT_ONCE]
                states = self._encoder.states(self._weights, [text.ids for text in part])
                tokens += [text.own_rows(rows) for text, rows in zip(part, states, strict=True)]
                vectors += [nn.functional.normalize(rows.mean(0), dim=-1) for rows in states]
                self._encoder.forget()
        return tokens, vectors


def between(published: Mapping[str, Tensor], trained: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Weights on the straight line from the published ones to the trained ones.

    As in Wortsman et al., "Robust fine-tuning of zero-shot models" (2022).
    """
    return {name: torch.lerp(weight.float(), trained[name].float(), share) for name, weight in published.items()}
