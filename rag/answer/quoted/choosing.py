"""What to quote: the section that answers best, what in it answers first, and what is about as good."""

from collections.abc import Sequence
from dataclasses import replace

from rag.answer.quoted.paragraphs import Paragraph
from rag.answer.quoted.ranking import NOTHING_ELSE, Ranking, Wanted
from rag.answer.quoted.sections import Section
from rag.language.intents import Intent, answered_by
from rag.text.roles import WHOLE_ANSWERS, SectionRole
from rag.text.sentences import Unit, UnitKind

# Characters of an answer in the standard style: what is read in a minute.
ANSWER_CHARACTERS = 1_200
# Sections for a question, and for each side of a comparison, in the standard style.
SECTIONS = 3
# How much longer a comparison may be, shared by the whole question and its sides.
COMPARISON = 2
# A section follows while its log odds are not further than this below those of the best; what nothing says to belong
# together, such as another page or another paragraph without a heading, only where it is about as good.
CLEARLY_WORSE = 1.5
CLEARLY_WORSE_ELSEWHERE = 0.5
# How far below the paragraph that answers best a section's first one may lie, whose first sentence then leads in: what
# the section says, before what was looked for. Of 291 labelled development sections of several paragraphs the sentence
# that answers then stands in what opens for .79, for .74 without (docs/results/best_places.md).
LEADS_IN = 0.05
# What says in other forms what the page says as a whole.
SAME_IN_OTHER_FORMS = WHOLE_ANSWERS | {SectionRole.POINTS}


def fitted(section: Section, room: int) -> Section:
    """The section whole where it fits into so many characters; else its paragraphs that answer best, in order, at least
    one."""
    if section.length <= room:
        return section
    kept: list[int] = []
    for place in _best_first(section):
        length = section.paragraphs[place].length
        if length <= room or not kept:
            kept.append(place)
            room -= length
    return _with(section, sorted(kept))


def answer_first(section: Section) -> Section:
    """The section with the paragraph that answers best in front of the others, led in by the section's first sentence.
    Not where code may run over several of them, nor what answers the whole page, which is said in its order; nor a
    table that no line announces, which is the rest of one that a passage before it began. Where no heading says what
    the text is about, it opens with the sentence that answers."""
    if section.holds(UnitKind.CODE) or section.role in WHOLE_ANSWERS:
        return section
    if not section.is_headed:
        return _from_answer(section)
    announced = [p for p in _best_first(section) if section.paragraphs[p].units[0].kind is not UnitKind.TABLE]
    if not announced or announced[0] == 0:
        return section
    first = announced[0]
    opened = _with(section, [first, *(place for place in range(len(section.paragraphs)) if place != first)])
    lead, *rest = section.paragraphs[0].units
    answers, leads = opened.best_of_each[:2]
    if not (_leads_in(lead, section.paragraphs[0].texts[0]) and leads >= answers - LEADS_IN):
        return opened
    led_in, before, *others = opened.paragraphs
    left = [_from(replace(before, units=tuple(rest)), begins_line=True)] if rest else []
    paragraphs = (replace(before, units=(lead,)), _from(led_in, begins_line=False), *left, *others)
    return replace(opened, paragraphs=paragraphs, answering=())


def _from_answer(section: Section) -> Section:
    """The section without the sentences of its first paragraph that stand before the one that answers, or one as good,
    and are clearly worse."""
    if not section.answering:
        return section
    paragraph, scores = section.paragraphs[0], section.answering[0]
    first = next(place for place, score in enumerate(scores) if score >= max(scores) - LEADS_IN)
    if first == 0 or any(unit.kind is not UnitKind.SENTENCE or unit.mark for unit in paragraph.units[: first + 1]):
        return section
    opened = _from(replace(paragraph, units=paragraph.units[first:]), begins_line=True)
    return replace(
        section,
        paragraphs=(opened, *section.paragraphs[1:]),
        answering=(scores[first:], *section.answering[1:]),
    )


def _from(paragraph: Paragraph, *, begins_line: bool) -> Paragraph:
    """The paragraph, written in a line of its own or in that of the one before."""
    first, *others = paragraph.units
    return replace(paragraph, units=(replace(first, begins_line=begins_line), *others))


