"""How a page marks a wrong claim, and the right one."""

import re

from rag.language.lexicon import either, told_by

LISTS_MISTAKES = told_by("corrections", "mistakes", re.IGNORECASE)
RIGHT = re.compile(rf"\*\*\s*{either('corrections', 'right')}[^*\n]{{0,4}}\*\*\s*[：:]?\s*", re.IGNORECASE)
HEARSAY = told_by("corrections", "hearsay", re.IGNORECASE)
COLON = r"(?:\*\*\s*[:：]|\s*[:：]\s*\*\*)\s*"
CORRECTED = re.compile(
    rf"(?P<wrong>.+?)\s*\*\*{either('corrections', 'right')}{COLON}(?P<right>.+)", re.DOTALL | re.IGNORECASE
)
# The words before a wrong claim: that it is wrong, and who says it.
BEFORE_WRONG = re.compile(
    rf"(?:\*\*{either('corrections', 'wrong')}{COLON})?(?:{either('corrections', 'hearsay')}\s*[:：]\s*)?",
    re.IGNORECASE,
)
