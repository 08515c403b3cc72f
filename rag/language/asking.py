"""Asking words and their answers, and a message that asks several things -> what asks each of them.

The parts of a message are recognised by how people join questions, whatever their subject: a question mark in between,
or words that open another question. A part that leans on the one before ("它呢", "各自适合什么") joins it.

Asks about one subject are cut where people join what they ask: at a comma or an "and" wherever what stands before asks
by itself, at a mere gap only where what follows asks by itself, too: PagedAttention 解决什么问题 block size 设多大.
What does not ask, such as a situation, stays with what asks next; a later one may lack its subject.
"""

import re
from collections.abc import Iterator

from rag.language.language import Language, has_chinese, language_of
from rag.language.lexicon import either, told_by
from rag.language.pointing import part_points_back
from rag.language.terms import CHINESE, fold, same_place, simplified, terms

ASKS = told_by("asking", "asks", re.IGNORECASE)
ONLY_ASKS = told_by("asking", "only_asks")
ASKS_OF_A_SENTENCE = told_by("asking", "asks_of_a_sentence")
# Each kind of thing asked for, and the words of a sentence that gives it.
KINDS = tuple(
    (told_by("asking", asks), told_by("asking", holds))
    for asks, holds in (("when", "a_time"), ("how_much", "an_amount"), ("why", "a_cause"), ("where", "a_place"))
)
# Those whose answer is a figure; not one in a name such as GPT-4, 7B and 3D.
FIGURES = KINDS[:2]
NAME_WITH_FIGURES = re.compile(r"[a-z][\w.-]*\d[\w.-]*|\d[\d.]*[bd]\b|\]\([^)]*\)", re.IGNORECASE)
DEFINITION = told_by("asking", "what")
HEADING = re.compile(rf".*[?？][\s*]*$|{either('asking', 'heading')}", re.IGNORECASE)
# Marks of an English question that a bare name lacks.
ENGLISH_SENTENCE = re.compile(
    rf"{either('asking', 'only_asks', only=Language.EN)}|{either('asking', 'heading', only=Language.EN)}|[?]",
    re.IGNORECASE,
)


def asked_in(question: str, reader: Language | None = None) -> Language:
    """The language of a question. A bare name belongs to every language: it takes its reader's language, if known.

    >>> asked_in("kv cache", Language.ZH), asked_in("What is a KV cache", Language.ZH), asked_in("KV 缓存", Language.EN)
    (<Language.ZH: 'zh'>, <Language.EN: 'en'>, <Language.ZH: 'zh'>)
    """
    is_name = not ENGLISH_SENTENCE.search(question)
    return reader if reader is not None and is_name and not has_chinese(question) else language_of(question)


MAX_PARTS = 4
# Opens another question, in the middle of a message or after the end of one.
JOINED = re.compile(
    rf"[\s，,]*(?P<another>{either('parts', 'another')})|\s*[；;。？！!\n]+\s*|\?+(?:\s+|(?={CHINESE}|(?-i:[A-Z])))",
    re.IGNORECASE,
)
# A question that begins by asking lacks its subject: 为什么能外推.
BEGINS_ASKING = told_by("parts", "begins_asking", re.IGNORECASE)
# With fewer terms of its own a part says too little to be searched alone.
OWN_TERMS_OF_A_PART = 2


def gives_figure(question: str, sentence: str) -> bool:
    """Whether a question asks when or how much, and a sentence holds a time or an amount.

    >>> gives_figure("LoRA 的秩一般设多少", "秩从 8 起步"), gives_figure("秩设多少", "见 GPT-4 和 7B 的报告")
    (True, False)
    >>> gives_figure("这几种注意力有什么区别", "MQA 有 1 组键值。"), gives_figure("为什么几乎不掉点", "误差 3%")
    (False, False)
    """
    said = NAME_WITH_FIGURES.sub(" ", fold(sentence))
    return any(asks.search(fold(question)) and holds.search(said) for asks, holds in FIGURES)


def parts(question: str) -> tuple[str, ...]:
    """Each part's question, in order; none if the message asks one thing.

    >>> parts("GRPO 的优势怎么算？另外 LoRA 的秩一般设多少")
    ('GRPO 的优势怎么算', 'LoRA 的秩一般设多少')
    >>> parts("LoRA 和 QLoRA 有什么区别？它们各自适合什么场景？")
    ()
    """
    found: list[str] = []
    said = ""  # text without a question so far
    for clause, opened in _opened_clauses(question):
        said = _together(said, clause)
        if not ASKS.search(simplified(clause)):
            continue
        if found and not _stands_alone(said, opened=opened):
            found[-1] = _together(found[-1], said)
        else:
            found.append(said)
        said = ""
    return tuple(found) if not said and 2 <= len(found) <= MAX_PARTS else ()


