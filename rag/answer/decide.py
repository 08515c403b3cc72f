"""Whether the material holds an answer at all, decided before anything is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag.answer.answerability import AnswerabilityFeatures, read_features, unspoken_share
from rag.answer.calibration import log_odds as log_odds_of
from rag.answer.evidence import SearchResult
from rag.index import Index
from rag.language.intents import Intent, answered_by
from rag.language.language import has_chinese
from rag.language.terms import terms
from rag.question.names import Kind, Name, find_names
from rag.question.unheard import unheard_share
from rag.search.retrieval import Evidence, merge
from rag.types import Refusal, RefusalReason

# Log odds against an answer for a question all of whose words are foreign to the material: short ones (晚饭吃啥) match
# something everywhere. A close match in other words outweighs it.
UNHEARD_OF = 3.0
# Where questions are written down for the pages, log odds for all of what a question names being unspoken of, and the
# share from which they count against an answer. These two and SECOND_OPINION_ASKED are fitted by
# `python -m tools.fit.second_opinion` (docs/results/refusals.md).
UNSPOKEN = 3.2
USUALLY_UNSPOKEN = 0.62
# Log odds from the threshold within which what the reader says can change the decision.
READ_WITHIN = 3.0
# How much lower the threshold lies for a chat model, which would answer what is doubtful: it refuses 2% of the
# answerable development questions.
WITHOUT_NEAREST = 0.79


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """Logistic regression over the log odds against an answer and the best reading, which is believed up to `limit`,
    on the scale of the log odds; `doubtful` are the log odds below the threshold from which an answer is."""

    offset: float
    log_odds: float
    reading: float
    limit: float
    doubtful: float

    def of(self, log_odds: float, reading: float) -> float:
        """The log odds against an answer where both are known."""
        return self.offset + self.log_odds * log_odds + self.reading * max(-self.limit, min(self.limit, reading))


# Fitted to the development questions of asked.jsonl and gold.jsonl; the scale is that at which 5% of those that have an
# answer are doubtful. The offset refuses none of them, for on other people's documents, where the log odds alone tell
# nothing of a question that sounds as if it might be answered, too many are refused (docs/results/best_places.md).
SECOND_OPINION = SecondOpinion(offset=-0.96, log_odds=0.48, reading=-0.49, limit=12.0, doubtful=1.75)
# Of pages with written questions, whose log odds tell more.
SECOND_OPINION_ASKED = SecondOpinion(offset=-0.14, log_odds=1.0, reading=-0.67, limit=12.0, doubtful=2.24)

# Where one side is silent, another must stand in one of so many passages to be answered alone.
SPEAKING_HITS = 3


@dataclass(frozen=True, slots=True)
class Judgement:
    """A refusal, or None, of one piece of evidence, and what it rests on. `unheard` says that nothing named by the
    question stands in the material; `unspoken` is the share of it of which the pages found do not speak, None where no
    questions are written for them."""

    refusal: Refusal | None
    names: tuple[str, ...]
    features: AnswerabilityFeatures | None
    log_odds: float | None
    unheard: bool = False
    unspoken: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to refuse, and what is left to answer from.

    `log_odds` against an answer, refused above `margin`, are None where nothing is calibrated; `names` are those that
    the question holds. `reading` is what a reader said, None where it was not asked.
    """

    refusal: Refusal | None
    result: SearchResult
    names: tuple[str, ...] = ()
    features: AnswerabilityFeatures | None = None
    log_odds: float | None = None
    margin: float = 0.0
    unheard: bool = False
    unspoken: float | None = None
    reading: float | None = None

    @property
    def may_change(self) -> bool:
        """Whether what a reader says can make a refusal of an answer, or the reverse."""
        return self.log_odds is not None and abs(self.log_odds - self.margin) < READ_WITHIN

    @property
    def in_doubt(self) -> bool:
        """Whether an answer may be tried, but the odds are near to a refusal."""
        doubtful = self.second_opinion.doubtful
        return self.refusal is None and self.log_odds is not None and self.log_odds > self.margin - doubtful

    @property
    def second_opinion(self) -> SecondOpinion:
        return SECOND_OPINION if self.unspoken is None else SECOND_OPINION_ASKED


def decide(index: Index, result: SearchResult, *, margin: float = 0.0) -> Decision:
    """Refuse, or answer: of a comparison without the sides that the material does not know, if it knows another.

    `margin` moves the threshold in log odds: above 0 fewer questions are refused, below 0 more.
    """
    if result.plan.parts:
        return _decide_parts(index, result, margin)
    judged = judge(index, result.for_decision, margin=margin)
    whole = _whole(judged, result, margin)
    refusal = judged.refusal
    if not result.compared or (refusal is not None and not refusal.missing):
        return whole
    missing = refusal.missing if refusal else ()
    silent = [_is_silent(index, side, missing) for side in result.compared]
    # What no side names is asked of all of them.
    about_all = any(not any(name in side for side in result.compared) for name in missing)
    if not any(silent) or all(silent) or about_all:
        return whole
    known = [place for place, is_silent in enumerate(silent) if not is_silent]
    sides = tuple(_speaking(result.compared[place], result.sides[place]) for place in known)
    if not all(side.hits for side in sides):
        return whole
    left = replace(
        result,
        question=sides[0].query,
        evidence=merge(sides, len(result.evidence.hits)),
        sides=sides if len(sides) > 1 else (),
        silent=tuple(side for side, is_silent in zip(result.compared, silent, strict=True) if is_silent),
    )
    return _of_the_rest(whole, left, [judge(index, side, margin=margin) for side in sides])


