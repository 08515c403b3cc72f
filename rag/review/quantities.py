"""The same quantity with another figure, in one language or between the two languages of a page."""

import re
from collections.abc import Sequence

from rag.answer.written.polarity import points_elsewhere
from rag.review.comparison import Comparison, Disagreement, Part, same_subject
from rag.review.figures import Figure
from rag.review.readings import Reading
from rag.text.terms import fold

# Shared words of this weight make it sure that both speak of the same.
SURE = 18.0
# Of this weight those must be that are no names: what is measured.
MEASURED = 5.0
# Figures further apart measure different things: bytes of a parameter, bytes of a model.
FARTHEST = 100.0
# Counts up to this without a unit are found everywhere.
SMALL = 10.0
# Units of results: a further figure of them beside the one compared is no condition of it.
RESULTS = frozenset({"byte/s", "token/s", "flop", "second", "percent", "point", "times", "watt", "dollar"})
# Units that are written alike in both languages.
COMMON_UNITS = frozenset({*RESULTS, "byte", "bit", "token", "layer", "parameter", "gpu", "dimension", "head", "expert"})
# A symbol is given a value for the sake of an example, unless somebody is said to have chosen it.
CHOSEN = re.compile(
    r"默认|缺省|推荐|建议|论文|原文|官方|常[用取]|一般取|通常|\b(?:default|paper|recommend|official|typical|usual)",
    re.IGNORECASE,
)
# The result of a calculation holds for what was put in; what a figure is the condition of follows it.
IS_COMPUTED = re.compile(r"[=≈]\s*约?\s*$")
IS_CONDITION = re.compile(r"\s*(?:的?时(?!间|长|延)|时候|以后|之后)")


def other_figure(
    comparison: Comparison, one: Reading, parts: Sequence[Part], other: Reading, other_parts: Sequence[Part]
) -> Disagreement | None:
    """The two figures of statements in one language that most surely measure the same and differ."""
    best: Disagreement | None = None
    for part, other_part in ((a, b) for a in parts for b in other_parts if a.clause.figures and b.clause.figures):
        score, shared = _sameness(comparison, part, other_part)
        if best is not None and score <= best.score:
            continue
        for a in _measured(one, part):
            for b in _measured(other, other_part):
                if not a.differs(b) or a.is_far_from(b, FARTHEST) or _known_elsewhere(comparison, one, a, other, b):
                    continue
                if (
                    _conditions_hold(one, part, a, other, b)
                    and _conditions_hold(other, other_part, b, one, a)
                    and same_subject(one, part, other, other_part)
                    and not points_elsewhere(fold(part.clause.text), fold(other_part.clause.text))
                ):
                    best = Disagreement((one.written(a), other.written(b)), comparison.rarest(shared), score)
    return best


def _measured(reading: Reading, part: Part) -> list[Figure]:
    """The figures of a clause of which it can be told what they measure."""
    result = []
    for figure in part.clause.figures:
        if IS_CONDITION.match(reading.text, figure.end):
            continue
        if not figure.symbol and IS_COMPUTED.search(reading.text, 0, figure.start):
            continue
        # 7B is the size of a model, which names it.
        is_size = figure.unit == "parameter" and reading.written(figure)[-1] in "bB"
        if figure.symbol:
            measures = bool(CHOSEN.search(reading.text))
        else:
            alone = sum(each.unit == figure.unit for each in part.clause.figures) == 1
            measures = alone and not is_size and bool(figure.unit or not 1 <= figure.high <= SMALL)
        if measures:
            result.append(figure)
    return result


def _known_elsewhere(comparison: Comparison, one: Reading, a: Figure, other: Reading, b: Figure) -> bool:
    same_document = one.statement.document == other.statement.document
    return comparison.knows(other, a, same_document=same_document) or comparison.knows(
        one, b, same_document=same_document
    )


def _sameness(comparison: Comparison, a: Part, b: Part) -> tuple[float, frozenset[str]]:
    """How surely two figures measure the same: by the words that both parts have of those that the one with fewer has,
    and of all. And what those words are."""
    both = a.words & b.words
    if comparison.weight(both - a.topic - b.topic) < MEASURED:
        return 0.0, both
    shared, least = comparison.weight(both), min(a.weight, b.weight)
    if not least:
        return 0.0, both
    contained, alike = shared / least, shared / (a.weight + b.weight - shared)
    return float((contained * alike) ** 0.5 * min(1.0, shared / SURE)), both


def _conditions_hold(one: Reading, part: Part, figure: Figure, other: Reading, theirs: Figure) -> bool:
    """Whether the further figures of a statement, such as the size of a model, are none that the other one denies;
    those beside the figure itself must be stated there too. A clause with a figure of the same unit has its own
    conditions."""
    rest = [each for each in other.figures if each is not theirs]
    for clause in one.clauses:
        if clause is not part.clause and any(each.unit == figure.unit for each in clause.figures):
            continue
        for condition in clause.figures:
            if condition is figure or condition.unit in RESULTS:
                continue
            alike = [each for each in rest if (each.unit, each.symbol) == (condition.unit, condition.symbol)]
            if not condition.is_among(alike) and (alike or clause is part.clause):
                return False
    return True


def other_translation(
    comparison: Comparison, chinese: Reading, english: Reading, likeness: float
) -> Disagreement | None:
    """A figure that the English part of a page has and its Chinese part nowhere, in place of one that this has.

    The languages share few words: their likeness, their names and their other figures say whether both speak of the
    same.
    """
    named = chinese.names & english.names
    document, section = english.statement.document, english.statement.section
    in_chinese = comparison.in_language.get((document, chinese.statement.language), [])
    in_english = comparison.in_section.get((document, section), [])
    agreeing = sum(figure.unit in COMMON_UNITS and figure.is_among(chinese.figures) for figure in english.figures)
    sure = max(likeness, 1 - 0.5**agreeing)
    every = comparison.weight(chinese.names | english.names) or 1.0
    score = sure**0.5 * (0.5 + 0.5 * comparison.weight(named) / every)
    for figure in english.figures:
        if (figure.unit not in COMMON_UNITS and not figure.symbol) or figure.amount_is_among(in_chinese):
            continue
        for theirs in chinese.figures:
            if (
                theirs.differs(figure)
                and not theirs.is_far_from(figure, FARTHEST)
                and not theirs.amount_is_among(in_english)
            ):
                return Disagreement((chinese.written(theirs), english.written(figure)), comparison.rarest(named), score)
    return None
