"""python -m tools.ready_vectors: make the vectors of the shipped pages anew, from an index of them that is in line."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from ingest.ready_vectors import FILE, KEY, made_with
from rag.cli import Parser, run
from rag.errors import UsageError
from rag.index import open_index
from rag.settings import Settings

# Numbers are stored as 8-bit fractions of the vector's largest: the cosine with the original is .9999.
LARGEST = 127


def main() -> int:
    parser = Parser(prog="python -m tools.ready_vectors", description=__doc__)
    parser.add_argument("--index", type=Path, required=True, metavar="DIR", help="an index of corpus/ and nothing else")
    return run(make, parser, None)


def make(options: argparse.Namespace) -> int:
    index = open_index(options.index)
    tokens, settings = index.tokens, index.manifest.settings
    if tokens is None or len(tokens.missing):
        raise UsageError(f"the index at {options.index} lacks tokens", hint="bring it in line: python -m ingest corpus")
    vectors = index.vectors.all()
    documents = index.storage.documents(with_passages=True)
    passages = [p for document in documents for p in document.passages if p.number is not None]
    write_ready_vectors(
        {passage.embedding_key: vectors[passage.number] for passage in passages if passage.number is not None},
        [document.sha256 for document in documents],
        index.manifest.embedder,
        int(settings.get("passage_tokens", Settings().passage_tokens)),
        FILE,
    )
    sys.stdout.write(f"{len(passages):,} vectors of {len(documents)} pages, {FILE.stat().st_size:,} bytes: {FILE}\n")
    return 0


def write_ready_vectors(
    vectors: Mapping[str, NDArray[np.float32]], documents: Sequence[str], identity: str, passage_tokens: int, file: Path
) -> None:
    """Write the vectors, by embedding key, and the SHA-256 of the documents that they cover."""
    keys = sorted(vectors)
    rows = np.stack([vectors[key] for key in keys])
    codes = np.rint(rows / np.abs(rows).max(axis=1, keepdims=True) * LARGEST).astype(np.int8)
    save_file(
        {
            "keys": np.asarray([list(bytes.fromhex(key)[:KEY]) for key in keys], np.uint8),
            "codes": codes,
            "documents": np.asarray([list(bytes.fromhex(digest)) for digest in sorted(documents)], np.uint8),
        },
        file,
        {"made_with": json.dumps(made_with(identity, passage_tokens))},
    )


if __name__ == "__main__":
    sys.exit(main())
