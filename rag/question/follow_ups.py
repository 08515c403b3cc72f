"""A follow-up question -> a question that stands alone, by rules that need no chat model.

The words decide first: "that one", "and for bf16?", "another question". Where they leave it open, the material decides:
a follow-up is answered on the pages that the last question was about, a new question finds better ones.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.embedding import Embedder
from rag.index import Index
from rag.question.comparison import compare
from rag.question.courtesies import courtesy
from rag.question.intents import Intent, intent_of
from rag.question.unheard import unheard_share
from rag.search.retrieval import CANDIDATES, encode_questions, search
from rag.text.terms import fold, terms
from rag.types import Role, Turn

# All patterns see the folded question. A new subject is announced: what was said before no longer counts.
CHANGES_SUBJECT = re.compile(
    r"^(换个|换一个|另一个|另外一个|下一个|再问(一)?个|新的?)(问题|话题)"
    r"|^(new|another|next|different|unrelated|separate) (question|topic)"
    r"|^(changing|switching) (the )?(subject|topic)"
)
# So is it by these, unless a word points back.
MOVES_ON = re.compile(r"^(new|another|next|different|unrelated|separate) thing\b|^moving on\b")
# What is only said on the way to a question: ok, and …
INTERJECTION = re.compile(
    r"^(?:(?:(?:ok(?:ay)?|alright|hmm++|got it|i see)\b|[嗯哦噢]++)[，,.。!！ ]*+"
    r"|(?:right|well|好的|行吧?|明白了)[，,.。!！]++ *+)++(?=.*\w)",
    re.IGNORECASE,
)
# How a question begins that leans on what was said before: 那…, 它…, 第二点…, 换成…, what about…
BEGINS = re.compile(
    r"^(那|它|他|该|这|上面|前面|上述|刚才|前者|后者|后来|反过来|第[一二三四五六七八九十\d]+[点条个步种]|再|还有|继续|展开"
    r"|(和|跟|与)[^和跟与]*比[，, ]*(?=[有呢?？哪谁]|起来|$)(?!.*[a-z])|相比之下"
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
POINTS_BACK = re.compile(
    r"它|这样|这个|这些|这种|这几|这名单|那样|那些|那几|刚才|前者|后者|两边|两者|\b(it|its|they|them)\b"
)
# What is done to something that the question leaves out: 除以根号 d
OPERATION = re.compile(
    r"^那?(为什么|为啥|怎么|干嘛)[还都又]?[要会能得用]?(除以|乘以|乘上|加上|减去|开根号|取对数|取平方)"
)
# What asks for the last answer in another form: written out, simpler, shorter, as a formula or as code. Whoever asks so
# names no subject: what is left when these words are taken away has few terms, and no Latin one, which is a name.
RESTATES = re.compile(
    r"(?:能不能|可以|麻烦|请|帮我|给我|用|再|把)*(?:写|列|画)(?:一下|下来|出来|个|一遍|一[段份])+(?:我?看看|瞧瞧)?"
    r"|(?:的|那几|那|这)?(?:公式|伪代码|步骤|代码|式子|推导(?:过程)?)(?:给我|贴一?下|呢)?(?:我?看看)?"
    r"|(?:换个|更|再|说得?|讲得?|讲)?(?:简单|通俗|白话|直白|口语|形象|短|精简|简洁|详细|具体)(?:一?[点些下])?(?:的?(?:说法|解释|话|版本?))?"
    r"|说人话|打个?比方|举个?例子?|(?:听|看)?(?:不|没)(?:太)?(?:听|看)?(?:懂|明白)|太(?:难|绕|长|复杂|抽象|专业)了?|再(?:说|讲|解释)(?:一?[遍次下])"
    r"|一句话|两句话|要能跑的|看看|给我|[说讲解释]{1,2}(?:一下|下)?"
    r"|(?:有)?(?:哪些|什么|啥)?(?:常见|容易犯?)的?(?:错误?|误区|坑)(?:有)?(?:哪些|什么|啥)?|(?:有)?(?:哪些|什么|啥)坑"
    r"|(?:再|请|能)?(?:展开|深入|继续|多)(?:一点|一些|点|些)?(?:地)?(?:讲讲|说说|讲|说)?(?:原理|细节)?(?:一下)?|还有(?:呢|吗|什么)?"
    r"|\b(?:like|as) (?:i am|i'm|im|to) an? \w+"
    r"|\b(?:please|pls|can|could|you|would|just|me|show|give|write|say|tell|put|explain|it|that|this|the|a|an|as|in|like"
    r"|i am|i'm|im|down|out|again"
    r"|too|so|way|hard|difficult|complicated|long|simpler?|simply|easier|shorter?|brief(?:ly|er)?|plain|words?|terms|english|eli5|tl;?dr|one|two|few"
    r"|common|mistakes?|pitfalls?|what|are|there|any|more|elaborate|go|on|into|deeper|details?|expand|and|usual"
    r"|or|sentences?|lines?|steps?|pseudo-?code|code|formula|equation|example|analogy|summar(?:y|ize)|with|using|child|beginner|five|5)\b",
)
ASKS_AGAIN = re.compile(r"写|列|画|举个?例|一遍|\b(?:show|write|example|analogy|again|hard|complicated)")
RESTATING_TERMS = 2
# A word at the beginning that joins to what was said but may begin anything: "and why …", 那….
JOINS = re.compile(r"^(那么?|可是?|所以|再|还有|(and|so|but|then|also)\b)[，, ]*")
# In a longer question these words more likely speak of what it names itself: words of English, characters of Chinese.
WITHIN_WORDS, WITHIN_CHARACTERS = 8, 14
# A question this short names no subject of its own, unless it has a Latin term or asks what something is.
SHORT = 6
# The share of what a short question names that the material hardly has, from which it names something else.
MOSTLY = 0.5
DEFINES = re.compile(r"^(什么是|啥是|何谓)..")
# Of a longer subject the end is kept; that is where the question stands.
MAX_SUBJECT_CHARACTERS = 300
# Messages before the question that are looked at.
MAX_TURNS = 12
MAX_POINT_CHARACTERS = 150
# A question is a follow-up if it has fewer terms than this: more are allowed if its words lean on what was said, fewer
# if it finds passages better than those of the page that the last question found, by the lead in score. A Latin term
# that was not said before counts more, up to three of them, for a new subject is likely to be one. Tuned on the 47
# development follow-ups of gold.jsonl (all found), 45 others written for it (89 % found; by words alone
# 47 %) and 807 pairs of unrelated questions (9 taken for follow-ups, none of them with an answer).
OWN_TERMS = 12
LEANING_TERMS = 12
TERMS_PER_LEAD = 70
TERMS_PER_NEW_NAME = 1.5
MAX_NEW_NAMES = 3
# Words alone decide for a question that leans and has few terms; a passage seldom leads by more than this.
SURE_LEAD = 0.15
# Nearer to the border than so many terms, the rules are in doubt: with 10% of the development follow-ups, and with 4%
# of pairs of unrelated questions, among them the 2 of 250 that were taken wrongly.
DOUBT = 3.0

POINT = re.compile(
    r"第(?P<chinese>[一二三四五六七八九十]|\d{1,2})[点条个步种项]"
    r"|(?P<last>最后[一那]?[点条个步种项]|\bthe last (?:point|one|item|step))"
    r"|\bthe (?P<english>first|second|third|fourth|fifth) (?:point|one|item|step)"
)
NUMERALS = ("一二三四五六七八九十", ("first", "second", "third", "fourth", "fifth"))
FORMER_OR_LATTER = re.compile(r"(前者|the former\b)|(后者|後者|the latter\b)", re.IGNORECASE)
LIST_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)、])\s+(.+)$", re.MULTILINE)
# What stands in an answer beside its words: markers, emphasis, headings, list marks, what no evidence supports.
MARKUP = re.compile(r"\s*\[\d+\]|[*`]+|^\s*(?:#+|[-+•>]|\d{1,2}[.)、])\s+|⚠️", re.MULTILINE)


# Words that only say that a question follows another.
LEANING_WORDS = re.compile(
    r"^(那么?|可是?|所以|既然这样|换成|换作|改成|(and|so|but|then|also|what about|how about)\b)[，, ]*"
    r"|它们?|这个|那个|这样|呢(?=[?？，,]|$)|\b(it|its|they|them)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that stands alone.

    For a follow-up, `subject` is what it leans on, `said` the answer
    that it follows and `heard` all answers of late; they are empty for a question that follows nothing. `leans` says
    that its own words point back, or are too few to stand alone, `restates` that they only ask for the last answer in
    another form, `in_doubt` that it could as well have been taken otherwise.
    """

    question: str
    subject: str = ""
    said: str = ""
    heard: str = ""
    in_doubt: bool = False
    leans: bool = False
    restates: bool = False

    @property
    def intent(self) -> Intent | None:
        """What of the last answer is wanted, where nothing else is."""
        return intent_of(self.question) if self.restates else None

    @property
    def text(self) -> str:
        return f"{self.subject} {self.question}".strip()

    @property
    def own_words(self) -> str:
        """What chooses what is quoted: the question without the words that only lean on what was said, or its subject
        where it says nothing of its own."""
        if self.restates:
            return self.subject if self.intent else self.text
        asked = INTERJECTION.sub("", self.question.strip())
        return LEANING_WORDS.sub(" ", asked).strip(" ?？，,") or self.question

    @property
    def query(self) -> str:
        """What is searched. Words that only ask for another form say nothing of what is wanted."""
        own = "" if self.intent else self.question
        return " ".join(filter(None, (self.subject, own)))


