"""Pinned models: their list, how to fetch them and find them on disk. Importing this loads nothing heavy."""

from rag.models.fetch import Progress, fetch
from rag.models.pinned import MODELS, Form, PinnedModel, WheelMember
from rag.models.store import ModelState, ModelStatus, list_models, locate, verify

__all__ = [
    "MODELS",
    "Form",
    "ModelState",
    "ModelStatus",
    "PinnedModel",
    "Progress",
    "WheelMember",
    "fetch",
    "list_models",
    "locate",
    "verify",
]
