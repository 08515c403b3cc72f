"""Decides which part of a section an answer opens with, and what goes before it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag.answer.quoted.paragraphs import BLOCKS, Paragraph, is_number
from rag.answer.quoted.sections import Section
from rag.language.asking import gives_figure
from rag.language.ends import FULL_STOPS, SEMICOLONS, ends_with
from rag.language.pointing import sentence_points_back
from rag.language.sentence_kinds import ENDS, LEGEND_OF_A_BLOCK, SPEAKS_OF_A_BLOCK, plain
from rag.language.terms import fold
from rag.text.roles import WHOLE_ANSWERS, SectionRole
from rag.text.sentences import Unit, UnitKind

# How far a section's first paragraph may score below its best one for its first sentence to lead in, which says what
# the section is about. Of 291 labelled development sections of several paragraphs the opening then holds the sentence
# that answers for .79, for .74 without (docs/results/best_places.md).
LEADS_IN = 0.05
# Characters of the lead to each of several asks: two sentences, or a long one.
LEAD_CHARACTERS = 160
# The roles of sections that give the answer of the whole page in other forms.
SAME_IN_OTHER_FORMS = WHOLE_ANSWERS | {SectionRole.POINTS}


def answer_first(section: Section, question: str) -> Section:
    """The section as it opens an answer to the question of its ranking. One without a heading opens with the sentence
    that answers, any other with its best paragraph, and with the figure if the question asks for one."""
    if not section.answering:
        return section
    if not section.is_headed:
        return _from_answer(section)
    opened = section if section.role in WHOLE_ANSWERS else _best_paragraph_first(section)
    return opened if gives_figure(question, opened.texts[0]) else _figure_first(opened, question, _scored(section))


def _figure_first(section: Section, question: str, scores: Mapping[tuple[int, int], float]) -> Section:
    """The section with the sentence in front that gives the figure asked for, if it answers about as well as the best.
    Of 21 labelled development questions whose section opens without the figure that another sentence gives, 13 then
    open with the sentence that answers, where one no longer does (docs/results/best_places.md)."""
    giving = [
        (place, number)
        for place, paragraph in enumerate(section.paragraphs)
        for number, text in enumerate(paragraph.texts)
        if gives_figure(question, text) and _can_be_moved(section.paragraphs, place, number)
    ]

    def answers(where: tuple[int, int]) -> float:
        paragraph = section.paragraphs[where[0]]
        return scores[paragraph.passage.number, paragraph.units[where[1]].start]

    best = max(giving, key=answers, default=None)
    if best is None or answers(best) < max(scores.values()) - LEADS_IN:
        return section
    place, number = best
    home = section.paragraphs[place]
    left = home.units[:number] + home.units[number + 1 :]
    rest = [_from(replace(home, units=left), begins_line=number == 0 or left[0].begins_line)] if left else []
    goes_on, *others = (*section.paragraphs[:place], *rest, *section.paragraphs[place + 1 :])
    opening = _from(replace(home, units=(home.units[number],)), begins_line=True)
    goes_on = _from(goes_on, begins_line=not _leads_in(goes_on.units[0], goes_on.texts[0]))
    return replace(section, paragraphs=(opening, goes_on, *others), answering=())


def _can_be_moved(paragraphs: Sequence[Paragraph], place: int, number: int) -> bool:
    """Whether a unit is a sentence after which another can go on, which can be read without what stands before it, and
    without which what follows can be read."""
    paragraph = paragraphs[place]
    text = paragraph.texts[number]
    own = replace(paragraph, units=paragraph.units[number : number + 1])
    if not (_leads_in(own.units[0], text) and ends_with(text, FULL_STOPS + SEMICOLONS)):
        return False
    if _points_back(own) or SPEAKS_OF_A_BLOCK.search(plain(text)):
        return False
    units = paragraph.units[number + 1 :]
    after = [replace(paragraph, units=units)] if units else paragraphs[place + 1 : place + 2]
    return not any(_points_back(following) or following.units[0].kind in BLOCKS for following in after)


def _best_paragraph_first(section: Section) -> Section:
    """The section with its best paragraph, and those that it cannot be read without, moved to the front, after the
    section's first sentence. Code, which may run over several paragraphs, is not moved, nor is the rest of a table cut
    between passages."""
    best = next(place for place in section.best_first if not _goes_on_with_a_table(section.paragraphs, place))
    if best == 0 or any(unit.kind is UnitKind.CODE for unit in section.paragraphs[best].units):
        return section
    first, last = _run(section.paragraphs, best)
    if first == 0:
        return section
    moved = range(first, last + 1)
    opened = section.keeping([*moved, *(place for place in range(len(section.paragraphs)) if place not in moved)])
    lead, *rest = section.paragraphs[0].units
    text = section.paragraphs[0].texts[0]
    leads, answers = section.best_of_each[0], section.best_of_each[best]
    # A line that ends no sentence would run into the next.
    if not (_leads_in(lead, text) and ends_with(text, FULL_STOPS + SEMICOLONS) and leads >= answers - LEADS_IN):
        return opened
    before, (goes_on, *others) = section.paragraphs[0], opened.paragraphs[: len(moved)]
    left = [_from(replace(before, units=tuple(rest)), begins_line=True)] if rest else []
    left += (p for p in opened.paragraphs[len(moved) :] if p is not before)
    paragraphs = (replace(before, units=(lead,)), _from(goes_on, begins_line=False), *others, *left)
    return replace(opened, paragraphs=paragraphs, answering=())


def _goes_on_with_a_table(paragraphs: Sequence[Paragraph], place: int) -> bool:
    """Whether a paragraph begins with the rest of the table at the end of the one before it."""
    around = (paragraphs[place].units[0], paragraphs[place - 1].units[-1]) if place else ()
    return bool(around) and all(unit.kind is UnitKind.TABLE for unit in around)


def _run(paragraphs: Sequence[Paragraph], place: int) -> tuple[int, int]:
    """The range of paragraphs that must stay with the one at `place`: those that it refers to, the lines that announce
    them, and the rest of a numbered list that runs over several paragraphs."""
    first = last = place
    while first and (
        paragraphs[first].units[0].kind in BLOCKS
        or _points_back(paragraphs[first])
        or _counts_on(paragraphs[first - 1], paragraphs[first])
        or _speaks_of(paragraphs[first - 1], paragraphs[first])
    ):
        first -= 1
    while last + 1 < len(paragraphs) and _counts_on(paragraphs[last], paragraphs[last + 1]):
        last += 1
    return first, last


def _points_back(paragraph: Paragraph) -> bool:
    """Whether it begins with a sentence that refers to the text before it, or explains the symbols of a formula."""
    words = fold(plain(paragraph.texts[0]))
    is_leaning = sentence_points_back(words) or bool(LEGEND_OF_A_BLOCK.match(words))
    return paragraph.units[0].kind is UnitKind.SENTENCE and is_leaning


def _counts_on(before: Paragraph, paragraph: Paragraph) -> bool:
    """Whether a paragraph continues the numbered list of the one before it."""
    mark = paragraph.units[0].mark
    return is_number(mark) and not mark.startswith("1.") and any(is_number(unit.mark) for unit in before.units)


def _speaks_of(before: Paragraph, paragraph: Paragraph) -> bool:
    """Whether a paragraph refers to the table, formula or code at the end of the one before it."""
    return before.units[-1].kind in BLOCKS and bool(SPEAKS_OF_A_BLOCK.search(plain(paragraph.texts[0])))


def _scored(section: Section) -> dict[tuple[int, int], float]:
    """How well each unit of a section answers, by its passage and where it begins there."""
    return {
        (paragraph.passage.number, unit.start): score
        for paragraph, scores in zip(section.paragraphs, section.answering, strict=True)
        for score, unit in zip(scores, paragraph.units, strict=True)
    }


def split_lead(section: Section) -> tuple[list[Paragraph], list[Paragraph]]:
    """The first sentences of a section, as many as a reader takes in at once, and the rest. A table, a formula or code
    is never part of the lead, nor is the line that announces it or one that ends no sentence: a section that opens with
    these is all rest."""
    lead: list[Paragraph] = []
    room = LEAD_CHARACTERS
    for place, paragraph in enumerate(section.paragraphs):
        if place and paragraph.units[0].begins_line:
            return lead, list(section.paragraphs[place:])
        taken = 0
        for unit, text in zip(paragraph.units, paragraph.texts, strict=True):
            goes_on = paragraph.units[taken + 1 : taken + 2]
            is_cut = not ENDS.search(text) and (not goes_on or goes_on[0].kind in BLOCKS)
            if is_cut or not _leads_in(unit, text) or ((lead or taken) and len(text) > room):
                break
            room -= len(text)
            taken += 1
        if taken:
            lead.append(replace(paragraph, units=paragraph.units[:taken]))
        if taken < len(paragraph.units):
            left = _from(replace(paragraph, units=paragraph.units[taken:]), begins_line=True)
            return lead, [left, *section.paragraphs[place + 1 :]]
    return lead, []


def led_on(lead: Sequence[Paragraph]) -> list[Paragraph]:
    """A lead that continues the line of the one before it."""
    return [_from(paragraph, begins_line=False) for paragraph in lead]


def opens_with_a_sentence(paragraphs: Sequence[Paragraph]) -> bool:
    """Whether a quote begins with a sentence that can continue a line, not with a list or a block."""
    units = [unit for paragraph in paragraphs[:1] for unit in paragraph.units[:1]]
    return any(unit.kind is UnitKind.SENTENCE and not unit.mark for unit in units)


def _from_answer(section: Section) -> Section:
    """The section from the first sentence that answers about as well as the best of its first paragraph; the sentences
    before it are dropped."""
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
    """The paragraph, on a line of its own or on that of the one before."""
    first, *others = paragraph.units
    return replace(paragraph, units=(replace(first, begins_line=begins_line), *others))


def _leads_in(unit: Unit, text: str) -> bool:
    """Whether a sentence can stand before another paragraph: it is not a list item, and announces nothing."""
    return unit.kind is UnitKind.SENTENCE and not unit.mark and not text.endswith((":", "："))
