"""The protocol of embedders, and their common functions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag.errors import ModelError

Vectors = NDArray[np.float32]
Progress = Callable[[int, int], None]  # (texts done, texts in all)

# Texts with cached token spans; some 4 kB each.
SPANS_KEPT = 4_096
# A question to a model up to this dimension takes one thread: waking another costs more than it saves, see
# docs/results/threads.md.
SMALL_DIMENSION = 512


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as a model encodes it.

    `vector` is unit, shape (dimension,). `tokens`, shape (n, dimension), are unit rows, one for each of the text's own
    `wordy_tokens`; `token_ids`, shape (n,), are their ids in the model's vocabulary. Both are empty if the model's
    vector is not the mean of its tokens: those then lie elsewhere. `others`, shape (m, dimension), are the rows of its
    other tokens, which are compared with nothing.
    """

    vector: Vectors
    tokens: Vectors
    token_ids: NDArray[np.int32]
    others: Vectors | None = None

    @classmethod
    def of(cls, vector: Vectors, rows: Vectors, ids: NDArray[np.int32], wordy: NDArray[np.bool_]) -> "Encoded":
        """From the unit rows and ids of all of a text's own tokens; `wordy` is what `wordy_tokens` returns."""
        kept = wordy[ids]
        return cls(vector, rows[kept], ids[kept], rows[~kept])


class Embedder(Protocol):
    """Turns texts into vectors. All methods may be called from several threads at once."""

    @property
    def identity(self) -> str:
        """Name and hash of the model: vectors of embedders with different identities must not be compared."""

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Longest text in the embedder's own tokens, counted as `count_tokens` counts."""

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Unit rows, shape (len(texts), dimension), in the order given.

        Nothing is truncated silently: a text longer than `max_tokens` raises ModelError.
        """

    def embed_query(self, text: str) -> Vectors:
        """A unit vector, shape (dimension,). A longer question is cut after `max_tokens`, at a token's end."""

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Iterator[tuple[int, Encoded]]:
        """Like `embed_passages`, with the tokens: the place and encoding of each text, in any order."""

    def encode_queries(self, texts: Sequence[str]) -> list[Encoded]:
        """Like `embed_query`, with the tokens, and all at once."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as a passage, with the prefix and the special tokens it is embedded with."""

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """Where the tokens that a text is encoded with begin and end in it, in characters: shape (n, 2) each."""


def encodable(text: str) -> str:
    """Lone surrogates, which cannot be tokenized, become question marks."""
    return text.encode("utf-8", "replace").decode()


def longest_first(texts: Sequence[str], counts: Sequence[int], embedder: Embedder) -> list[int]:
    """The places of the texts by token count, longest first, so that similar lengths meet and lack of memory shows at
    once. `counts` are their tokens. Raises ModelError if a text is too long for the embedder."""
    for text, count in zip(texts, counts, strict=True):
        if count > embedder.max_tokens:
            raise ModelError(
                f"a passage has {count} tokens, {embedder.identity} takes {embedder.max_tokens}: {text[:60]!r}…",
                hint="lower the setting `passage_tokens`",
            )
    return sorted(range(len(texts)), key=lambda number: -counts[number])


def wordy_tokens(vocabulary: Mapping[str, int], special: Iterable[int]) -> NDArray[np.bool_]:
    """Which tokens have a letter or digit and are not special, by id.

    Spaces and punctuation are a quarter of all tokens, and comparing them helps nothing: see docs/results/tokens.md.
    """
    wordy = np.ones(max(vocabulary.values()) + 1, np.bool_)
    # Most tokens end with a letter: looking there first takes half of the time.
    wordy[[token for text, token in vocabulary.items() if not (text[-1:].isalnum() or any(map(str.isalnum, text)))]] = 0
    wordy[list(special)] = False
    return wordy


def own_tokens(ids: NDArray[np.int32], prompt: NDArray[np.int32], special: Sequence[int]) -> NDArray[np.bool_]:
    """Which tokens of an input are the text's own: neither special nor, as far as it begins it, the prompt's."""
    own = ~np.isin(ids, special)
    start = prompt[: len(ids)]
    own[: int(np.cumprod(ids[: len(start)] == start).sum())] = False
    return own


def unit_rows(found: ArrayLike, identity: str) -> Vectors:
    """Rows of length 1 in float32. Normalised here because a bfloat16 model's own rows are off by some 0.1%."""
    rows: Vectors = np.array(found, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise ModelError(f"{identity} gave a vector without a direction", hint="set precision = 'float32'")
    rows /= lengths
    return rows