def stand_alone(index: Index, embedder: Embedder, question: str, history: Sequence[Turn]) -> Standalone:
    """The question as it stands alone. What the words leave open is decided by what `index` holds."""
    followed = follow(question, history)
    if not followed.subject:
        return Standalone(question)
    sureness = _follows(index, embedder, question, history, followed)
    leans = leans_on_history(question) and not _is_strange(index, question)
    chosen = replace(followed, leans=leans) if sureness > 0 else Standalone(question)
    return replace(chosen, in_doubt=abs(sureness) < DOUBT)


def follow(question: str, history: Sequence[Turn]) -> Standalone:
    """The question with the last question in front that it can lean on; unchanged if nothing was asked before."""
    recent = [turn for turn in without_asides(history)[-MAX_TURNS:] if turn.text.strip()]
    asked = [turn.text.strip() for turn in recent if turn.role is Role.USER]
    if not asked:
        return Standalone(question)
    last = recent[-1]
    said = last.text if last.role is Role.ASSISTANT and not last.refused else ""
    point = _point(question, said)
    subject = _subject(asked)
    if point:
        return Standalone(question, f"{subject} {point}", said)
    heard = "\n".join(turn.text for turn in recent if turn.role is Role.ASSISTANT)
    if restates(question):
        return Standalone(question, subject, said, heard, restates=True)
    return Standalone(_name_sides(question, asked[-1]), subject, said, heard)


