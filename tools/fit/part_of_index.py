"""A part of an index as an index of its own, as an ingest of those documents alone would make it, without embedding
anything again: a duplicate of a removed passage inherits its vectors."""

from collections.abc import Container
from dataclasses import replace
from pathlib import Path

from rag.index.generation import KEYWORDS, STORAGE_FILE, TOKENS, DiskIndex, load_generation
from rag.index.keywords import KeywordIndex
from rag.index.storage import StoredDocument, write_storage
from rag.index.tokens import save_tokens
from rag.index.vectors import save_vectors
from rag.language.terms import terms


def part_of(index: DiskIndex, dropped: Container[str], folder: Path) -> DiskIndex:
    """The index without the documents of these names, written to an empty folder, which must outlive it."""
    documents: list[StoredDocument] = []
    numbers: dict[int, int] = {}
    texts: list[str] = []
    for document in index.storage.documents(with_passages=True):
        if document.name in dropped:
            continue
        passages = []
        for passage in document.passages:
            old = passage.number if passage.number is not None else passage.same_as
            assert old is not None
            repeats = old in numbers
            new = numbers.setdefault(old, len(numbers))
            # What repeats a dropped passage takes its place.
            passages.append(replace(passage, number=None if repeats else new, same_as=new if repeats else None))
            if not repeats:
                texts.append(passage.embedded_text)
        documents.append(replace(document, passages=tuple(passages)))
    write_storage(folder / STORAGE_FILE, documents)
    save_vectors(index.vectors.rows(list(numbers)), folder)
    KeywordIndex.build(map(terms, texts)).save(folder / KEYWORDS)
    if index.tokens is not None:
        tokens = [index.tokens.passage(number) for number in numbers]
        save_tokens(index.tokens.codec, tokens, folder / TOKENS)
    return load_generation(folder, index.manifest)
