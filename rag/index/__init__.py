"""The index on disk: one immutable, verified generation after another."""

from rag.index.generation import DiskIndex, current_generation, open_index
from rag.index.manifest import Manifest
from rag.index.store import Index

__all__ = ["DiskIndex", "Index", "Manifest", "current_generation", "open_index"]
