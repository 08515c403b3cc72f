"""Decides whether the material holds an answer at all, before anything is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag.answer.answerability import AnswerabilityFeatures, read_features, unspoken_share
from rag.answer.answerability import log_odds as log_odds_of
from rag.answer.evidence import QuestionResults
from rag.index import Index
from rag.language.language import has_chinese
from rag.language.messages import Intent, answered_by
from rag.language.terms import fold, stem, terms
from rag.question.names import Name, NameKind, find_names
from rag.question.rare_terms import unheard_share
from rag.search.retrieval import Evidence, merge
from rag.types import Refusal, RefusalReason

# Log odds against an answer, added if every word of the question is foreign to the material: short questions (晚饭吃啥)
# match something everywhere. A close match in other words outweighs it.
UNHEARD_OF = 3.0
# For pages with written questions: log odds against an answer if the pages mention nothing that the question names, and
# the share of unmentioned terms from which they count against it. `python -m tools.fit.second_opinion` fitted these two
# and SECOND_OPINION_ASKED (docs/results/refusals.md).
UNSPOKEN = 3.2
USUALLY_UNSPOKEN = 0.62
# A name that no passage has counts as known from this many sections whose written questions have it. A single one may
# only mention it.
ASKED_OFTEN = 2
# The reader can change the decision if the log odds are this close to the threshold.
READ_WITHIN = 3.0
# How much lower the threshold is for a chat model, which would answer doubtful questions: it refuses 2% of the
# answerable development questions.
WITHOUT_NEAREST = 0.79


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """Logistic regression over the log odds against an answer and the best reading, clipped to ±`limit`; its output is
    on the scale of the log odds. An answer is doubtful from `doubtful` log odds below the threshold."""

    offset: float
    log_odds: float
    reading: float
    limit: float
    doubtful: float

    def of(self, log_odds: float, reading: float) -> float:
        """The log odds against an answer, given both."""
        return self.offset + self.log_odds * log_odds + self.reading * max(-self.limit, min(self.limit, reading))


# Fitted to the development questions of asked.jsonl and gold.jsonl; the scale makes 5% of the answerable ones doubtful.
# The offset refuses none of them: on other people's documents, where the log odds alone reveal nothing about a
# plausible question, a higher one refuses too many (docs/results/best_places.md).
SECOND_OPINION = SecondOpinion(offset=-0.96, log_odds=0.48, reading=-0.49, limit=12.0, doubtful=1.75)
# For pages with written questions, whose log odds are more reliable.
SECOND_OPINION_ASKED = SecondOpinion(offset=-0.14, log_odds=1.0, reading=-0.67, limit=12.0, doubtful=2.24)

# If the material lacks one side, the other is answered alone only if one of the first passages mentions it.
SPEAKING_HITS = 3


@dataclass(frozen=True, slots=True)
class Judgement:
    """A refusal of one piece of evidence, or None, and its basis. The material lacks the `unknown` ones of the
    question's `names`. `unheard` means that it lacks everything the question names; `unspoken` is the share of it that
    the retrieved pages do not mention, None if no questions are written for them."""

    refusal: Refusal | None
    names: tuple[str, ...]
    unknown: tuple[str, ...]
    features: AnswerabilityFeatures | None
    log_odds: float | None
    unheard: bool = False
    unspoken: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to refuse, and the evidence left to answer from.

    `log_odds` against an answer, refused above `margin`, are None without a calibration; `names` are the names in the
    question, of which the material lacks the `unknown` ones. `reading` is the reader's log odds, of the best section
    that it read before it was sure; None if it was not asked.
    """

    refusal: Refusal | None
    result: QuestionResults
    names: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    features: AnswerabilityFeatures | None = None
    log_odds: float | None = None
    margin: float = 0.0
    unheard: bool = False
    unspoken: float | None = None
    reading: float | None = None

    @property
    def may_change(self) -> bool:
        """Whether the reader can turn a refusal into an answer, or the reverse."""
        return self.log_odds is not None and abs(self.log_odds - self.margin) < READ_WITHIN

    @property
    def in_doubt(self) -> bool:
        """Whether an answer may be tried, but the odds are near a refusal."""
        doubtful = self.second_opinion.doubtful
        return self.refusal is None and self.log_odds is not None and self.log_odds > self.margin - doubtful

    @property
    def answers_surely(self) -> bool:
        """Whether no better reading would change what becomes of the question."""
        return self.refusal is None and not self.in_doubt

    @property
    def second_opinion(self) -> SecondOpinion:
        return SECOND_OPINION if self.unspoken is None else SECOND_OPINION_ASKED


