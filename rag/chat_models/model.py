"""A chat model, as the pipeline sees it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.settings import ChatModelName

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# Evidence that a model may get, in its own tokens.
EVIDENCE_TOKENS = 2_000


@dataclass(frozen=True, slots=True)
class ChatModel:
    """An opened chat model. `name` is its kind, `model_name` its own name.

    `is_small` says that it needs a shorter prompt and help; `evidence_tokens` limits its evidence, in its own tokens;
    `is_ready` tells whether it can begin at once.
    """

    name: ChatModelName
    model_name: str
    model: "BaseChatModel"
    evidence_tokens: int = EVIDENCE_TOKENS
    is_small: bool = False
    is_ready: Callable[[], bool] = lambda: True
