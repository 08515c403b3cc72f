"""Chooses what to quote: the section that answers best, and those about as good."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import inf

from rag.answer.quoted.features import NOTHING_ELSE, Wanted
from rag.answer.quoted.opening import SAME_IN_OTHER_FORMS, answer_first, led_on, split_lead
from rag.answer.quoted.paragraphs import Paragraph
from rag.answer.quoted.ranking import SectionRanking
from rag.answer.quoted.sections import Section
from rag.language.messages import Intent, answered_by
from rag.text.roles import WHOLE_ANSWERS, SectionRole
from rag.text.sentences import UnitKind

# Characters of an answer in the standard style: one minute of reading.
ANSWER_CHARACTERS = 1_200
# Code is quoted whole: half of a block is worth nothing.
CODE_CHARACTERS = 6_000
# Sections for a question, and for each side of a comparison, in the standard style.
SECTIONS = 3
# How much longer a comparison may be, shared by the whole question and its sides.
COMPARISON = 2
# How far a section's log odds may lie below those of the best one for it to follow. The second limit is for sections
# that need not belong together: those of another page, and paragraphs without a heading.
CLEARLY_WORSE = 1.5
CLEARLY_WORSE_ELSEWHERE = 0.5
# Each of several asks gets a section of its own if that lies at most this far below the best. The section ranked first
# for each ask then begins with its answer for .66 of 148 development questions, for .61 without (`python -m
# tools.fit.asks`).
NEARLY_AS_GOOD = 1.5


def fitted(section: Section, room: int) -> Section:
    """The whole section if it fits into `room` characters; else its best paragraphs that fit, in order, at least
    one."""
    if section.length <= room:
        return section
    kept: list[int] = []
    for place in section.best_first:
        length = section.paragraphs[place].length
        if length <= room or not kept:
            kept.append(place)
            room -= length
    return section.keeping(sorted(kept))


def choose_paragraphs(
    rankings: Sequence[SectionRanking],
    *,
    wanted: Wanted = NOTHING_ELSE,
    characters: int = ANSWER_CHARACTERS,
    cut: float = 1.0,
) -> list[Paragraph]:
    """The paragraphs to quote: whole sections, best first, up to `characters`, until the next is clearly worse than the
    best.

    The first of the rankings is for the question, the others are for the sides of a comparison: the best section of
    each is quoted too. A `cut` below 1 lets more sections follow.
    """
    asks = rankings[0].asks if rankings and wanted.intent is None else ()
    if several := _for_each(asks, wanted=wanted, characters=characters, cut=cut):
        return several
    chosen: dict[tuple[str, int, int], Section] = {}
    if len(rankings) > 1:
        characters = characters * COMPARISON // len(rankings)
    for place, ranking in enumerate(rankings):
        room = characters
        code_is_due = answered_by(Intent.CODE, ranking.query)
        for section in _best(ranking, wanted, cut):
            first = bool(place) and room == characters
            is_due = section.holds(UnitKind.CODE) and (not chosen or code_is_due)
            if section.key in chosen or (section.length > room and chosen and not (first or is_due)):
                continue
            kept = fitted(section, max(room, CODE_CHARACTERS) if is_due else room)
            if not chosen:
                kept = answer_first(kept, ranking.query)
            chosen[section.key] = kept
            room -= kept.length
            code_is_due &= not is_due
    return [paragraph for section in chosen.values() for paragraph in section.paragraphs]


def _for_each(asks: Sequence[SectionRanking], *, wanted: Wanted, characters: int, cut: float) -> list[Paragraph]:
    """The paragraphs to quote for several asks: first one paragraph with the opening of each ask's best section, then
    the rest of each section. Empty if one section answers all asks, or only one ask is answered."""
    own = each_its_own([ranking for ranking in asks if ranking.sections])
    best = {ranking.sections[0].key: _best(ranking, wanted, cut) for ranking in own}
    if len(best) < 2:
        return []
    room = characters // len(best)
    opened = {
        ranking.sections[0].key: _opened(best[ranking.sections[0].key][0], ranking.query, asks, room) for ranking in own
    }
    leads: list[Paragraph] = []
    for lead, _ in opened.values():
        leads += led_on(lead) if leads else lead
    rest = {key: list(left) for key, (_, left) in opened.items()}
    for first, *others in best.values():
        left = room - first.length
        for section in others if not first.is_headed else others[: max(0, round(1 / cut) - 1)]:
            if section.key not in rest and section.length <= left:
                rest[section.key] = list(section.paragraphs)
                left -= section.length
    return [*leads, *(paragraph for left in rest.values() for paragraph in left)]


def each_its_own(asks: Sequence[SectionRanking]) -> list[SectionRanking]:
    """The rankings, with a section of its own for each ask if another is nearly as good: if two asks share their best
    section, the ask whose second-best section is closer takes that one, and is answered second."""
    own = list(asks)
    for earlier, later in combinations(range(len(own)), 2):
        both = own[earlier], own[later]
        loser = min(both, key=_loss)
        if both[0].sections[0].key == both[1].sections[0].key and _loss(loser) <= NEARLY_AS_GOOD:
            keeps = both[1] if loser is both[0] else both[0]
            own[earlier], own[later] = keeps, _without_first(loser)
    return own


def _loss(ranking: SectionRanking) -> float:
    """How much worse the next section is than the first."""
    left = _without_first(ranking)
    return ranking.scores[0] - left.scores[0] if left.scores else inf


def _without_first(ranking: SectionRanking) -> SectionRanking:
    """The ranking without its first section and the other forms of that section."""
    first = ranking.sections[0]
    forms = SAME_IN_OTHER_FORMS if first.role in SAME_IN_OTHER_FORMS else ()
    left = [
        place
        for place, section in enumerate(ranking.sections)
        if section.key != first.key and not (section.document == first.document and section.role in forms)
    ]
    return replace(
        ranking,
        sections=tuple(ranking.sections[place] for place in left),
        scores=tuple(ranking.scores[place] for place in left),
    )


def _opened(
    section: Section, question: str, asks: Sequence[SectionRanking], room: int
) -> tuple[list[Paragraph], list[Paragraph]]:
    """The opening sentences of a section, and as much of the rest as fits into `room` characters. A spoken answer is
    slow to come to the point, so the page's short answer opens for it."""
    if section.holds(UnitKind.CODE):
        room = max(room, CODE_CHARACTERS)
    if section.role is SectionRole.SPOKEN:
        page = (section.document, section.is_translation)
        for short in (other for ranking in asks for other in ranking.sections if other.is_short_answer):
            if (short.document, short.is_translation) == page:
                return split_lead(short)[0], list(fitted(section, room).paragraphs)
    lead, left = split_lead(answer_first(section, question))
    room -= sum(paragraph.length for paragraph in lead)
    return lead, list(fitted(replace(section, paragraphs=tuple(left), answering=()), room).paragraphs) if left else []


