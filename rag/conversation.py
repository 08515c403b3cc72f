"""A follow-up question -> a question that stands alone, by rules that need no chat model."""

import re
from collections.abc import Sequence

from rag.analysis import fold
from rag.types import Turn

# All patterns see the folded question. A new subject is announced: what was said before no longer counts.
CHANGES_SUBJECT = re.compile(
    r"^(换个|换一个|另一个|另外一个|下一个|再问(一)?个|新的?)(问题|话题)"
    r"|^(new|another|next|different|unrelated|separate) (question|topic)|^(changing|switching) (the )?(subject|topic)"
)
# How a question begins that leans on what was said before: 那…, 它…, 第二点…, 换成…, what about…
BEGINS = re.compile(
    r"^(那|它|他|该|这|上面|前面|上述|刚才|前者|后者|后来|反过来|第[一二三四五六七八九十\d]+[点条个步种]|再|还有|继续|展开"
    r"|详细|具体|举个?例|换成|换作|改成|只把|既然|凭啥|凭什么|里头|里面|其中|正式的|可(?=最|是|它|这|那|要是)"
    r"|(为什么|为啥|怎么说|why|how so)[?？]?$|(and|so|but|then|also)\b|(what|how) about\b|tell me more|elaborate"
    r"|(it|its|that|this|those|these|they|their)\b|the (first|second|third|last|former|latter)\b)"
)
# How it ends: …呢, …行不行, 展开说
ENDS = re.compile(
    r"(呢|行不行|不行吗|够不够|咋办|咋弄|还作数吗|(展开|详细|具体)(说|讲)[说讲]?(一下)?|[说讲](详细|具体)一?[点些]|举个?例子"
    r"|\b(instead|then|too|as well))[?？。!！]?$"
)
# A word for what was said before.
POINTS_BACK = re.compile(r"它|这样|这个|这些|这种|这名单|那样|那些|刚才|前者|后者|\b(it|its|they|them)\b")
# What is done to something that the question leaves out: 除以根号 d
OPERATION = re.compile(
    r"^那?(为什么|为啥|怎么|干嘛)[还都又]?[要会能得用]?(除以|乘以|乘上|加上|减去|开根号|取对数|取平方)"
)
# In a longer question these words more likely speak of what it names itself: words of English, characters of Chinese.
WITHIN_WORDS, WITHIN_CHARACTERS = 8, 14
# A question this short names no subject of its own, unless it has a Latin term or asks what something is.
SHORT = 6
DEFINES = re.compile(r"^(什么是|啥是|何谓)..")
# Of a longer subject the end is kept; that is where the question stands.
MAX_SUBJECT_CHARACTERS = 300


def standalone(question: str, history: Sequence[Turn]) -> str:
    """The question with the last question it leans on in front; unchanged where it stands on its own."""
    earlier = [turn.text.strip() for turn in history if turn.role == "user" and turn.text.strip()]
    if not earlier or not leans_on_history(question):
        return question
    subject = next((text for text in reversed(earlier) if not leans_on_history(text)), earlier[-1])
    return f"{subject[-MAX_SUBJECT_CHARACTERS:].rstrip('?？。 ')} {question}"


def leans_on_history(question: str) -> bool:
    """Whether a question cannot be understood without what was said before."""
    folded = fold(question).strip()
    if CHANGES_SUBJECT.search(folded) or (DEFINES.search(folded) and not POINTS_BACK.search(folded)):
        return False
    units = re.findall(r"[a-z0-9][\w.+-]*|[\u3400-\u9fff]", folded)
    if BEGINS.search(folded) or OPERATION.search(folded):
        return True
    within = WITHIN_CHARACTERS if re.search(r"[\u3400-\u9fff]", folded) else WITHIN_WORDS
    if len(units) <= within and (ENDS.search(folded) or POINTS_BACK.search(folded)):
        return True
    return len(units) <= SHORT and not re.search(r"[a-z0-9]{2,}", folded)
