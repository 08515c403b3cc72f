"""python -m tools.ready_vectors: make the vectors of the shipped pages anew, from an index of them that is in line."""

import argparse
import sys
from pathlib import Path

from ingest.ready_vectors import FILE, write_ready_vectors
from rag.cli import Parser, run
from rag.errors import UsageError
from rag.index import open_index
from rag.settings import Settings


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


if __name__ == "__main__":
    sys.exit(main())