def _opened_clauses(question: str) -> Iterator[tuple[str, bool]]:
    """The clauses, and whether each opens another question."""
    start, opened = 0, False
    for match in JOINED.finditer(same_place(question)):
        if clause := question[start : match.start()].strip():
            yield clause, opened
            opened = False
        opened = opened or match["another"] is not None
        start = match.end()
    if clause := question[start:].strip():
        yield clause, opened


def _together(first: str, second: str) -> str:
    gap = "，" if has_chinese(first + second) else ", "
    return f"{first}{gap}{second}" if first and second else first or second


def _stands_alone(part: str, *, opened: bool) -> bool:
    if part_points_back(part) or (BEGINS_ASKING.match(simplified(part)) and not opened):
        return False
    return len(set(terms(ASKS.sub(" ", simplified(part))))) >= OWN_TERMS_OF_A_PART


def names_its_subject(part: str) -> bool:
    """Whether one of several parts says enough to be asked without those before it.

    >>> names_its_subject("公式是什么"), names_its_subject("RoBERTa 的动态遮盖比静态的好多少")
    (False, True)
    """
    return _own_terms(part) >= OWN_TERMS_OF_A_SUBJECT


MAX_ASKS = 4
# In characters. A longer message, such as a pasted text, is read whole.
LONGEST = 500
CUTS = re.compile(rf"{JOINED.pattern}|\s*[，,、：:]\s*|\s*{either('parts', 'also')}\s*", re.IGNORECASE)
GAP = re.compile(rf"(?<={CHINESE})\s+|\s+(?={CHINESE})")
# Asks without an asking word: HNSW 原理; is it still used.
NAMES_WHAT = re.compile(rf"{either('asking', 'names_what')}[\s?？]*$", re.IGNORECASE)
BEGINS_AN_ASK = told_by("asking", "begins_an_ask", re.IGNORECASE)
# What others are said to ask, a title, or what is said beside, asks nothing.
ASIDE = re.compile(r"“[^”]*”|\"[^\"]*\"|「[^」]*」|《[^》]*》|（[^）]*）|\([^)]*\)")
# With fewer terms beside those that ask, what stands before a gap does not ask by itself.
OWN_TERMS = 2
# With fewer, a part is asked about the subject of those before it: 公式是什么, what are the trade-offs.
OWN_TERMS_OF_A_SUBJECT = 4
ENDS = " ，,、。？?；;：:！!\n"


def asks(question: str) -> tuple[str, ...]:
    """What asks each of several things, in order; none if the message asks one thing.

    >>> asks("SwiGLU 怎么算的 参数量怎么对齐原来的 FFN")
    ('SwiGLU 怎么算的', '参数量怎么对齐原来的 FFN')
    >>> asks("训练到一半 loss 飞了，先查什么，要不要回滚")
    ('训练到一半 loss 飞了，先查什么', '要不要回滚')
    >>> asks("为什么 attention 要除以根号 d")
    ()
    """
    if len(question) > LONGEST:
        return ()
    found: list[slice] = []
    begins: int | None = None  # where what has not asked so far begins
    for clause in _clauses(question):
        begins = clause.start if begins is None else begins
        said = slice(begins, clause.stop)
        if _asks(question[said]):
            found.append(said)
            begins = None
    if begins is not None and found:
        found[-1] = slice(found[-1].start, len(question))
    return tuple(question[said].strip(ENDS) for said in found) if 2 <= len(found) <= MAX_ASKS else ()


def _clauses(question: str) -> Iterator[slice]:
    """Where the clauses stand that may ask."""
    text = same_place(question)
    asides = [match.span() for match in ASIDE.finditer(text)]
    start = 0
    for match in CUTS.finditer(text):
        if not any(first < match.start() < end for first, end in asides):
            yield from _at_gaps(question, start, match.start())
            start = match.end()
    yield from _at_gaps(question, start, len(question))


def _at_gaps(question: str, start: int, end: int) -> Iterator[slice]:
    """A clause, cut at gaps between what asks by itself."""
    for gap in GAP.finditer(question, start, end):
        before = question[start : gap.start()]
        if _asks(before) and _own_terms(before) >= OWN_TERMS and _asks(question[gap.end() : end]):
            yield slice(start, gap.start())
            start = gap.end()
    if question[start:end].strip():
        yield slice(start, end)


def _asks(text: str) -> bool:
    said = ASIDE.sub(" ", fold(text)).strip()
    return bool(ASKS.search(said) or NAMES_WHAT.search(said) or BEGINS_AN_ASK.match(said))


def _own_terms(text: str) -> int:
    """How many terms do not only ask."""
    named = terms(ONLY_ASKS.sub(" ", ASKS.sub(" ", fold(text))))
    return len({term for term in named if len(term) > 1})
