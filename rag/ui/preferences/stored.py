"""A reader's choices as the browser stores them. Values read back are checked: anyone can change them."""

from collections.abc import Mapping
from typing import Any

from annotated_types import Ge, Le

from rag.answer.choices import Caution, Choices, StyleName
from rag.settings import ChatModelName, Settings
from rag.ui.browser_input import member_of
from rag.ui.texts import Language

# The key in the browser's local storage.
KEY = "interview-rag.preferences"


def limits(setting: str) -> tuple[int, int]:
    """The least and the greatest value of a numeric setting."""
    found = {type(limit): limit for limit in Settings.model_fields[setting].metadata}
    return int(str(found[Ge].ge)), int(str(found[Le].le))


def to_store(choices: Choices, language: Language | None) -> dict[str, Any]:
    return {
        "llm": str(choices.llm or ChatModelName.AUTO),
        "style": str(choices.style),
        "caution": str(choices.caution),
        "only_supported": choices.only_supported,
        "top_k": choices.top_k,
        "language": str(language or ""),
    }


def from_store(stored: object) -> tuple[Choices, Language | None]:
    """The stored choices and language. Invalid values count as not chosen."""
    kept: Mapping[str, object] = stored if isinstance(stored, dict) else {}
    llm = member_of(ChatModelName, kept.get("llm"))
    return (
        Choices(
            llm=None if llm in (None, ChatModelName.AUTO) else llm,
            style=member_of(StyleName, kept.get("style")) or StyleName.STANDARD,
            caution=member_of(Caution, kept.get("caution")) or Caution.BALANCED,
            only_supported=kept.get("only_supported") is not False,
            top_k=_top_k(kept.get("top_k")),
        ),
        member_of(Language, kept.get("language")),
    )


def _top_k(value: object) -> int | None:
    least, greatest = limits("top_k")
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= greatest:
        return None
    return int(value)
