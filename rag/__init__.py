"""Question -> answer. These names are the public ones; each is imported on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag.answer.assistant import Assistant
    from rag.answer.chain import PassageRetriever, answer_runnable
    from rag.embedding import load_embedder
    from rag.errors import RagError
    from rag.index import open_index
    from rag.settings import Settings, load_settings
    from rag.types import Answer, Citation, Claim, Hit, Passage, Turn

_HOMES = {
    "Answer": "rag.types",
    "Assistant": "rag.answer.assistant",
    "Citation": "rag.types",
    "Claim": "rag.types",
    "Hit": "rag.types",
    "Passage": "rag.types",
    "PassageRetriever": "rag.answer.chain",
    "RagError": "rag.errors",
    "Settings": "rag.settings",
    "Turn": "rag.types",
    "answer_runnable": "rag.answer.chain",
    "load_embedder": "rag.embedding",
    "load_settings": "rag.settings",
    "open_index": "rag.index",
}

__all__ = [
    "Answer",
    "Assistant",
    "Citation",
    "Claim",
    "Hit",
    "Passage",
    "PassageRetriever",
    "RagError",
    "Settings",
    "Turn",
    "answer_runnable",
    "load_embedder",
    "load_settings",
    "open_index",
]


def __getattr__(name: str) -> Any:
    # `python -m rag --help` must not wait for torch and langchain.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'rag' has no attribute {name!r}")