def without_asides(history: Sequence[Turn]) -> Sequence[Turn]:
    """The history without thanks and greetings, and without what was refused after something had been answered:
    whoever leans on the conversation then means that answer.

    >>> from rag.types import Role, Turn
    >>> asked, answered = Turn(Role.USER, "LoRA 是什么"), Turn(Role.ASSISTANT, "一种微调方法。")
    >>> without_asides([asked, answered, Turn(Role.USER, "谢谢"), Turn(Role.ASSISTANT, "不客气")]) == [asked, answered]
    True
    """
    exchanges: list[list[Turn]] = []
    for turn in history:
        if turn.role is Role.USER or not exchanges:
            exchanges.append([])
        exchanges[-1].append(turn)
    talk = [turns for turns in exchanges if turns[0].role is not Role.USER or courtesy(turns[0].text) is None]
    answered = [any(turn.role is Role.ASSISTANT and not turn.refused for turn in turns) for turns in talk]
    first = answered.index(True) if any(answered) else len(talk)
    kept = [
        turns
        for place, turns in enumerate(talk)
        if place < first or answered[place] or not any(turn.refused for turn in turns)
    ]
    return [turn for turns in kept for turn in turns]


def leans_on_history(question: str) -> bool:
    """Whether the words of a question show that it cannot be understood without what was said before."""
    folded = _folded(question)
    if _announces_subject(folded):
        return False
    units = _units(folded)
    if BEGINS.search(folded) or OPERATION.search(folded):
        return True
    if restates(question):
        return True
    within = WITHIN_CHARACTERS if re.search(r"[\u3400-\u9fff]", folded) else WITHIN_WORDS
    if len(units) <= within and (ENDS.search(folded) or POINTS_BACK.search(folded)):
        return True
    return len(units) <= SHORT and not re.search(r"[a-z0-9]{2,}", folded)


def restates(question: str) -> bool:
    """Whether a question asks for the last answer in another form, and for nothing else.

    >>> restates("写出来看看"), restates("too hard, say it simpler"), restates("写一个 LoRA 层")
    (True, True, False)
    """
    folded = _folded(question)
    if POINT.search(folded):
        return False
    left = set(terms(RESTATES.sub(" ", folded)))
    asks = intent_of(question) is not None or ASKS_AGAIN.search(folded)
    return bool(asks) and len(left) <= RESTATING_TERMS and not any(map(str.isascii, left))


def _folded(question: str) -> str:
    """The folded question without what is only said on the way to it."""
    return INTERJECTION.sub("", fold(question).strip())


def _units(folded: str) -> list[str]:
    """Words of Latin letters and Chinese characters: what the length of a question is counted in."""
    return re.findall(r"[a-z0-9][\w.+-]*|[\u3400-\u9fff]", folded)


def _is_bare(question: str) -> bool:
    """Whether a question is so short that it is either a topic or a follow-up, and has no word that points back."""
    folded = _folded(question)
    units = _units(folded)
    return len(units) <= SHORT and not (BEGINS.search(folded) or ENDS.search(folded) or POINTS_BACK.search(folded))


