"""Indexes larger than the corpus, written from synthetic passages as an ingest writes them."""

import hashlib
import shutil
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from rag.embedding import embedder_identity
from rag.errors import RagError
from rag.index import open_index
from rag.index.generation import KEYWORDS, STORAGE_FILE, TOKENS, new_generation, publish
from rag.index.keywords import KeywordIndex
from rag.index.storage import StoredDocument, StoredPassage, write_storage
from rag.index.tokens import save_tokens
from rag.index.vectors import save_vectors
from rag.language.terms import simplified, terms
from rag.settings import Settings, rebuild_settings
from rag.text.mapped import MappedText
from tools.bench.embedded_corpus import WORK, EmbeddedCorpus, bench_settings
from tools.bench.measuring import seconds
from tools.bench.synthetic import perturb, recombine

PASSAGES_PER_DOCUMENT = 20
# To be raised when made-up indexes change, so that those left from before are not measured.
VERSION = 4
# Made-up indexes up to this size have token vectors; those of 100,000 passages would fill 4 GB.
WITH_TOKENS = 10_000


def synthetic_index(
    corpus: EmbeddedCorpus, count: int, *, length: int | None = None
) -> tuple[Settings, dict[str, Any]]:
    """An index of `count` made-up passages on disk, and how long its parts took to write (seconds).

    Texts are recombined sentences, vectors perturbed ones; everything else is written as an ingest writes it. One that
    was made earlier from the same corpus is used again.
    """
    settings = bench_settings(WORK / f"{count}-{length or 'full'}-{len(corpus.texts)}")
    origin = hashlib.sha256(f"{VERSION}\n{chr(10).join(corpus.texts)}".encode()).hexdigest()
    try:
        index = open_index(settings.index, embedder=embedder_identity(settings))
        index.close()
        if index.manifest.report.get("origin") == origin:
            return settings, dict(index.manifest.report["seconds"])
    except RagError:
        pass
    shutil.rmtree(settings.index, ignore_errors=True)
    vectors = perturb(corpus.vectors, count)
    took: dict[str, float] = {}
    texts = list(recombine(corpus.texts, count, length=length))
    before = time.process_time()
    with new_generation(settings.index, 1) as folder:
        took["passages"] = seconds(lambda: write_storage(folder / STORAGE_FILE, _documents(texts)))
        took["vectors"] = seconds(lambda: save_vectors(vectors, folder))
        took["keywords"] = seconds(
            lambda: KeywordIndex.build(terms.__wrapped__(simplified(text)) for text in texts).save(folder / KEYWORDS)
        )
        has_tokens = count <= WITH_TOKENS and length is None
        if has_tokens:
            took["tokens"] = seconds(lambda: _write_tokens(corpus, count, folder / TOKENS))
        report = {"origin": origin, "seconds": took, "core_seconds": time.process_time() - before}
        fields = {
            "generation": 1, "dimension": vectors.shape[1], "roots": (),
            "settings": rebuild_settings(settings, embedder_identity(settings)) | {"late_interaction": has_tokens},
            "documents": -(-count // PASSAGES_PER_DOCUMENT), "passages": count, "report": report,
        }  # fmt: skip
        publish(settings.index, folder, fields)
    return settings, took


def _write_tokens(corpus: EmbeddedCorpus, count: int, prefix: Path) -> None:
    """Those of the real passages, over and over."""
    index = open_index(corpus.settings.index)
    assert index.tokens is not None
    save_tokens(index.tokens.codec, [index.tokens.passage(n % len(index.tokens)) for n in range(count)], prefix)
    index.close()


def publish_seconds(settings: Settings) -> tuple[float, float]:
    """How long it takes to seal what is in an index (checksums, sync to disk, rename), and for how long it computes."""
    index = open_index(settings.index)
    index.close()
    copy = settings.index.with_name(settings.index.name + ".publish")
    shutil.rmtree(copy, ignore_errors=True)
    with new_generation(copy, 1) as folder:
        for name in index.manifest.files:
            (folder / name).hardlink_to(index.folder / name)
        before = time.process_time()
        taken = seconds(lambda: publish(copy, folder, index.manifest.model_dump(exclude={"format", "files"})))
        core = time.process_time() - before
    shutil.rmtree(copy)
    return taken, core


def _documents(texts: Iterable[str]) -> Iterator[StoredDocument]:
    remaining = iter(texts)
    passage_number = 0
    for number in range(1_000_000_000):
        part = list(islice(remaining, PASSAGES_PER_DOCUMENT))
        if not part:
            return
        start = 0
        passages = []
        for text in part:
            key = hashlib.sha256(text.encode()).hexdigest()
            passages.append(StoredPassage((), MappedText.copied(text, start), "", key, b"", passage_number))
            passage_number += 1
            start += len(text) + 1
        name = f"{number:07d}.md"
        yield StoredDocument(
            0, name, name, f"题目 {number}", key, start, False, (), (), "\n".join(part), tuple(passages)
        )
