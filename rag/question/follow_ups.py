"""A follow-up question -> a question that stands alone, without a chat model.

A message that declares itself new ("another question: …") or asks for the last answer in another form is read that way.
Everything else is read both ways, and `leaning` compares them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.language.comparison import Comparison, compare
from rag.language.language import has_chinese
from rag.language.messages import Intent, courtesy, intent_of, restates, without_interjections
from rag.language.numbering import LIST_NUMBER
from rag.language.pointing import announces_subject, point_in, with_sides, without_leaning_words
from rag.language.terms import fold
from rag.question.leaning import LeaningFeatures, leaning, leaning_features
from rag.question.names import FUNCTION_WORDS, NAME
from rag.search.searcher import Searcher
from rag.types import Role, Turn

# A longer subject keeps only its end, where the question is.
MAX_SUBJECT_CHARACTERS = 300
# Number of messages examined before the question.
MAX_TURNS = 12
MAX_POINT_CHARACTERS = 150
# Below these log odds, for or against a follow-up, a configured endpoint is asked to rewrite the message; above SURE a
# message means nothing without the talk, so that it need not be tried alone.
DOUBT = 1.0
SURE = 1.5

LIST_ITEM = re.compile(rf"^\s*(?:[-*+•]|{LIST_NUMBER})\s+(.+)$", re.MULTILINE)
# Non-words in an answer: markers, emphasis, headings, list marks, signs of missing evidence.
MARKUP = re.compile(rf"\s*\[\d+\]|[*`]+|^\s*(?:#+|[-+•>]|{LIST_NUMBER})\s+|⚠️", re.MULTILINE)


# A name in Latin letters, of one word or of several that are each written like one (ZeRO-3, Flash Attention).
NAMED = re.compile(r"[A-Z][A-Za-z0-9.+-]*(?: [A-Z][A-Za-z0-9.+-]*)*|[a-z][A-Za-z0-9.+-]*")


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that stands alone.

    For a follow-up, `subject` is what it leans on, which begins with `root`, the question that began the subject,
    `said` is the answer that it follows, and `heard` are all recent answers; they are empty for a question that follows
    nothing. `leans` means that it means nothing without the talk, `restates` that it only asks for the last answer in
    another form, `names_point` that it names a point of that answer by its number, `replaces` that `question` is the
    last question with another name in it, and `in_doubt` that the other reading is almost as likely.
    """

    question: str
    subject: str = ""
    said: str = ""
    heard: str = ""
    root: str = ""
    in_doubt: bool = False
    leans: bool = False
    restates: bool = False
    names_point: bool = False
    replaces: bool = False

    @property
    def intent(self) -> Intent | None:
        """The wanted form of the last answer, if any."""
        return intent_of(self.question) if self.restates else None

    @property
    def text(self) -> str:
        return self.question if self.replaces else f"{self.subject} {self.question}".strip()

    @property
    def own_words(self) -> str:
        """Selects the quotes: the question without words that only lean on the talk, or its subject if the question has
        no content of its own."""
        if self.replaces:
            return self.question
        if self.restates:
            return self.subject if self.intent else self.text
        asked = without_interjections(self.question)
        return without_leaning_words(asked).strip(" ?？，,") or self.question

    @property
    def query(self) -> str:
        """The query to search. Words that only ask for another form carry no content."""
        if self.replaces:
            return self.question
        own = "" if self.intent else self.question
        return " ".join(filter(None, (self.subject, own)))


def stand_alone(searcher: Searcher, question: str, talk: Sequence[Turn], *, follows: bool | None = None) -> Standalone:
    """The question as it stands alone after a talk (`recent`). If nothing in it says whether it follows the talk, the
    passages found for either reading decide; `follows` is the reader's wish."""
    if follows is False:
        return Standalone(question)
    followed = follow(question, talk, last_read(searcher, talk))
    if not followed.subject:
        return Standalone(question)
    if follows is None and (told := tells_by_itself(question, followed)) is not None:
        follows = told
    if follows is not None:
        return replace(followed, leans=True) if follows else Standalone(question)
    features = weighed(searcher, question, followed)
    log_odds = leaning(searcher.index, features)
    # A message whose names the material lacks may change the subject altogether: 那股票呢
    is_sure = log_odds > SURE and features.unheard < 1
    chosen = replace(followed, leans=is_sure) if log_odds > 0 else Standalone(question)
    return replace(chosen, in_doubt=abs(log_odds) < DOUBT)


def last_read(searcher: Searcher, talk: Sequence[Turn]) -> Standalone | None:
    """The last question of a talk as it stands alone; None if nothing was asked. Its searches are remembered if it was
    asked a moment ago."""
    place = max((place for place, turn in enumerate(talk) if turn.role is Role.USER), default=None)
    return None if place is None else stand_alone(searcher, talk[place].text.strip(), talk[:place])


