"""A question with two sides ("A 和 B 的区别", "A or B?") -> its sides, and the question put to each alone.

Recognised by the phrasing of such questions, whatever their subject.
"""

import re
from dataclasses import dataclass

from rag.language.language import has_chinese
from rag.language.lexicon import each, either, told_by
from rag.language.terms import CHINESE, same_place

# Longer stretches are clauses, not sides.
MAX_SIDE_CHARACTERS = 28
MAX_SIDES = 4
CLAUSE_END = "，。？！；：,;?!\n"
LATIN_WORD = r"[A-Za-z0-9.#_][A-Za-z0-9_.+#()*/-]*"
LATIN_RUN = rf"{LATIN_WORD}(?: {LATIN_WORD}){{0,2}}"
# Joins two sides if something else in the question compares.
JOINS = re.compile(rf"\s*{either('comparison', 'joins')}\s*")
# Compares by itself. A clause may end before it: 只量化一层，还是全量化
COMPARES = re.compile(rf"[，,]?\s*{either('comparison', 'compares')}\s*", re.IGNORECASE)
# 用 A 不用 B
CHOOSES = told_by("comparison", "chooses")
CUE = told_by("comparison", "cue")
# Words that limit a side, before it and after it.
BEFORE = re.compile(rf".*{either('comparison', 'before')}(?!于)\s*")
AFTER = re.compile(rf"\s*{either('comparison', 'after')}.*", re.DOTALL)
# "QDQ 跟 QOperator": of a clause that begins or ends in Latin letters these are the side.
LATIN_BEGIN = re.compile(
    rf"{LATIN_RUN}(?:\s*{either('comparison', 'of')}\s*{LATIN_WORD}|\s?{either('comparison', 'places')})?"
)
LATIN_END = re.compile(rf"(?<![A-Za-z0-9]){LATIN_RUN}$")
# "gptq awq 区别": two words of one script side by side, followed by Chinese. Chinese words have the same ending:
# 静态量化 动态量化.
SIDE_BY_SIDE = re.compile(
    rf"^\s*(?:({LATIN_WORD})[ /]+({LATIN_WORD})(?=\s+\S*{CHINESE})|({CHINESE}+({CHINESE}{{2}})) ({CHINESE}+\4)(?=\s))"
)
VERB = re.compile(rf"{either('comparison', 'verbs')}?\s*")
IN_ENGLISH = tuple(re.compile(pattern, re.IGNORECASE) for pattern in each("comparison", "sides"))
# In English "or" joins anything; alternative sides are short and at least one is a name.
NAME = re.compile(r"[A-Z].*[A-Z]|\d|_|[a-z]-[a-z]")
MAX_WORDS = 4


@dataclass(frozen=True, slots=True)
class Comparison:
    """The sides as the question writes them, and the question put to each of them alone."""

    sides: tuple[str, ...]
    questions: tuple[str, ...]


def compare(question: str) -> Comparison | None:
    """The sides of a question; None if it has fewer than two."""
    if has_chinese(question):
        plain = same_place(question)
        spans = _joined(plain, COMPARES) or _joined(plain, JOINS) or _side_by_side(plain)
        if not (CUE.search(plain) or COMPARES.search(plain) or _is_all(plain, spans)):
            return None
    else:
        spans = _english(question)
    texts = [question[start:end] for start, end in spans]
    if not 2 <= len(set(map(str.lower, texts))) == len(texts) <= MAX_SIDES:
        return None
    before, after = question[: spans[0][0]], question[spans[-1][1] :]
    return Comparison(tuple(texts), tuple(f"{before}{text}{after}".strip() for text in texts))


def _joined(question: str, joins: re.Pattern[str]) -> list[tuple[int, int]]:
    """The spans on both sides of the first joining word, and further enumerated ones: A、B 和 C."""
    for match in joins.finditer(question):
        if match.groupdict().get("instead") and not CHOOSES.search(question[: match.start()]):
            continue
        spans = [_left(question, match.start()), _right(question, match.end())]
        while all(_is_side(question, span) for span in spans):
            end = spans[-1][1]
            following = JOINS.match(question, end)
            if following is None or match[0].strip() != "、":
                return spans
            match = following
            spans.append(_right(question, match.end()))
            if not _is_side(question, spans[-1]):
                return spans[:-1]
    return []


def _left(question: str, end: int) -> tuple[int, int]:
    start = max((question.rfind(mark, 0, end) for mark in CLAUSE_END), default=-1) + 1
    clause = question[start:end]
    reached = BEFORE.match(clause)
    start += reached.end() if reached else len(clause) - len(clause.lstrip())
    latin = LATIN_END.search(question[start:end])
    if latin and re.match(r"[A-Za-z]", JOINED.sub("", question[end : end + 8]).strip()):
        start += latin.start()
    return start, end


def _right(question: str, start: int) -> tuple[int, int]:
    start += len(VERB.match(question[start:])[0])  # type: ignore[index]
    latin = LATIN_BEGIN.match(question, start)
    end = min((place for mark in CLAUSE_END if (place := question.find(mark, start)) >= 0), default=len(question))
    joined = JOINS.search(question, start, end)
    end = joined.start() if joined else end
    if latin and (len(latin[0]) > 1 or latin.end() == end):
        return start, min(latin.end(), end)
    return start, start + len(AFTER.sub("", question[start:end]).rstrip())


JOINED = re.compile(f"^(?:{COMPARES.pattern}|{JOINS.pattern})", re.IGNORECASE)


def _is_side(question: str, span: tuple[int, int]) -> bool:
    text = question[span[0] : span[1]]
    return len(text) <= MAX_SIDE_CHARACTERS and bool(re.search(rf"[A-Za-z0-9]|{CHINESE}{{2}}", text))


def _side_by_side(question: str) -> list[tuple[int, int]]:
    match = SIDE_BY_SIDE.match(question)
    return [match.span(1), match.span(2)] if match and match[1] else [match.span(3), match.span(5)] if match else []


def _is_all(question: str, spans: list[tuple[int, int]]) -> bool:
    """Whether the sides are everything: 静态 mask 和动态 mask."""
    return bool(spans) and not (question[: spans[0][0]] + question[spans[-1][1] :]).strip(" ?？。")


def _english(question: str) -> list[tuple[int, int]]:
    for pattern in IN_ENGLISH:
        match = pattern.search(question)
        if match is None:
            continue
        texts = (match["a"], match["b"])
        if all(len(text.split()) <= MAX_WORDS for text in texts) and any(NAME.search(text) for text in texts):
            return [match.span("a"), match.span("b")]
    return []
