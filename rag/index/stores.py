"""The store that the settings name."""

from dataclasses import dataclass
from pathlib import Path

from rag.index.generation import DiskIndex, current_generation, open_index, reopen
from rag.index.store import Index, Store
from rag.settings import Settings, StoreName


@dataclass(frozen=True, slots=True)
class EmbeddedStore:
    """Generations in a folder: FAISS and SQLite."""

    folder: Path

    def is_there(self) -> bool:
        return current_generation(self.folder) is not None

    def open(self, *, embedder: str | None = None) -> Index:
        return open_index(self.folder, embedder=embedder)

    def reopen(self, index: Index) -> Index:
        assert isinstance(index, DiskIndex)
        return reopen(self.folder, index)


def open_store(settings: Settings) -> Store:
    if settings.store is StoreName.MILVUS:
        from rag.index.milvus.store import MilvusStore

        return MilvusStore(settings)
    return EmbeddedStore(settings.index)
