"""Messages to a chatbot that do not ask about its material: greetings, thanks, what it can do, "quiz me"."""

import re

from rag.language.lexicon import told_by
from rag.language.terms import fold
from rag.types import Courtesy

# Each must match the whole message, so that a question with a polite beginning stays a question.
PATTERNS = {kind: told_by("courtesies", kind) for kind in Courtesy}
PUNCTUATION = re.compile(r"[\s,.!?;:~、，。！？；：～…\"'“”‘’()（）]+")
EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]+")
# A longer message asks for something.
LONGEST = 40


def courtesy(question: str) -> Courtesy | None:
    """Which courtesy a message is; None for a question.

    >>> courtesy("谢谢！"), courtesy("What can you do?"), courtesy("你好，LoRA 是什么")
    (<Courtesy.THANKS: 'thanks'>, <Courtesy.ABILITIES: 'abilities'>, None)
    """
    folded = PUNCTUATION.sub(" ", EMOJI.sub(" ", fold(question))).strip()
    if len(folded) > LONGEST:
        return None
    if not folded:
        return Courtesy.GREETING if question.strip() and not any(map(str.isalnum, question)) else None
    parts = [folded, folded.replace(" ", "")]
    for kind, pattern in PATTERNS.items():
        if any(pattern.fullmatch(part) for part in parts):
            return kind
    # "hi, what can you do": every part by itself.
    kinds = [courtesy(part) for part in folded.split(" ")] if " " in folded and not folded.isascii() else []
    return kinds[-1] if kinds and all(kinds) else None
