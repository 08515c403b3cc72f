"""The language of a text, as far as answers and the page distinguish."""

import re
from enum import StrEnum

from rag.language.terms import CHINESE_RUN


class Language(StrEnum):
    ZH = "zh"
    EN = "en"


def has_chinese(text: str) -> bool:
    return bool(re.search(CHINESE_RUN, text))


def language_of(question: str) -> Language:
    """The language of an answer: that of its question."""
    return Language.ZH if has_chinese(question) else Language.EN
