"""A question with two sides ("A 和 B 的区别", "A or B?") -> its sides, and the question asked of each alone.

Recognised by how such questions are phrased, whatever their subject.
"""

import re
from dataclasses import dataclass

# Longer stretches are clauses, not sides.
MAX_SIDE_CHARACTERS = 28
MAX_SIDES = 4
CLAUSE_END = "，。？！；：,;?!\n"
LATIN_WORD = r"[A-Za-z0-9.#_][\w.+#()*/-]*"
LATIN_RUN = rf"{LATIN_WORD}(?: {LATIN_WORD}){{0,2}}"
CHINESE = r"\u3400-\u9fff"
# What joins two sides, where something else in the question compares.
JOINS = re.compile(r"\s*(?:以及|和|与|與|跟|及|、)\s*")
# What compares by itself. A clause may end before it: 只量化一层，还是全量化
COMPARES = re.compile(
    r"[，,]?\s*(?:还是|還是|而不是|(?P<instead>而?不[用选選])|相比(?:于|起)?|\b(?:vs\.?|versus)(?![\w.]))\s*",
    re.IGNORECASE,
)
# 用 A 不用 B
CHOOSES = re.compile("(?<!不)[用选選]")
CUE = re.compile(
    r"区别|區別|[差之]别|差別|差异|差異|不同|异同|不一?样|一样|一回事|对比|對比|比较|比較|差在|差多少|差哪"
    r"|分别|分別|各|哪[个個种種边邊一]|谁更|誰更|[怎咋]么?[选選分]|分工|优缺点|优劣|取舍",
)
# What a side does not reach over, before it and after it.
BEFORE = re.compile(
    r".*(?:为什么|为啥|為什麼|凭什么|凭啥|干嘛|到底|究竟|请问|說說|说说|讲讲|比较|對比|对比|一下|[用选選按在把是拿有])(?!于)\s*"
)
AFTER = re.compile(
    r"\s*(?:的|之间|之間|两者|两种|两个|二者|有|差|区|區|在|分别|分別|各|哪|怎|咋|啥|什么|什麼|谁|誰|是|到底|本质"
    r"|能|会|會|可以|应该|應該|一样|不一?[样同]|先|要|用|多|为|為|凭|每|更|都|比|如何|来|对于|吗|嗎|呢|啊|好|快).*",
    re.DOTALL,
)
# "QDQ 跟 QOperator": of a clause that begins or ends in Latin letters these are the side.
LATIN_BEGIN = re.compile(rf"{LATIN_RUN}(?:\s*的\s*{LATIN_WORD}|\s?[下时時里裡上中])?")
LATIN_END = re.compile(rf"(?<![A-Za-z0-9]){LATIN_RUN}$")
# "gptq awq 区别": two words of one script side by side, and then something Chinese. Chinese ones end alike: 静态量化
# 动态量化.
SIDE_BY_SIDE = re.compile(
    rf"^\s*(?:({LATIN_WORD})[ /]+({LATIN_WORD})(?=\s+\S*[{CHINESE}])"
    rf"|([{CHINESE}]+([{CHINESE}]{{2}})) ([{CHINESE}]+\4)(?=\s))"
)

END = (
    r"(?=\s*(?:[,;:?.!](?:\s|$)|$)"
    r"|\s+(?:in|for|when|during|on|at|to|of|while|if|as|is|are|do|does|better|faster|work|and)\b)"
)
A = r"(?:the |an? |using )?(?P<a>[^,;?!]{1,40}?)"
B = rf"(?:the |an? |using )?(?P<b>[^,;?!]{{1,40}}?){END}"
ENGLISH = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:differences?|distinguish|distinction|trade-?offs?|comparison|choose|choosing) between {A} and {B}",
        rf"\bcompar(?:e|ing) {A} (?:and|with|to|against) {B}",
        rf"\bhow (?:do|does|is|are|did) {A} (?:differ(?:ent)? from|compared? (?:to|with)) {B}",
        rf"\bhow (?:do|are) {A} and {B}(?= (?:differ|compare|related))",
        rf"\b(?:use|used|using|prefer|choose|pick|need|take|in) {A} (?:instead of|rather than|and not|over) {B}",
        rf"^why {A} (?:instead of|rather than|and not|over) {B}",
        rf"\b(?:use|choose|pick|prefer|better|faster|cheaper|with|between|want|try),?:? {A} or {B}",
        rf", {A} or {B}",
        rf"^(?:is |are )?{A} or {B}",
        rf"^{A} (?:vs\.?|versus) {B}",
    )
)
# In English "or" joins anything; sides that are chosen between are short and at least one is a name.
NAME = re.compile(r"[A-Z].*[A-Z]|\d|_|[a-z]-[a-z]")
MAX_WORDS = 4


@dataclass(frozen=True, slots=True)
class Comparison:
    """The sides as the question writes them, and the question put to each of them alone."""

    sides: tuple[str, ...]
    questions: tuple[str, ...]


def compare(question: str) -> Comparison | None:
    """The sides of a question, None where it has not at least two."""
    if re.search(rf"[{CHINESE}]", question):
        spans = _joined(question, COMPARES)
        spans = spans or _joined(question, JOINS) or _side_by_side(question)
        if not (CUE.search(question) or COMPARES.search(question) or _is_all(question, spans)):
            return None
    else:
        spans = _english(question)
    texts = [question[start:end] for start, end in spans]
    if not 2 <= len(set(map(str.lower, texts))) == len(texts) <= MAX_SIDES:
        return None
    before, after = question[: spans[0][0]], question[spans[-1][1] :]
    return Comparison(tuple(texts), tuple(f"{before}{text}{after}".strip() for text in texts))


def _joined(question: str, joins: re.Pattern[str]) -> list[tuple[int, int]]:
    """The spans on both sides of the first word that joins two, and those enumerated further: A、B 和 C."""
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
    start += len(re.match(r"[用选按在]?\s*", question[start:])[0])  # type: ignore[index]
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
    return len(text) <= MAX_SIDE_CHARACTERS and bool(re.search(rf"[A-Za-z0-9]|[{CHINESE}]{{2}}", text))


def _side_by_side(question: str) -> list[tuple[int, int]]:
    match = SIDE_BY_SIDE.match(question)
    return [match.span(1), match.span(2)] if match and match[1] else [match.span(3), match.span(5)] if match else []


def _is_all(question: str, spans: list[tuple[int, int]]) -> bool:
    """Whether the sides are all there is: 静态 mask 和动态 mask."""
    return bool(spans) and not (question[: spans[0][0]] + question[spans[-1][1] :]).strip(" ?？。")


def _english(question: str) -> list[tuple[int, int]]:
    for pattern in ENGLISH:
        match = pattern.search(question)
        if match is None:
            continue
        texts = (match["a"], match["b"])
        if all(len(text.split()) <= MAX_WORDS for text in texts) and any(NAME.search(text) for text in texts):
            return [match.span("a"), match.span("b")]
    return []
