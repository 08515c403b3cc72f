"""The strings of the practice room, in Chinese and English."""

from rag.ui.practice.texts.chinese import CHINESE
from rag.ui.practice.texts.english import ENGLISH
from rag.ui.practice.texts.fields import PracticeTexts
from rag.ui.texts import Language

__all__ = ["TEXTS", "PracticeTexts"]

TEXTS = {Language.ZH: CHINESE, Language.EN: ENGLISH}
