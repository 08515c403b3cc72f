"""The vectors of a generation: reused from the last one if the text is the same, else embedded."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ingest.workers import Workers
from rag.embedding import Embedder, Progress
from rag.index.generation import DiskIndex
from rag.index.storage import StoredPassage
from rag.index.tokens import PER_BYTE, PER_WORD, PassageTokens, TokenCodec

# The mean vector of these tokens is the centre of all codes. It need not be exact, but must always be the same, or an
# updated index would differ from a new one.
# Sentence by sentence, since some models accept no more than 64 tokens.
CENTRE_TEXTS = (
    "面试官问：这个方法为什么有效？先说结论，再讲原理、公式和代价，最后举一个例子。",
    "训练时显存不够，可以减小批次、累积梯度，或者把参数分到几张卡上；推理时更看重延迟和吞吐。",
    "The interviewer asks how it works: state the answer first, then give the reason and the cost.",
    "Add one example with numbers such as 8, 0.1 or 4096. 优点是简单，缺点是慢。",
)


Computed = tuple[NDArray[np.float32], PassageTokens]
"""The vector of a passage, and its tokens."""


@dataclass(frozen=True)
class KnownVectors:
    """Reusable results: vectors and tokens by embedding key; tokens may be missing.

    `keys` are those of all passages that fit the embedder; duplicates among them have no vector.
    """

    keys: frozenset[str] = frozenset()
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    tokens: Mapping[str, PassageTokens] = field(default_factory=dict)
    codec: TokenCodec | None = None


@dataclass(frozen=True)
class PassageVectors:
    """`vectors`, shape (n, dimension), and `tokens` in passage order, None if they are to be made later; no codec: no
    tokens are kept."""

    vectors: NDArray[np.float32]
    tokens: Sequence[PassageTokens | None] = ()
    codec: TokenCodec | None = None


def known_vectors(
    index: DiskIndex, passages: Iterable[StoredPassage], computed: Mapping[str, Computed]
) -> KnownVectors:
    """An index's vectors and tokens, and those computed since, by embedding key."""
    vectors, tokens = index.vectors.all(), index.tokens
    missing = frozenset() if tokens is None else frozenset(tokens.missing.tolist())
    keys = set()
    filled = {}
    for passage in passages:
        keys.add(passage.embedding_key)
        if passage.number is not None:
            filled[passage.embedding_key] = passage.number
    late = {key: of_passage for key, of_passage in computed.items() if key in filled and tokens is not None}
    return KnownVectors(
        frozenset(keys),
        {key: vectors[number] for key, number in filled.items()} | {key: vector for key, (vector, _) in late.items()},
        {key: tokens.passage(number) for key, number in filled.items() if number not in missing}
        | {key: coded for key, (_, coded) in late.items()}
        if tokens is not None
        else {},
        tokens.codec if tokens is not None else None,
    )


def embed(
    texts: Mapping[str, str],
    order: Sequence[str],
    known: KnownVectors,
    ready: Mapping[str, NDArray[np.float32]],
    workers: Workers,
    *,
    with_tokens: bool,
    scratch: Path,
    progress: Progress,
) -> PassageVectors:
    """Vectors of the passages whose keys are in `order`; `texts` are those to embed, by key, unless their vector is
    `ready`: such a passage has no tokens yet.

    Loads the embedder only if there are some. Makes no tokens if four does not divide its dimension. Tokens lie in an
    unnamed file in the folder `scratch` as long as they are referenced.
    """
    vectors, tokens, codec = dict(known.vectors), dict(known.tokens), known.codec
    if texts or not vectors:
        embedder = workers.load_embedder()
        dimension = embedder.dimension
        # Never beside vectors without tokens: an index made without tokens stays so until it is rebuilt.
        if with_tokens and not vectors and dimension % PER_WORD == 0:
            codec = _codec(embedder)
        vectors.update((key, ready[key]) for key in texts if key in ready)
        keys = [key for key in texts if key not in ready]
        encoded = workers.encode([texts[key] for key in keys], codec, progress)
        if codec is None:
            vectors.update((keys[place], vector) for place, vector, _ in encoded)
        else:
            for place, vector, coded in _kept_on_disk(encoded, codec, scratch):
                vectors[keys[place]] = vector
                tokens[keys[place]] = coded
    else:
        dimension = len(next(iter(vectors.values())))
    stacked = np.stack([vectors[key] for key in order]) if order else np.zeros((0, dimension), np.float32)
    return PassageVectors(stacked, [tokens.get(key) for key in order] if codec is not None else (), codec)


def _kept_on_disk(
    results: Iterable[tuple[int, NDArray[np.float32], PassageTokens | None]], codec: TokenCodec, scratch: Path
) -> Iterator[tuple[int, NDArray[np.float32], PassageTokens]]:
    """The place of each text, its vector and its tokens, stored on disk: those of 100,000 passages are 4 GB."""
    kept: list[tuple[int, NDArray[np.float32], int]] = []
    width = len(codec.centre) // PER_BYTE
    with tempfile.TemporaryFile(dir=scratch) as stream:
        for place, vector, coded in results:
            assert coded is not None
            for array in (coded.token_ids, coded.scales, coded.lengths, coded.codes):
                stream.write(array.tobytes())
            kept.append((place, vector, len(coded.scales)))
        stream.flush()
        # The map keeps the closed file; an empty file cannot be mapped.
        data = np.asarray(np.memmap(stream, np.uint8, "r")) if stream.tell() else np.zeros(0, np.uint8)
    start = 0
    for place, vector, count in kept:
        ids, scales, lengths, codes = np.split(
            data[start : start + count * (8 + width)], np.cumsum([4 * count, 2 * count, 2 * count])
        )
        start += count * (8 + width)
        rows = codes.reshape(count, width)
        yield place, vector, PassageTokens(rows, scales.view(np.float16), lengths.view(np.float16), ids.view(np.int32))


def _codec(embedder: Embedder) -> TokenCodec | None:
    """None if the embedder gives no tokens."""
    encoded = dict(embedder.encode_passages(CENTRE_TEXTS))
    rows = chain.from_iterable((one.tokens, one.others) for _, one in sorted(encoded.items()))
    tokens = np.concatenate([some for some in rows if some is not None])
    return TokenCodec.make(tokens.mean(axis=0)) if len(tokens) else None