def _leads_in(unit: Unit, text: str) -> bool:
    """Whether a sentence stands by itself before another paragraph: no item of a list, and it announces nothing."""
    return unit.kind is UnitKind.SENTENCE and not unit.mark and not text.endswith((":", "："))


def _best_first(section: Section) -> list[int]:
    """The places of its paragraphs; in their order where nothing was asked."""
    answering = section.best_of_each
    return sorted(range(len(answering)), key=lambda place: -answering[place])


def _with(section: Section, places: Sequence[int]) -> Section:
    return replace(
        section,
        paragraphs=tuple(section.paragraphs[place] for place in places),
        answering=tuple(section.answering[place] for place in places) if section.answering else (),
    )


def choose_paragraphs(
    rankings: Sequence[Ranking],
    *,
    wanted: Wanted = NOTHING_ELSE,
    characters: int = ANSWER_CHARACTERS,
    cut: float = 1.0,
) -> list[Paragraph]:
    """What to quote: whole sections, best first, up to `characters`, until the next is clearly worse than the best.

    The first of the rankings is that of the question, others are of the sides of a comparison: the best section of
    each is quoted too. A `cut` below 1 lets more sections follow.
    """
    chosen: dict[tuple[str, int, int], Section] = {}
    if len(rankings) > 1:
        characters = characters * COMPARISON // len(rankings)
    for place, ranking in enumerate(rankings):
        room = characters
        code_is_due = answered_by(Intent.CODE, ranking.query)
        for section in _best(ranking, wanted, cut):
            first = bool(place) and room == characters
            # Half of a block of code is worth nothing: what opens, and the first that was asked for, may be longer.
            is_due = section.holds(UnitKind.CODE) and (not chosen or code_is_due)
            if section.key in chosen or (section.length > room and chosen and not (first or is_due)):
                continue
            kept = fitted(section, 2 * characters if is_due else room)
            chosen[section.key] = kept if chosen else answer_first(kept)
            room -= kept.length
            code_is_due &= not is_due
    return [paragraph for section in chosen.values() for paragraph in section.paragraphs]


def _best(ranking: Ranking, wanted: Wanted, cut: float) -> list[Section]:
    """The sections that answer, best first."""
    if not ranking.sections:
        return []
    first = ranking.sections[0]

    def follows(section: Section, score: float) -> bool:
        if section.document == first.document:  # in one language, for a page says the same in both
            same = section.is_translation == first.is_translation
            worse = CLEARLY_WORSE if section.is_headed else CLEARLY_WORSE_ELSEWHERE
            return same and score >= ranking.scores[0] - worse / cut
        # The short answer of another page answers another question.
        return score >= ranking.scores[0] - CLEARLY_WORSE_ELSEWHERE / cut and not section.is_short_answer

    scored = zip(ranking.sections, ranking.scores, strict=True)
    best = [section for section, score in scored if follows(section, score)]
    if first.role in WHOLE_ANSWERS:
        best = [*_whole_answer(first, ranking.sections), *(s for s in best if s.role not in SAME_IN_OTHER_FORMS)]
    else:  # a part of the page, which the whole of it would only say again
        best = [section for section in best if section.role not in WHOLE_ANSWERS]
    best = best[: max(1, round(SECTIONS / cut))]
    return _wanted_part(ranking.sections, best, wanted) or best


def _whole_answer(first: Section, sections: Sequence[Section]) -> list[Section]:
    """What a page says to a question about all of it: what one would say aloud where it has that, else its short
    answer; then its points."""
    said = {
        section.role: section
        for section in sections
        if section.document == first.document and section.is_translation == first.is_translation
    }
    opening = said.get(SectionRole.SPOKEN, first)
    return [opening, *(said[role] for role in (SectionRole.POINTS,) if role in said)]


def _wanted_part(sections: Sequence[Section], best: Sequence[Section], wanted: Wanted) -> list[Section]:
    """The sections that an intent names, of all the best first; none where it names none, or there are none."""
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
            return short[:1] or [_with(best[0], _best_first(best[0])[:1])]
        case Intent.SIMPLER:
            short = [section for section in sections if section.is_short_answer and section is not best[0]]
            return [best[0], *short]
    return []
