"""Notices when a chat model goes wrong while it writes: it repeats itself, or answers in another language."""

import re
from collections import Counter

from rag.errors import ChatModelError, ChatModelProblem
from rag.language.ends import INLINE_VERBATIM, SENTENCE_OF_A_STREAM
from rag.language.terms import CHINESE_RUN
from rag.text.markdown import prose_of

# How often a sentence may occur in an answer, and how long it must be to count.
MOST_REPEATS = 3
SENTENCE_CHARACTERS = 8
# Repetition without sentence ends: this many last characters of the text are one piece over and over.
LOOP_CHARACTERS = 120
LONGEST_PIECE = 40
MOST_CHARACTERS = 20_000
# Characters and words from which the language of a text is plain, and below which they say nothing.
PLAIN = 60
TOO_FEW = 8
WORD = re.compile(r"[A-Za-z]{2,}")
HINT = "ask again, or choose another chat model"


class Watch:
    """Watches the text of one reply as it comes. Raises ChatModelError."""

    def __init__(self, question: str) -> None:
        self._chinese = bool(re.search(CHINESE_RUN, question))
        self._text = ""
        self._sentence = ""
        self._seen: Counter[str] = Counter()
        self._language_is_plain = False

    def see(self, text: str) -> None:
        self._text += text
        self._sentence += text
        ended = SENTENCE_OF_A_STREAM.findall(self._sentence)
        self._sentence = self._sentence[sum(map(len, ended)) :]
        for sentence in ended:
            key = "".join(filter(str.isalnum, sentence))
            self._seen[key] += len(key) >= SENTENCE_CHARACTERS
            if self._seen[key] > MOST_REPEATS:
                raise _loops(f"the chat model repeats itself: {sentence.strip()[:60]!r}")
        if _goes_round(self._text):
            raise _loops(f"the chat model repeats itself: {self._text[-LONGEST_PIECE:]!r}")
        if len(self._text) > MOST_CHARACTERS:
            raise _loops("the chat model's answer does not end")
        if not self._language_is_plain:
            self._check_language(PLAIN)

    def end(self) -> None:
        if not self._text.strip():
            raise ChatModelError(
                "the chat model's answer is empty",
                hint="check the endpoint and its model name",
                problem=ChatModelProblem.BROKEN,
            )
        self._check_language(TOO_FEW)

    def _check_language(self, enough: int) -> None:
        prose = INLINE_VERBATIM.sub(" ", prose_of(self._text))
        chinese = sum(map(len, re.findall(CHINESE_RUN, prose)))
        words = len(WORD.findall(prose))
        if chinese + words < enough:
            return
        # Chinese text on this subject is full of English terms; a Chinese term in English text is an exception.
        if (not chinese) if self._chinese else chinese > 2 * words:
            wanted, found = ("Chinese", "another language") if self._chinese else ("English", "Chinese")
            raise ChatModelError(
                f"the chat model answered in {found} instead of {wanted}",
                hint=HINT,
                problem=ChatModelProblem.LANGUAGE,
            )
        self._language_is_plain = True


def _loops(message: str) -> ChatModelError:
    return ChatModelError(message, hint=HINT, problem=ChatModelProblem.LOOPS)


def _goes_round(text: str) -> bool:
    """Whether the text ends with one piece over and over."""
    tail = text[-LOOP_CHARACTERS:]
    if len(tail) < LOOP_CHARACTERS:
        return False
    return any(
        tail[size:] == tail[:-size] and any(map(str.isalnum, tail[:size])) for size in range(1, LONGEST_PIECE + 1)
    )
