"""The small index of the tests of rag, for the tools that ask it."""

from tests.rag.conftest import assistant, library, library_index, own_library

__all__ = ["assistant", "library", "library_index", "own_library"]
