"""What asks, and what it asks for."""

import re

from rag.language.lexicon import either, told_by

ASKS = told_by("asking", "asks", re.IGNORECASE)
ONLY_ASKS = told_by("asking", "only_asks")
ASKS_OF_A_SENTENCE = told_by("asking", "asks_of_a_sentence")
# What is asked for, and what a sentence that gives it holds.
KINDS = tuple(
    (told_by("asking", asks), told_by("asking", holds))
    for asks, holds in (("when", "a_time"), ("how_much", "an_amount"), ("why", "a_cause"), ("where", "a_place"))
)
DEFINITION = told_by("asking", "what")
HEADING = re.compile(rf".*[?？][\s*]*$|{either('asking', 'heading')}", re.IGNORECASE)
