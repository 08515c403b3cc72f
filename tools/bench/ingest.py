"""From documents to an index: our whole ingest against LangChain's tutorial, with the same model on the same pages.

LangChain: RecursiveCharacterTextSplitter(1000, 200), HuggingFaceEmbeddings, FAISS.from_documents. Its passages are cut
otherwise, overlap, and are truncated where they are longer than the model takes, so times of whole runs and characters
of the documents per second are given beside passages per second, and once it is given our passages. It runs in float32,
in which the model is published and which is what its users get, and once in the precision that we choose.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from langchain_core.documents import Document

from ingest.prepare import prepare
from ingest.reading.listing import list_files
from ingest.reading.loading import read_document
from ingest.reading.parser_process import ParserProcess
from ingest.sync import sync
from rag.embedding import load_embedder
from rag.models import locate
from rag.process import own_process
from rag.settings import Settings
from tools.bench.embedded_corpus import EmbeddedCorpus, corpus_folder
from tools.bench.measuring import in_fresh_process, median, seconds, table
from tools.bench.synthetic_index import publish_seconds, synthetic_index

ROUNDS = 3
# Of the encoder that the default embedder is: layers, width, width of the feed-forward part.
LAYERS, WIDTH, FORWARD = 12, 384, 1_536


def measure(corpus: EmbeddedCorpus, *, quick: bool) -> dict[str, Any]:
    documents = _documents(corpus.settings, quick=quick)
    characters = sum(map(len, documents))
    rounds = 1 if quick else ROUNDS
    passages = _passages(corpus.settings, documents)
    # The rebuilt weights are stored in bfloat16, which "auto" keeps.
    ways: dict[str, Callable[[], dict[str, float]]] = {
        "ours": partial(in_fresh_process, _ours, corpus.settings, documents),
        "LangChain": partial(in_fresh_process, _langchain, corpus.settings, documents, "float32"),
        "LangChain, our precision": partial(in_fresh_process, _langchain, corpus.settings, documents, "auto"),
        "LangChain, our passages": partial(in_fresh_process, _langchain_store, corpus.settings, passages, "float32"),
    }
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(rounds):  # by turns, since a machine does not run at one speed
        for name, way in ways.items():
            runs[name].append(way())
    rows = [_row(name, taken, characters) for name, taken in runs.items()]
    ratios = {name: _ratios(runs["ours"], taken) for name, taken in runs.items() if name != "ours"}
    return {
        "documents": len(documents),
        "characters": characters,
        "rows": rows,
        "ours_is_faster_by": ratios,
        "peak": _peak(corpus),
        "one_document_changed": None if quick else _one_changed(corpus),
    }


def show(result: dict[str, Any]) -> str:
    lines = [table(result["rows"]), "", f"ours is faster by: {result['ours_is_faster_by']}", f"peak: {result['peak']}"]
    return "\n".join([*lines, f"one document of many changed: {result['one_document_changed']}"])


def _documents(settings: Settings, *, quick: bool) -> list[str]:
    files = list(list_files(corpus_folder(quick=quick)))
    # A part of the corpus: LangChain takes minutes for the whole.
    chosen = files[:3] if quick else files[::3]
    most = settings.max_file_megabytes * 2**20
    return [read_document(file.name, file, max_bytes=most).source for file in chosen]


def _ours(settings: Settings, documents: Sequence[str]) -> dict[str, float]:
    own_process()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "documents").mkdir()
        for number, text in enumerate(documents):
            (folder / "documents" / f"{number:03d}.md").write_text(text, encoding="utf-8")
        embedder = load_embedder(settings)
        embedder.embed_passages(["warm up"])
        own = settings.model_copy(update={"index": folder / "index"})
        started = time.perf_counter()
        report = sync(own, lambda: embedder, [folder / "documents"], identity=embedder.identity)
        return {"seconds": time.perf_counter() - started, "passages": report.passages_total}


def _passages(settings: Settings, documents: Sequence[str]) -> list[str]:
    """What our ingest embeds of these documents."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, text in enumerate(documents):
            (folder / f"{number:03d}.md").write_text(text, encoding="utf-8")
        with ParserProcess() as parser:
            prepared = [prepare(0, file.name, file, settings, parser).document for file in sorted(folder.iterdir())]
    return [passage.embedded_text for document in prepared for passage in document.passages]


