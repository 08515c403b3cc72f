"""What a message wants of the last answer beside its words: code, a formula, the usual mistakes, more, less, easier.

Buttons below an answer ask so, and so do readers: 写出来看看, 有什么坑, 展开讲讲, 说人话, say it shorter.
"""

import re
from enum import StrEnum

from rag.language.language import Language
from rag.language.terms import fold


class Intent(StrEnum):
    CODE = "code"
    FORMULA = "formula"
    MISTAKES = "mistakes"
    MORE = "more"
    SHORTER = "shorter"
    SIMPLER = "simpler"


# How the buttons below an answer ask.
MESSAGES = {
    Language.ZH: {Intent.MORE: "展开讲讲", Intent.CODE: "给我代码看看", Intent.MISTAKES: "有哪些常见错误？"},
    Language.EN: {
        Intent.MORE: "Go into more detail",
        Intent.CODE: "Show me the code",
        Intent.MISTAKES: "What are common mistakes?",
    },
}
# In this order: "写出代码" asks for code, "写出来看看" for whatever can be written down. All see the folded question.
PATTERNS = {
    Intent.CODE: re.compile(r"(?<!写)代码|手[写撕]|能跑|\b(?:pseudo-?code|code|snippet|implementation)\b"),
    Intent.MISTAKES: re.compile(
        r"常见(?:的)?(?:错误|误区|坑)|(?:有|哪)[些什么啥]*坑|容易[搞弄]?错|\b(?:mistakes?|pitfalls?)\b"
    ),
    Intent.FORMULA: re.compile(
        r"公式|式子|推导|伪代码|步骤|那?几步|[写列](?:一下|下来|出来|个|一遍)"
        r"|\b(?:formula|equation|derive|steps?|write it)\b"
    ),
    Intent.SHORTER: re.compile(
        r"短|精简|简洁|太长|[一两]句话|\b(?:shorter?|brief(?:ly|er)?|tl;?dr|summar(?:y|ize)|(?:one|two) sentences?)\b"
    ),
    Intent.SIMPLER: re.compile(
        r"简单|通俗|白话|直白|口语|形象|人话|比方|[没不]太?[听看]?[懂明]|太[难绕复抽专]"
        r"|\b(?:simpler?|simply|easier|plain|eli5|too hard)\b"
    ),
    Intent.MORE: re.compile(
        r"展开|深入|详细|具体[说讲]|继续|还有(?:呢|吗|什么)|多[说讲]"
        r"|\b(?:more|elaborate|go on|go deeper|in detail|expand)\b"
    ),
}


# Questions that code or a formula answers, though they ask for more than that form.
ANSWERED_BY = {
    Intent.CODE: re.compile(
        r"(?<!写)代码|手[写撕]|(?<!的)实现(?!的?(?:方式|方法|原理|思路|机制))|怎么写|能跑|写出来|写[一个段]|\b(?:code|implement|write|snippet)\b",
        re.IGNORECASE,
    ),
    Intent.FORMULA: re.compile(
        r"公式|推导|写出来|怎么算|咋算|表达式|式子|几步|\b(?:formula|derive|equation|write it|steps)\b", re.IGNORECASE
    ),
}


def answered_by(form: Intent, question: str) -> bool:
    """Whether code, or a formula, is what answers a question.

    >>> answered_by(Intent.CODE, "LoRA 怎么实现"), answered_by(Intent.FORMULA, "LoRA 怎么实现")
    (True, False)
    >>> answered_by(Intent.CODE, "LoRA 的作用和实现方式")  # the ways there are, in words
    False
    """
    return ANSWERED_BY[form].search(question) is not None


def intent_of(question: str) -> Intent | None:
    """The first of the intents that a message shows.

    >>> intent_of("写出代码看看"), intent_of("有什么坑"), intent_of("LoRA 的秩")
    (<Intent.CODE: 'code'>, <Intent.MISTAKES: 'mistakes'>, None)
    """
    folded = fold(question)
    return next((intent for intent, pattern in PATTERNS.items() if pattern.search(folded)), None)