def reconsider(decision: Decision, reading: float, *, points_to_nearest: bool = True) -> Decision:
    """The decision with what the reader says of the best sections: its log odds that one of them answers. A refusal is
    only lifted where it finds an answer: else whoever asks about the weather is shown something. Where nobody would
    point to the nearest, more is refused."""
    assert decision.log_odds is not None
    if decision.refusal is not None and reading <= 0:
        return replace(decision, reading=reading)
    log_odds = decision.second_opinion.of(decision.log_odds, reading)
    refusal = None
    if log_odds > decision.margin - (0.0 if points_to_nearest else WITHOUT_NEAREST):
        refusal = decision.refusal or Refusal(RefusalReason.NOTHING_RELEVANT)
    return replace(decision, refusal=refusal, log_odds=log_odds, reading=reading)


def _whole(judged: Judgement, result: SearchResult, margin: float) -> Decision:
    """The decision on all that was asked."""
    return Decision(
        judged.refusal, result, judged.names, judged.features, judged.log_odds, margin, unheard=judged.unheard,
        unspoken=judged.unspoken,
    )  # fmt: skip


def _decide_parts(index: Index, result: SearchResult, margin: float) -> Decision:
    """As of a question that asks one thing; but parts that name what the material does not know are left out where it
    knows the others, and these alone are judged then."""
    judged = judge(index, result.for_decision, margin=margin)
    whole = _whole(judged, result, margin)
    judgements = [judge(index, side, margin=margin) for side in result.sides]
    known = [place for place, one in enumerate(judgements) if one.refusal is None or not one.refusal.missing]
    if len(known) in (0, len(judgements)) or (judged.refusal is not None and not judged.refusal.missing):
        return whole
    sides = tuple(result.sides[place] for place in known)
    left = replace(
        result,
        question=sides[0].query,
        evidence=merge(sides, len(result.evidence.hits)),
        sides=sides if len(sides) > 1 else (),
        silent=tuple(part for place, part in enumerate(result.plan.parts) if place not in known),
    )
    return _of_the_rest(whole, left, [judgements[place] for place in known])


def _of_the_rest(whole: Decision, left: SearchResult, judgements: Sequence[Judgement]) -> Decision:
    """The decision where something was left out: what is left is judged, by the most doubtful of it."""
    refusal = next((one.refusal for one in judgements if one.refusal), None)
    doubtful = max(judgements, key=lambda one: -np.inf if one.log_odds is None else one.log_odds)
    return replace(
        whole, refusal=refusal, result=left, features=doubtful.features, log_odds=doubtful.log_odds,
        unheard=doubtful.unheard, unspoken=doubtful.unspoken,
    )  # fmt: skip


def judge(index: Index, evidence: Evidence, *, margin: float = 0.0) -> Judgement:
    """A refusal where the features say that nothing found answers the question. Its `missing` are the names of the
    question that stand nowhere in the material."""
    evidence = _without_code(evidence)
    names = find_names(index.keywords, evidence.query)
    unknown = [name for name in names if not name.forms]
    features = read_features(index, evidence, names)
    log_odds = log_odds_of(index, features) if features else None
    unheard, unspoken = False, None
    if log_odds is not None and _is_written_in(index, has_chinese(evidence.query)):
        unheard, unspoken = unheard_share(index, evidence.query) == 1, unspoken_share(index, evidence)
        log_odds += UNHEARD_OF * unheard if unspoken is None else UNSPOKEN * (unspoken - USUALLY_UNSPOKEN)
    if log_odds is None:
        refusal = _judge_by_names(evidence, unknown)
    elif log_odds <= margin:
        refusal = None
    else:
        reason = RefusalReason.MISSING_TERMS if unknown else RefusalReason.NOTHING_RELEVANT
        refusal = _refusal(reason, unknown)
    return Judgement(refusal, tuple(name.written for name in names), features, log_odds, unheard, unspoken)


def _without_code(evidence: Evidence) -> Evidence:
    """The evidence without passages of code, of a question that asks for none: the strings and comments of an example
    are not what a page says."""
    if answered_by(Intent.CODE, evidence.query):
        return evidence
    left = tuple(hit for hit in evidence.hits if not hit.passage.is_code)
    return replace(evidence, hits=left) if left else evidence


def _is_written_in(index: Index, chinese: bool) -> bool:
    """Whether the material is written in the language of a question: else other words than its own say the same."""
    anchors = index.manifest.anchors
    return anchors is not None and anchors.writes(chinese=chinese)


def _judge_by_names(evidence: Evidence, unknown: Sequence[Name]) -> Refusal | None:
    """Without a calibration nothing tells how near is near enough: only missing names refuse."""
    if not evidence.hits:
        return _refusal(RefusalReason.NOTHING_RELEVANT, unknown)
    unknown = [name for name in unknown if name.kind is not Kind.CAPITAL]
    return _refusal(RefusalReason.MISSING_TERMS, unknown) if unknown else None


def _refusal(reason: RefusalReason, unknown: Sequence[Name]) -> Refusal:
    return Refusal(reason, tuple(name.written for name in unknown))


def _speaking(side: str, evidence: Evidence) -> Evidence:
    """The evidence from the first passage on that holds all terms of a side, if that is one of the best; else none.
    The terms of `Ray Train` stand in many passages, apart."""
    wanted = set(terms(side))
    for place, hit in enumerate(evidence.hits[:SPEAKING_HITS]):
        if wanted <= {*terms(hit.passage.text), *terms(hit.passage.title)}:
            return replace(evidence, hits=evidence.hits[place:])
    return replace(evidence, hits=())


def _is_silent(index: Index, side: str, missing: tuple[str, ...]) -> bool:
    """Whether the material does not know a side: by a name that it lacks, or by having none of its Chinese terms."""
    if any(name in side for name in missing):
        return True
    return has_chinese(side) and not any(index.keywords.frequency(term) for term in terms(side))
