"""The index on disk: one immutable, verified generation after another."""

from rag.index.generation import Index, Manifest, current_generation, open_index

__all__ = ["Index", "Manifest", "current_generation", "open_index"]