def decide(index: Index, result: QuestionResults, *, margin: float = 0.0) -> Decision:
    """Refuse, or answer; a comparison is answered without the sides that the material lacks, if it has another.

    `margin` moves the threshold in log odds: above 0 fewer questions are refused, below 0 more.
    """
    if result.question.parts:
        return _decide_parts(index, result, margin)
    judged = judge(index, result.for_decision, margin=margin)
    whole = _whole(judged, result, margin)
    refusal = judged.refusal
    if not result.question.compared or (refusal is not None and not refusal.missing):
        return whole
    missing = refusal.missing if refusal else judged.unknown
    silent = [_is_silent(index, side, missing) for side in result.question.compared]
    # A missing name in no side concerns all sides.
    about_all = any(not any(name in side for side in result.question.compared) for name in missing)
    if not any(silent) or all(silent) or about_all:
        return whole
    known = [place for place, is_silent in enumerate(silent) if not is_silent]
    sides = tuple(_speaking(result.question.compared[place], result.sides[place]) for place in known)
    if not all(side.hits for side in sides):
        return whole
    return _of_the_rest(whole, known, sides, [judge(index, side, margin=margin) for side in sides])


def reconsider(decision: Decision, reading: float, *, points_to_nearest: bool = True) -> Decision:
    """The decision after the reader's log odds that one of the best sections answers. Only a reading in favour lifts a
    refusal: else a question about the weather would get some quote. Without `points_to_nearest`, more questions are
    refused."""
    assert decision.log_odds is not None
    if decision.refusal is not None and reading <= 0:
        return replace(decision, reading=reading)
    log_odds = decision.second_opinion.of(decision.log_odds, reading)
    refusal = None
    if log_odds > decision.margin - (0.0 if points_to_nearest else WITHOUT_NEAREST):
        refusal = decision.refusal or Refusal(RefusalReason.NOTHING_RELEVANT)
    return replace(decision, refusal=refusal, log_odds=log_odds, reading=reading)


def _whole(judged: Judgement, result: QuestionResults, margin: float) -> Decision:
    """The decision on the whole question."""
    return Decision(
        judged.refusal, result, judged.names, judged.unknown, judged.features, judged.log_odds, margin,
        unheard=judged.unheard, unspoken=judged.unspoken,
    )  # fmt: skip


def _decide_parts(index: Index, result: QuestionResults, margin: float) -> Decision:
    """Decide as for a single question; but drop the parts that name something the material lacks, if it has the other
    parts, and judge only these."""
    judged = judge(index, result.for_decision, margin=margin)
    whole = _whole(judged, result, margin)
    judgements = [judge(index, side, margin=margin) for side in result.sides]
    known = [place for place, one in enumerate(judgements) if one.refusal is None or not one.refusal.missing]
    if len(known) in (0, len(judgements)) or (judged.refusal is not None and not judged.refusal.missing):
        return whole
    sides = tuple(result.sides[place] for place in known)
    return _of_the_rest(whole, known, sides, [judgements[place] for place in known])