def _is_unheard_of(index: Index, question: str) -> bool:
    """Whether the material has no word of what a short question names: 天气怎么样 is about the weather, and not about
    what was said."""
    folded = _folded(question)
    if len(_units(folded)) > SHORT or POINTS_BACK.search(folded):
        return False
    return unheard_share(index, RESTATES.sub(" ", folded)) == 1


def _is_strange(index: Index, question: str) -> bool:
    """Whether nothing but its length says that a question leans on something, and most of what it names hardly stands
    in the material: 今天天气咋样, where it has 今天."""
    folded = _folded(question)
    if not _is_bare(question) or OPERATION.search(folded) or restates(question):
        return False
    return unheard_share(index, folded) >= MOSTLY


def _follows(index: Index, embedder: Embedder, question: str, history: Sequence[Turn], followed: Standalone) -> float:
    """In terms of the question, how far from being a new one (above 0) or a follow-up (below) it is."""
    leans = leans_on_history(question)
    if _announces_subject(_folded(question)) or (not leans and compare(question)):
        return -math.inf
    own = set(terms(question))
    new = own - set(terms(f"{followed.subject} {followed.said}"))
    new_names = sum(len(term) > 1 and term.isascii() for term in new)
    leaning = LEANING_TERMS / 2 if leans and _only_joins(question) else LEANING_TERMS * leans
    room = OWN_TERMS + leaning - len(own) - TERMS_PER_NEW_NAME * min(new_names, MAX_NEW_NAMES)
    bare = _is_bare(question) and not restates(question)
    if _is_unheard_of(index, question):
        return -math.inf
    if leans and not bare and room > TERMS_PER_LEAD * SURE_LEAD:
        return math.inf
    # Without vectors of tokens a score says little beyond the order of what was found.
    if room <= 0 or index.tokens is None:
        return math.inf if leans and room > 0 else -math.inf
    last = next(
        turn.text.strip() for turn in reversed(without_asides(history)) if turn.role is Role.USER and turn.text.strip()
    )
    earlier = _subject([last])
    encoded = encode_questions(embedder, [earlier, question])
    before = search(index, embedder, earlier, k=1, encoded=encoded[0])
    alone = search(index, embedder, question, k=CANDIDATES, encoded=encoded[1]).hits
    if not alone:
        return math.inf if leans else -math.inf
    page = before.hits[0].passage.document if before.hits else ""
    best = alone[0].passage
    if bare and best.document != page and fold(question).strip(" ?？。") in fold(best.title):
        return -math.inf
    there = max((hit.score for hit in alone if hit.passage.document == page), default=alone[-1].score)
    return room - TERMS_PER_LEAD * (alone[0].score - there)


def _only_joins(question: str) -> bool:
    """Whether nothing but a joining word at its beginning points back."""
    folded = _folded(question)
    rest = JOINS.sub("", folded)
    return rest != folded and not (BEGINS.search(rest) or ENDS.search(rest) or POINTS_BACK.search(rest))


def _announces_subject(folded: str) -> bool:
    names_another = DEFINES.search(folded) or MOVES_ON.search(folded)
    return bool(CHANGES_SUBJECT.search(folded) or (names_another and not POINTS_BACK.search(folded)))


def _subject(asked: Sequence[str]) -> str:
    """The last question that stands alone, and the last one where that leans on it."""
    at = next((place for place in reversed(range(len(asked))) if not leans_on_history(asked[place])), len(asked) - 1)
    questions = asked[at:] if at >= len(asked) - 2 else (asked[at], asked[-1])
    return " ".join(text[-MAX_SUBJECT_CHARACTERS:].rstrip("?？。 ") for text in questions)


def _point(question: str, said: str) -> str:
    """The point of the last answer that the question names by its number: an item of its list, else a paragraph."""
    match = POINT.search(fold(question))
    points = LIST_ITEM.findall(said)
    points = points if len(points) > 1 else [part for part in said.split("\n\n") if part.strip()]
    if match is None or not points:
        return ""
    name = match["chinese"] or match["english"]
    if match["last"]:
        number = len(points)
    elif name.isdigit():
        number = int(name)
    else:
        number = next(names.index(name) + 1 for names in NUMERALS if name in names)
    chosen = points[number - 1] if 0 < number <= len(points) else ""
    return " ".join(MARKUP.sub("", chosen).split())[:MAX_POINT_CHARACTERS]


def _name_sides(question: str, last: str) -> str:
    """The question with "the former" and "the latter" named, where the last question compared two."""
    comparison = compare(last)
    if comparison is None or len(comparison.sides) != 2:
        return question
    former, latter = comparison.sides
    return FORMER_OR_LATTER.sub(lambda match: former if match[1] else latter, question)
