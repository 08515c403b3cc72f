"""What every room beside the chat says, in both languages."""

import string
from dataclasses import fields
from typing import Any

import pytest

from rag.ui.guide import texts as guide_texts
from rag.ui.inspector import texts as inspector_texts
from rag.ui.library import texts as library_texts
from rag.ui.practice import texts as practice_texts
from rag.ui.preferences import texts as preferences_texts
from rag.ui.quality import texts as quality_texts
from rag.ui.texts import Language

ROOMS = (guide_texts, inspector_texts, library_texts, practice_texts, preferences_texts, quality_texts)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("module", ROOMS, ids=lambda module: module.__name__)
def test_both_languages_say_the_same_things(module: Any) -> None:
    chinese, english = module.TEXTS[Language.ZH], module.TEXTS[Language.EN]
    for field in fields(chinese):
        ours, theirs = getattr(chinese, field.name), getattr(english, field.name)
        assert ours
        assert theirs
        assert placeholders(ours) == placeholders(theirs), field.name
        assert not any("\u3400" <= character <= "\u9fff" for character in theirs), field.name