def tells_by_itself(question: str, followed: Standalone) -> bool | None:
    """Whether a question, `followed` as a follow-up, itself says that it is one or that it begins anew; None if it says
    neither."""
    if not followed.subject or announces_subject(without_interjections(fold(question))):
        return False
    return True if followed.restates or followed.names_point or followed.replaces else None


def weighed(searcher: Searcher, question: str, followed: Standalone) -> LeaningFeatures:
    """The features that tell whether a question leans on the talk before it; `followed` is its reading as one that
    does."""
    return leaning_features(
        searcher,
        without_interjections(question),
        subject=followed.subject,
        said=followed.said,
        compares=compare(question) is not None,
    )


def follow(question: str, talk: Sequence[Turn], before: Standalone | None) -> Standalone:
    """The question preceded by the last question of a talk (`recent`), which was read as `before`, and by the question
    that began its subject; unchanged if nothing was asked before."""
    if before is None:
        return Standalone(question)
    last = talk[-1]
    said = last.text if last.role is Role.ASSISTANT and not last.refused else ""
    heard = "\n".join(turn.text for turn in talk if turn.role is Role.ASSISTANT)
    root, subject = _subject(before)
    followed = Standalone(question, subject, said, heard, root)
    if point := _point(question, said):
        about = root if before.names_point else subject
        return replace(followed, subject=f"{about} {point}", heard="", names_point=True)
    if restates(question):
        return replace(followed, restates=True)
    comparison = compare(before.question)
    if comparison is not None:
        return replace(followed, question=_name_sides(question, comparison))
    swapped = _swapped(question, before.question)
    return replace(followed, question=swapped or question, replaces=bool(swapped))


def recent(history: Sequence[Turn]) -> list[Turn]:
    """The last turns that a question can lean on."""
    return [turn for turn in without_asides(history)[-MAX_TURNS:] if turn.text.strip()]


def without_asides(history: Sequence[Turn]) -> Sequence[Turn]:
    """The history without thanks and greetings, and without refusals after the first answer: a follow-up then leans
    on that answer.

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


def _subject(before: Standalone) -> tuple[str, str]:
    """What a question leans on that follows another: the question that began the subject, and all of it."""
    asked = before.question[-MAX_SUBJECT_CHARACTERS:].rstrip("?？。 ")
    if not before.subject or before.replaces:
        return asked, asked
    if before.restates or before.names_point:
        return before.root, before.subject
    return before.root, f"{before.root} {asked}"


def names_something(question: str) -> bool:
    """Whether a question has a name in Latin letters."""
    return bool(_names_in(without_leaning_words(question)))


def _names_in(question: str) -> list[re.Match[str]]:
    """Words written like a name, and in a Chinese question every Latin word that may be one."""
    chinese = has_chinese(question)
    words = [match for match in NAMED.finditer(question) if fold(match[0]) not in FUNCTION_WORDS]
    return [match for match in words if chinese or NAME.match(match[0]) or (match.start() and match[0][0].isupper())]


def _swapped(question: str, last: str) -> str:
    """The last question with its one name replaced by the one name that, beside leaning words, is all of the question
    (那 PPO 呢); empty if the question says more, or either has no such name.

    >>> _swapped("那 PPO 呢？", "DPO 是什么？"), _swapped("how about QLoRA?", "What is LoRA?")
    ('PPO 是什么？', 'What is QLoRA?')
    >>> _swapped("那 PPO 慢吗", "DPO 是什么？")
    ''
    """
    asked = without_interjections(question)
    own = without_leaning_words(asked).strip(" ?？，,。.")
    names = _names_in(last)
    is_name = has_chinese(asked) or NAME.match(own) or own[:1].isupper()
    if own == asked.strip(" ?？，,。.") or not NAMED.fullmatch(own) or not is_name or fold(own) in FUNCTION_WORDS:
        return ""
    if len(names) != 1 or fold(names[0][0]) == fold(own):
        return ""
    return f"{last[: names[0].start()]}{own}{last[names[0].end() :]}"


def _point(question: str, said: str) -> str:
    """The point of the last answer whose number the question names: an item of its list, else a paragraph."""
    number = point_in(fold(question))
    points = LIST_ITEM.findall(said)
    points = points if len(points) > 1 else [part for part in said.split("\n\n") if part.strip()]
    if number is None or not points:
        return ""
    number = len(points) if number < 0 else number
    chosen = points[number - 1] if 0 < number <= len(points) else ""
    return " ".join(MARKUP.sub("", chosen).split())[:MAX_POINT_CHARACTERS]


def _name_sides(question: str, comparison: Comparison) -> str:
    """The question with "the former" and "the latter" named, if the last question compared two."""
    return with_sides(question, *comparison.sides) if len(comparison.sides) == 2 else question