def _langchain(settings: Settings, documents: Sequence[str], precision: str) -> dict[str, float]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=1_000, chunk_overlap=200, add_start_index=True)
    return _langchain_store(
        settings, documents, precision, split=lambda documents: splitter.split_documents(list(documents))
    )


def _langchain_store(
    settings: Settings,
    texts: Sequence[str],
    precision: str,
    split: Callable[[Sequence[Document]], list[Document]] = list,
) -> dict[str, float]:
    from langchain_community.embeddings import HuggingFaceEmbeddings
    from langchain_community.vectorstores import FAISS

    # langchain-huggingface 1.2 runs the same lines, but asks for an older huggingface_hub than we have.
    embeddings = HuggingFaceEmbeddings(
        model_name=str(locate(settings.embedder, settings.models)), model_kwargs={"model_kwargs": {"dtype": precision}}
    )
    embeddings.embed_documents(["warm up"])
    started = time.perf_counter()
    pieces = split([Document(text) for text in texts])
    store = FAISS.from_documents(pieces, embeddings)
    taken = time.perf_counter() - started
    assert store.index.ntotal == len(pieces)
    return {"seconds": taken, "passages": len(pieces)}


def _ratios(ours: Sequence[dict[str, float]], theirs: Sequence[dict[str, float]]) -> dict[str, float]:
    """How many times as fast ours is: the medians over the rounds."""
    pairs = list(zip(ours, theirs, strict=True))
    return {
        "time": round(median(t["seconds"] / o["seconds"] for o, t in pairs), 2),
        "passages per second": round(
            median((o["passages"] / o["seconds"]) / (t["passages"] / t["seconds"]) for o, t in pairs), 2
        ),
    }


def _row(name: str, runs: Sequence[dict[str, float]], characters: int) -> dict[str, Any]:
    taken = median(run["seconds"] for run in runs)
    passages = int(runs[0]["passages"])
    return {
        "way": name,
        "seconds (median)": round(taken, 2),
        "passages": passages,
        "passages/s": round(passages / taken, 2),
        "characters/s": round(characters / taken),
    }


def _peak(corpus: EmbeddedCorpus) -> dict[str, Any]:
    """How near the embedder alone comes to the fastest matrix product of this machine in the precision it uses."""
    texts = corpus.texts[:128]
    counts = corpus.embedder.count_tokens(texts)
    # A multiplication and an addition for each weight and token; of attention both products with all tokens.
    weights = LAYERS * (4 * WIDTH * WIDTH + 2 * WIDTH * FORWARD)
    operations = sum(2 * weights * count + LAYERS * 4 * count * count * WIDTH for count in counts)
    corpus.embedder.embed_passages(texts[:16])
    taken = median(seconds(lambda: corpus.embedder.embed_passages(texts)) for _ in range(3))
    peaks = {"float32": _matmul(torch.float32), "int8": _matmul(torch.int8)}
    reached = operations / taken / 1e9
    name = getattr(corpus.embedder, "computes_in", "float32")
    return {
        "matmul_gflops": {kind: round(value) for kind, value in peaks.items()},
        "embedder_gflops": round(reached),
        "precision": name,
        "share_of_peak": round(reached / peaks[name], 3),
        "tokens_per_passage": round(sum(counts) / len(counts)),
        "ms_per_passage": round(taken / len(texts) * 1_000, 1),
    }


def _matmul(kind: torch.dtype, size: int = 2_048) -> float:
    """The best GFLOP/s of ten products of square matrices."""
    left, right = (torch.randn(size, size).mul(32).to(kind) for _ in range(2))
    product = torch.matmul if kind.is_floating_point else torch._int_mm
    product(left, right)
    return 2 * size**3 / min(seconds(lambda: product(left, right)) for _ in range(10)) / 1e9


def _one_changed(corpus: EmbeddedCorpus) -> dict[str, float]:
    """What of an ingest that changes one document of a large index does not depend on the change, in seconds."""
    from ingest.structure.repeats import find_repeats, fingerprint
    from tools.bench.synthetic import recombine

    count = 10_000
    settings, parts = synthetic_index(corpus, count)
    texts = list(recombine(corpus.texts, count))
    return {
        "passages": count,
        **{f"write {name}": round(value, 2) for name, value in parts.items()},
        "find repeats": round(seconds(lambda: find_repeats([fingerprint(text) for text in texts])), 2),
        "seal and publish": round(publish_seconds(settings)[0], 2),
    }
