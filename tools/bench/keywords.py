"""Ways of keyword search over the same terms: milliseconds, building, memory, and whether the best ten agree."""

import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rag.index.keywords import K1, B, KeywordIndex
from rag.language.terms import terms
from rag.search.retrieval import search_keyword
from tools.bench.embedded_corpus import EmbeddedCorpus
from tools.bench.measuring import in_fresh_process, milliseconds, resident_megabytes, seconds, spread, table
from tools.bench.synthetic import recombine

QUERIES = 60
RESULTS = 10
# rank_bm25 keeps a dict for every passage and reads all of them for every term.
MOST_OF_RANK_BM25 = 10_000
LIBRARIES = {
    "bm25s numpy": ["bm25s"],
    "bm25s numba": ["bm25s", "numba"],
    "tantivy": ["tantivy"],
    "rank_bm25": ["rank_bm25"],
}

Search = Callable[[list[str]], list[int]]


def measure(corpus: EmbeddedCorpus, *, quick: bool) -> dict[str, Any]:
    queries = [list(terms(question)) for question in corpus.questions[:QUERIES]]
    rows = []
    for count in (2_000, 10_000) if quick else (10_000, 100_000):
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "terms.txt"
            with file.open("w", encoding="utf-8") as stream:
                for text in recombine(corpus.texts, count):
                    stream.write(" ".join(terms.__wrapped__(text)) + "\n")
            reference: list[list[int]] = []
            for way in WAYS:
                if way != "rank_bm25" or count <= MOST_OF_RANK_BM25:
                    row, best = in_fresh_process(_run, way, file, queries)
                    reference = reference or best  # ours comes first
                    agreeing = [len(set(a) & set(b)) / max(len(b), 1) for a, b in zip(best, reference, strict=True)]
                    same = round(float(np.mean(agreeing)), 3)
                    rows.append({"passages": count, "way": way, **row, "best 10 shared with ours": same})
    return {"rows": rows, "settings": {"k1": K1, "b": B, "queries": len(queries), "terms": "rag.language.terms.terms"}}


def show(result: dict[str, Any]) -> str:
    return table(result["rows"])


def _run(way: str, file: Path, queries: list[list[str]]) -> tuple[dict[str, Any], list[list[int]]]:
    """Build, open and ask one way. "MB" is what an opened index and its queries take; building is done apart."""
    load = WAYS[way][1]
    target = file.with_name(way.replace(" ", "-"))
    built = in_fresh_process(_built, way, file, target)
    for library in LIBRARIES.get(way, ()):  # which are not the memory of an index
        import_module(library)
    before = resident_megabytes()
    started = time.perf_counter()
    search = load(target, file)
    opened = time.perf_counter() - started
    times = milliseconds(search, queries)
    row = {
        "build s": round(built, 2),
        "open s": round(opened, 2),
        "query ms p50 / p95": spread(times),
        "MB": round(resident_megabytes() - before),
    }
    return row, [search(query) for query in queries]


def _built(way: str, file: Path, target: Path) -> float:
    return seconds(lambda: WAYS[way][0](file, target))


def _lists(file: Path) -> list[list[str]]:
    return [line.split() for line in file.read_text(encoding="utf-8").splitlines()]


def _build_ours(file: Path, target: Path) -> None:
    with file.open(encoding="utf-8") as stream:
        KeywordIndex.build(line.split() for line in stream).save(target)


def _load_ours(target: Path, file: Path) -> Search:
    index = KeywordIndex.load(target)
    return lambda query: search_keyword(index.match(query), RESULTS).numbers.tolist()


def _build_bm25s(file: Path, target: Path) -> None:
    import bm25s

    retriever = bm25s.BM25(method="lucene", k1=K1, b=B)
    retriever.index(_lists(file), show_progress=False)
    retriever.save(target)


def _load_bm25s(backend: str) -> Callable[[Path, Path], Search]:
    def load(target: Path, file: Path) -> Search:
        import bm25s

        retriever = bm25s.BM25.load(target)
        retriever.backend = backend
        if backend == "numba":
            retriever.activate_numba_scorer()

        def search(query: list[str]) -> list[int]:
            known = [term for term in query if term in retriever.vocab_dict]
            found = retriever.retrieve([known], k=RESULTS, show_progress=False, n_threads=0)
            return [int(n) for n, score in zip(found.documents[0], found.scores[0], strict=True) if score > 0]

        return search

    return load


def _hexed(words: Sequence[str]) -> str:
    """Terms as words that no tokenizer takes apart."""
    return " ".join("t" + word.encode().hex() for word in words)


def _build_fts5(file: Path, target: Path) -> None:
    connection = sqlite3.connect(target)
    connection.execute("CREATE VIRTUAL TABLE passages USING fts5(terms, content='')")
    rows = ((number, _hexed(words)) for number, words in enumerate(_lists(file)))
    connection.executemany("INSERT INTO passages (rowid, terms) VALUES (?, ?)", rows)
    connection.execute("INSERT INTO passages (passages) VALUES ('optimize')")
    connection.commit()
    connection.close()


def _load_fts5(target: Path, file: Path) -> Search:
    connection = sqlite3.connect(target)
    statement = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank, rowid LIMIT ?"

    def search(query: list[str]) -> list[int]:
        match = _hexed(list(dict.fromkeys(query))).replace(" ", " OR ")
        return [row[0] for row in connection.execute(statement, (match, RESULTS))] if match else []

    return search


def _build_tantivy(file: Path, target: Path) -> None:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    schema.add_text_field("number", stored=True, tokenizer_name="raw")
    target.mkdir()
    index = tantivy.Index(schema.build(), str(target))
    writer = index.writer(num_threads=1)
    for number, words in enumerate(_lists(file)):
        writer.add_document(tantivy.Document(terms=[_hexed(words)], number=str(number)))
    writer.commit()
    writer.wait_merging_threads()


def _load_tantivy(target: Path, file: Path) -> Search:
    import tantivy

    index = tantivy.Index.open(str(target))
    searcher = index.searcher()

    def search(query: list[str]) -> list[int]:
        found = searcher.search(index.parse_query(_hexed(query), ["terms"]), RESULTS) if query else None
        return [int(searcher.doc(address)["number"][0]) for _, address in found.hits] if found else []

    return search


def _build_rank_bm25(file: Path, target: Path) -> None:
    """It has no file: what is built when it is opened is built here only for the time it takes."""
    _load_rank_bm25(target, file)


def _load_rank_bm25(target: Path, file: Path) -> Search:
    from rank_bm25 import BM25Okapi

    index = BM25Okapi(_lists(file), k1=K1, b=B)

    def search(query: list[str]) -> list[int]:
        best: list[int] = np.argsort(-index.get_scores(query), kind="stable")[:RESULTS].tolist()
        return best

    return search


WAYS: dict[str, tuple[Callable[[Path, Path], None], Callable[[Path, Path], Search]]] = {
    "ours": (_build_ours, _load_ours),
    "bm25s numpy": (_build_bm25s, _load_bm25s("numpy")),
    "bm25s numba": (_build_bm25s, _load_bm25s("numba")),
    "SQLite FTS5": (_build_fts5, _load_fts5),
    "tantivy": (_build_tantivy, _load_tantivy),
    "rank_bm25": (_build_rank_bm25, _load_rank_bm25),
}