def _best(ranking: SectionRanking, wanted: Wanted, cut: float) -> list[Section]:
    """The sections that answer, best first."""
    if not ranking.sections:
        return []
    first = ranking.sections[0]

    def follows(section: Section, score: float) -> bool:
        if section.document == first.document:  # in one language: a page says the same in both
            same = section.is_translation == first.is_translation
            worse = CLEARLY_WORSE if section.is_headed else CLEARLY_WORSE_ELSEWHERE
            return same and score >= ranking.scores[0] - worse / cut
        # The short answer of another page answers another question.
        return score >= ranking.scores[0] - CLEARLY_WORSE_ELSEWHERE / cut and not section.is_short_answer

    scored = zip(ranking.sections, ranking.scores, strict=True)
    best = [section for section, score in scored if follows(section, score)]
    if first.role in WHOLE_ANSWERS:
        best = [*_whole_answer(first, ranking.sections), *(s for s in best if s.role not in SAME_IN_OTHER_FORMS)]
    else:  # a part of the page: its whole answer would only repeat it
        best = [section for section in best if section.role not in WHOLE_ANSWERS]
    best = best[: max(1, round(SECTIONS / cut))]
    return _wanted_part(ranking.sections, best, wanted) or best


def _whole_answer(first: Section, sections: Sequence[Section]) -> list[Section]:
    """A page's sections for a question about the whole page: its spoken answer if there is one, else its short answer;
    then its points."""
    said = {
        section.role: section
        for section in sections
        if section.document == first.document and section.is_translation == first.is_translation
    }
    opening = said.get(SectionRole.SPOKEN, first)
    return [opening, *(said[role] for role in (SectionRole.POINTS,) if role in said)]


def _wanted_part(sections: Sequence[Section], best: Sequence[Section], wanted: Wanted) -> list[Section]:
    """The sections that an intent asks for, best first; empty if it asks for none, or there are none."""
    match wanted.intent:
        case Intent.CODE:
            return [section for section in sections if section.holds(UnitKind.CODE)][:1]
        case Intent.FORMULA:
            written = [section for section in sections if section.holds(UnitKind.FORMULA)]
            return (written or [section for section in sections if section.holds(UnitKind.CODE)])[:2]
        case Intent.MISTAKES:
            return [section for section in sections if section.role is SectionRole.MISTAKES]
        case Intent.MORE:
            more = (s for s in sections if not s.was_heard(wanted.heard) and s.role is not SectionRole.MISTAKES)
            return [section for section in more if not section.holds(UnitKind.CODE)][:SECTIONS]
        case Intent.SHORTER:
            short = [section for section in sections if section.is_short_answer]
            return short[:1] or [best[0].keeping(best[0].best_first[:1])]
        case Intent.SIMPLER:
            short = [section for section in sections if section.is_short_answer and section is not best[0]]
            return [best[0], *short]
    return []