def _of_the_rest(
    whole: Decision, known: Sequence[int], sides: tuple[Evidence, ...], judgements: Sequence[Judgement]
) -> Decision:
    """The decision on the sides or parts at the `known` places alone: the most doubtful of them decides."""
    result = whole.result
    asked = result.question.compared or result.question.parts
    left = replace(
        result,
        selection_query=sides[0].query,
        evidence=merge(sides, len(result.evidence.hits)),
        sides=sides if len(sides) > 1 else (),
        silent=tuple(side for place, side in enumerate(asked) if place not in known),
    )
    refusal = next((one.refusal for one in judgements if one.refusal), None)
    doubtful = max(judgements, key=lambda one: -np.inf if one.log_odds is None else one.log_odds)
    return replace(
        whole, refusal=refusal, result=left, features=doubtful.features, log_odds=doubtful.log_odds,
        unknown=tuple(name for name in whole.unknown if not any(name in part for part in left.silent)),
        unheard=doubtful.unheard, unspoken=doubtful.unspoken,
    )  # fmt: skip


def judge(index: Index, evidence: Evidence, *, margin: float = 0.0) -> Judgement:
    """A refusal if the features say that no passage found answers the question. Its `missing` are the names in the
    question that occur nowhere in the material, nor in the questions that it is written to answer."""
    evidence = _without_code(evidence)
    names = [name for name in find_names(index.keywords, evidence.query) if name.forms or not _is_asked(index, name)]
    unknown = [name for name in names if not name.forms]
    features = read_features(index, evidence, names)
    log_odds = log_odds_of(index, features) if features else None
    unheard, unspoken = False, None
    if log_odds is not None and index.manifest.writes(chinese=has_chinese(evidence.query)):
        unheard, unspoken = unheard_share(index, evidence.query) == 1, unspoken_share(index, evidence)
        log_odds += UNHEARD_OF * unheard if unspoken is None else UNSPOKEN * (unspoken - USUALLY_UNSPOKEN)
    if log_odds is None:
        refusal = _judge_by_names(evidence, unknown)
    elif log_odds <= margin:
        refusal = None
    else:
        reason = RefusalReason.MISSING_TERMS if unknown else RefusalReason.NOTHING_RELEVANT
        refusal = _refusal(reason, unknown)
    written = tuple(name.written for name in unknown if name.kind is NameKind.NAME)
    return Judgement(refusal, tuple(name.written for name in names), written, features, log_odds, unheard, unspoken)


def _is_asked(index: Index, name: Name) -> bool:
    """Whether a name that no passage has is a word of readers (badcase): the written questions of several sections have
    it."""
    return index.asked.frequency(stem(fold(name.written))) >= ASKED_OFTEN


def _without_code(evidence: Evidence) -> Evidence:
    """The evidence without code passages, unless the question asks for code: strings and comments of an example are not
    statements of a page."""
    if answered_by(Intent.CODE, evidence.query):
        return evidence
    left = tuple(hit for hit in evidence.hits if not hit.passage.is_code)
    return replace(evidence, hits=left) if left else evidence


def _judge_by_names(evidence: Evidence, unknown: Sequence[Name]) -> Refusal | None:
    """Without a calibration no threshold exists: only missing names cause a refusal."""
    if not evidence.hits:
        return _refusal(RefusalReason.NOTHING_RELEVANT, unknown)
    unknown = [name for name in unknown if name.kind is not NameKind.CAPITAL]
    return _refusal(RefusalReason.MISSING_TERMS, unknown) if unknown else None


def _refusal(reason: RefusalReason, unknown: Sequence[Name]) -> Refusal:
    return Refusal(reason, tuple(name.written for name in unknown))


def _speaking(side: str, evidence: Evidence) -> Evidence:
    """The evidence from the first passage that contains all terms of a side, if that is among the best; else none. The
    terms of `Ray Train` occur in many passages, apart."""
    wanted = set(terms(side))
    for place, hit in enumerate(evidence.hits[:SPEAKING_HITS]):
        if wanted <= {*terms(hit.passage.text), *terms(hit.passage.title)}:
            return replace(evidence, hits=evidence.hits[place:])
    return replace(evidence, hits=())


def _is_silent(index: Index, side: str, missing: tuple[str, ...]) -> bool:
    """Whether the material lacks a side: the side contains a missing name, or none of its Chinese terms occurs."""
    if any(name in side for name in missing):
        return True
    return has_chinese(side) and not any(index.keywords.frequency(term) for term in terms(side))
