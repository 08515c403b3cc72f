"""A follow-up question -> a question that stands alone, by rules that need no chat model."""

import re
from collections.abc import Sequence

from rag.analysis import fold
from rag.types import Turn

# A question that begins or ends like this leans on what was said before.
LEANS = re.compile(
    r"^(那么?|那它|它|他们|它们|这个|这种|这|该|上面|前面|刚才|第[一二三四五六七八九十\d]+[点条个步]|再|还有|继续|展开|详细|具体|举个?例|为什么[?？]?$|and\b|what about|how about|why[?？]?$|it\b|its\b|that\b|this\b|those\b|the (first|second|third|last|former|latter)\b)"
    r"|(呢|的呢|展开说说?|详细说说?|举个例子)[?？。]?$"
)
# A question this short names no subject of its own (folded characters, Latin words count as one).
SHORT = 6


def standalone(question: str, history: Sequence[Turn]) -> str:
    """The question with the last question it leans on in front; unchanged where it stands on its own."""
    earlier = [turn.text.strip() for turn in history if turn.role == "user" and turn.text.strip()]
    if not earlier or not leans_on_history(question):
        return question
    subject = next((text for text in reversed(earlier) if not leans_on_history(text)), earlier[-1])
    return f"{subject.rstrip('?？。 ')} {question}"


def leans_on_history(question: str) -> bool:
    folded = fold(question).strip()
    units = re.findall(r"[a-z0-9][\w.+-]*|[\u3400-\u9fff]", folded)
    return bool(LEANS.search(folded)) or (len(units) <= SHORT and not re.search(r"[a-z0-9]{2,}", folded))
