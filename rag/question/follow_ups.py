"""A follow-up question -> a question that stands alone, without a chat model.

What says of itself that it is new ("another question: …") or asks for the last answer in another form is taken at its
word. Everything else is read both ways, and `leaning` compares them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.embedding import Embedder
from rag.index import Index
from rag.language.comparison import compare
from rag.language.courtesies import courtesy
from rag.language.intents import Intent, intent_of
from rag.language.language import has_chinese
from rag.language.terms import fold, terms
from rag.question.leaning import LeaningFeatures, leaning, leaning_features, points_back
from rag.question.names import FUNCTION_WORDS, NAME
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
DEFINES = re.compile(r"^(什么是|啥是|何谓)..")
# Of a longer subject the end is kept; that is where the question stands.
MAX_SUBJECT_CHARACTERS = 300
# Messages before the question that are looked at.
MAX_TURNS = 12
MAX_POINT_CHARACTERS = 150
# Log odds, for or against a follow-up, below which a configured endpoint is asked to rewrite the message; and those
# above which a message means nothing without the talk, so that it need not be tried alone.
DOUBT = 1.0
SURE = 1.5

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


# A name in Latin letters, of one word or of several that are each written like one (ZeRO-3, Flash Attention).
NAMED = re.compile(r"[A-Z][A-Za-z0-9.+-]*(?: [A-Z][A-Za-z0-9.+-]*)*|[a-z][A-Za-z0-9.+-]*")


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that stands alone.

    For a follow-up, `subject` is what it leans on, `said` the answer that it follows and `heard` all answers of late;
    they are empty for a question that follows nothing. `leans` says that it means nothing without the talk, `restates`
    that it only asks for the last answer in another form, `names_point` that it names a point of that answer by its
    number, `replaces` that `question` is the last question with another name in it, and `in_doubt` that it could as
    well have been taken otherwise.
    """

    question: str
    subject: str = ""
    said: str = ""
    heard: str = ""
    in_doubt: bool = False
    leans: bool = False
    restates: bool = False
    names_point: bool = False
    replaces: bool = False

    @property
    def intent(self) -> Intent | None:
        """What of the last answer is wanted, where nothing else is."""
        return intent_of(self.question) if self.restates else None

    @property
    def text(self) -> str:
        return self.question if self.replaces else f"{self.subject} {self.question}".strip()

    @property
    def own_words(self) -> str:
        """What chooses what is quoted: the question without the words that only lean on what was said, or its subject
        where it says nothing of its own."""
        if self.replaces:
            return self.question
        if self.restates:
            return self.subject if self.intent else self.text
        asked = INTERJECTION.sub("", self.question.strip())
        return LEANING_WORDS.sub(" ", asked).strip(" ?？，,") or self.question

    @property
    def query(self) -> str:
        """What is searched. Words that only ask for another form say nothing of what is wanted."""
        if self.replaces:
            return self.question
        own = "" if self.intent else self.question
        return " ".join(filter(None, (self.subject, own)))


def stand_alone(
    index: Index, embedder: Embedder, question: str, history: Sequence[Turn], *, follows: bool | None = None
) -> Standalone:
    """The question as it stands alone. Where nothing in it says whether it follows the talk, what `index` holds for
    either reading decides; `follows` is how the reader wants it read."""
    followed = follow(question, history)
    if not followed.subject or follows is False:
        return Standalone(question)
    if follows is None and (told := tells_by_itself(question, history)) is not None:
        follows = told
    if follows is not None:
        return replace(followed, leans=True) if follows else Standalone(question)
    features = weighed(index, embedder, question, history)
    log_odds = leaning(index, features)
    # What names nothing that the material has may be about something else altogether: 那股票呢
    is_sure = log_odds > SURE and features.unheard < 1
    chosen = replace(followed, leans=is_sure) if log_odds > 0 else Standalone(question)
    return replace(chosen, in_doubt=abs(log_odds) < DOUBT)


def tells_by_itself(question: str, history: Sequence[Turn]) -> bool | None:
    """Whether a question says of itself that it follows the talk or that it begins anew; None where it says neither."""
    followed = follow(question, history)
    if not followed.subject or _announces_subject(_folded(question)):
        return False
    return True if followed.restates or followed.names_point or followed.replaces else None


def weighed(index: Index, embedder: Embedder, question: str, history: Sequence[Turn]) -> LeaningFeatures:
    """The features that tell whether a question leans on the talk before it."""
    followed = follow(question, history)
    return leaning_features(
        index, embedder, INTERJECTION.sub("", question.strip()), subject=followed.subject, said=followed.said,
        compares=compare(question) is not None,
    )  # fmt: skip


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
        return Standalone(question, f"{subject} {point}", said, names_point=True)
    heard = "\n".join(turn.text for turn in recent if turn.role is Role.ASSISTANT)
    if restates(question):
        return Standalone(question, subject, said, heard, restates=True)
    named = _name_sides(question, asked[-1])
    swapped = _swapped(named, asked[-1])
    return Standalone(swapped or named, subject, said, heard, replaces=bool(swapped))


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


def _announces_subject(folded: str) -> bool:
    names_another = DEFINES.search(folded) or MOVES_ON.search(folded)
    return bool(CHANGES_SUBJECT.search(folded) or (names_another and not points_back(folded)))


def _subject(asked: Sequence[str]) -> str:
    """The last question that stands alone, and the last one where that leans on it."""
    at = next((place for place in reversed(range(len(asked))) if not _needs_subject(asked[place])), len(asked) - 1)
    questions = asked[at:] if at >= len(asked) - 2 else (asked[at], asked[-1])
    return " ".join(text[-MAX_SUBJECT_CHARACTERS:].rstrip("?？。 ") for text in questions)


def names_something(question: str) -> bool:
    """Whether a question has a name of its own, in Latin letters."""
    return bool(_names_in(LEANING_WORDS.sub(" ", question)))


def _names_in(question: str) -> list[re.Match[str]]:
    """What is written like a name, and in a Chinese question every Latin word that may be one."""
    chinese = has_chinese(question)
    words = [match for match in NAMED.finditer(question) if fold(match[0]) not in FUNCTION_WORDS]
    return [match for match in words if chinese or NAME.match(match[0]) or (match.start() and match[0][0].isupper())]


def _swapped(question: str, last: str) -> str:
    """The last question with the one name of it replaced by the one name that is all a question says beside words that
    lean (那 PPO 呢); empty where it says more, where the last one compares, or where either has no such name.

    >>> _swapped("那 PPO 呢？", "DPO 是什么？"), _swapped("how about QLoRA?", "What is LoRA?")
    ('PPO 是什么？', 'What is QLoRA?')
    >>> _swapped("那 PPO 慢吗", "DPO 是什么？")
    ''
    """
    asked = INTERJECTION.sub("", question.strip())
    own = LEANING_WORDS.sub(" ", asked).strip(" ?？，,。.")
    names = _names_in(last)
    is_name = has_chinese(asked) or NAME.match(own) or own[:1].isupper()
    if own == asked.strip(" ?？，,。.") or not NAMED.fullmatch(own) or not is_name or fold(own) in FUNCTION_WORDS:
        return ""
    if len(names) != 1 or fold(names[0][0]) == fold(own) or compare(last):
        return ""
    return f"{last[: names[0].start()]}{own}{last[names[0].end() :]}"


def _needs_subject(question: str) -> bool:
    """Whether the words of an earlier question alone show that it had a subject before it."""
    return points_back(_folded(question)) or restates(question) or POINT.search(fold(question)) is not None


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
