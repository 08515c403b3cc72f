"""Headings without marks: titles, chapters, bold lines, and questions by their numbers and answers.

It knows these styles of questions: `31、…？` + `答案:`, `Q1：…`, `1. …` + `面试官想听`, `### 2. …`, `1. **…**`.
Numbered lines are questions when they count up through the document and answers follow; a numbered list inside an
answer starts again at 1. Without any, `Q: …` above `A: …` is a question.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from ingest.structure.lines import Line
from ingest.structure.scraped.repair import CHAPTER
from rag.language.ends import PROSE, QUESTION_MARKS, ends_with
from rag.language.numbering import LIST_NUMBER

MARKED_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
# What every style of questions begins with.
NUMBER = re.compile(r"\s*(?:#{1,6}\s*)?(?:\*\*)?(?:Q\s?)?\d{1,3}\s*[:：.．、]")
QUESTION_STYLES = (
    re.compile(r"^\s*(?:#{1,6}\s*)?(?:\*\*)?Q\s?(\d{1,3})\s*[:：.、]\s*\S"),
    re.compile(r"^\s*(?:#{1,6}\s*)?(?:\*\*)?(\d{1,3})\s*、\s*\S"),
    re.compile(r"^\s*(?:#{1,6}\s*)?(?:\*\*)?(\d{1,3})\s*[.．]\s+\S"),
)
Q = re.compile(r"\W*Q")
UNNUMBERED_QUESTION = re.compile(r"\s*(?:\*\*)?(?:Q|问题?|[Qq]uestion)\s*(?:\*\*\s*)?[:：]\s*(?:\*\*\s*)?\S")
BOLD_LINE = re.compile(r"\*\*(?=\S)(?:(?!\*\*)[^。；;！!]){1,80}(?<![.,，])\*\*[ \t]*[:：]?\s*")
# A line that ends by asking, without any mark before it.
QUESTION_LINE = re.compile(r"(?![ \t]|[-*+>|#•·\d(（])[^。；;！!?？\n]{2,60}[?？][ \t]*")
# A line that neither ends nor holds a sentence, nor begins with a mark; and one that gives something its value.
LABEL_LINE = re.compile(r"(?![-*+>|#•·@`$<]|\d{1,3}[.．、)）])[^。；;！!?？|`$]*[^。；;！!?？|`$.,，、:：]")
FIELD = re.compile(r"[:：]\s*\S")
ITEM = re.compile(rf"[-*+•·]\s|{LIST_NUMBER}")
FIGURE = re.compile(r"\s*[(（]?(\d{1,2}(?:\.\d{1,2})*)[.．)）\s]")
SUBHEADING = re.compile(r"^(?:[(（]\d{1,2}[)）]\s*\S|\d{1,2}[.．]\s?\S)[^。；;！!]{1,32}$")
ANSWER = r"(?:(?:参考|标准)?(?:答案|解答|回答)|[Aa]nswer|ANSWER|答|A\d{0,3})"
ANSWER_MARK = re.compile(rf"^\s*(?:\*\*{ANSWER}(?:\*\*\s*[:：]|\s*[:：]\s*\*\*)|{ANSWER}\s*[:：])\s*")
ANSWER_FOLLOWS = re.compile(rf"^\s*(?:(?:\*\*)?{ANSWER}(?:\*\*)?\s*[:：]|面试官想听)")
MOST_TITLE, MOST_LABEL = 80, 30
# A series without question or answer marks counts as questions if its items are this far apart (median, in lines).
MIN_SERIES = MIN_MEDIAN_GAP = 5
CHAPTER_LEVEL, QUESTION_LEVEL, SUBHEADING_LEVEL, DEEPEST_LEVEL = 1, 2, 4, 6


def title_line(lines: Sequence[Line]) -> int | None:
    """The number of the first line, if it reads as a title: it does not end like a sentence, and it is set apart by an
    empty line, by being much shorter than the next line, or because that is a sentence or a heading. A text of one line
    has no title."""
    said = [number for number, line in enumerate(lines) if line.text.strip()]
    if len(said) < 2:
        return None
    first, second = said[:2]
    text, following = lines[first].text.strip(), lines[second].text.strip()
    stands_apart = (
        second > first + 1
        or 2 * len(text) <= len(following)
        or _is_sentence(following)
        or _is_any_heading(lines[second].text)
    )
    is_title = len(text) <= MOST_TITLE and not _is_sentence(text) and not _is_any_heading(lines[first].text)
    return first if stands_apart and is_title and not lines[first].is_code else None


def unmarked_headings(lines: Sequence[Line], questions: frozenset[int], *, is_markdown: bool) -> dict[int, int]:
    """The level of each line that is a heading though Markdown does not mark it as one."""
    unmarked = (number for number in questions if not MARKED_HEADING.match(lines[number].text))
    levels = {n: DEEPEST_LEVEL if UNNUMBERED_QUESTION.match(lines[n].text) else QUESTION_LEVEL for n in unmarked}
    said = [number for number, line in enumerate(lines) if line.text.strip()]
    apart = set(range(-1, len(lines) + 1)).difference(said)
    prose = [number for number in said if not lines[number].is_code and number not in questions]
    asking = [n for n in prose if not is_markdown or apart.issuperset((n - 1, n + 1))] if not questions else []
    labels = {number for number in prose if BOLD_LINE.fullmatch(lines[number].text)}
    labels |= {number for number in asking if QUESTION_LINE.fullmatch(lines[number].text)}
    above = _above_text(labels, said, lines)
    if not above and not levels and not any(MARKED_HEADING.match(line.text) for line in lines):
        opening = {n for n in prose if n - 1 in apart and n + 1 not in apart and _is_title_of(lines[n], lines[n + 1])}
        above = _above_text(opening, said, lines)
    levels |= dict.fromkeys(above, DEEPEST_LEVEL)
    if is_markdown:
        return levels
    listed = _listed(lines)
    for number in said:
        line, text = lines[number], lines[number].text.strip()
        if line.is_code or number in questions or number in levels or MARKED_HEADING.match(line.text):
            continue
        if CHAPTER.match(line.text) and len(text) <= 40:
            levels[number] = CHAPTER_LEVEL
        elif SUBHEADING.match(text) and text[-1] not in ":：,，" and number not in listed:
            levels[number] = SUBHEADING_LEVEL
    return levels


def _listed(lines: Sequence[Line]) -> set[int]:
    """The numbered lines that touch: items of a list, unless they count within each other, as 1. and 1.1 do."""
    found: set[int] = set()
    for number, (line, below) in enumerate(pairwise(lines)):
        first, second = FIGURE.match(line.text), FIGURE.match(below.text)
        if first and second and not second[1].startswith(f"{first[1]}."):
            found |= {number, number + 1}
    return found


def _is_title_of(line: Line, below: Line) -> bool:
    """Whether a short line is a title of the line below it: the item of a list, a sentence, or a much longer line."""
    text, following = line.text.strip(), below.text.strip()
    stands_out = (2 * len(text) <= len(following) or PROSE.search(following)) and not FIELD.search(text)
    is_above = ITEM.match(following) or (stands_out and any(map(str.isalnum, following)))
    return len(text) <= MOST_LABEL and bool(is_above and LABEL_LINE.fullmatch(text))


def _above_text(labels: set[int], said: Sequence[int], lines: Sequence[Line]) -> list[int]:
    """The labels right above text, if there are several: a single one may be emphasis."""
    texts = {number for number in said if number not in labels and not MARKED_HEADING.match(lines[number].text)}
    above = [one for one, below in pairwise(said) if one in labels and below in texts]
    return above if len(above) > 1 else []


def without_answer_marks(lines: Sequence[Line], questions: frozenset[int], headings: dict[int, int]) -> list[Line]:
    """The lines without the marks that begin answers right below questions."""
    result = list(lines)
    for question in questions:
        number = next((n for n in range(question + 1, len(lines)) if lines[n].text.strip()), question)
        if number > question and number not in headings and not lines[number].is_code:
            mark = ANSWER_MARK.match(lines[number].text)
            result[number] = Line(lines[number].content[mark.end() :]) if mark else lines[number]
    return result


def _is_sentence(text: str) -> bool:
    return ends_with(text, QUESTION_MARKS) or bool(PROSE.search(text))


def _is_any_heading(text: str) -> bool:
    return bool(
        MARKED_HEADING.match(text) or CHAPTER.match(text) or any(style.match(text) for style in QUESTION_STYLES)
    )


def question_lines(lines: Sequence[Line]) -> frozenset[int]:
    """The numbers of the lines that are questions by their numbering, or else by `Q:` above `A:`."""
    numbered = [index for index, line in enumerate(lines) if not line.is_code and NUMBER.match(line.text)]
    found: set[int] = set()
    for style in QUESTION_STYLES:
        matches = [
            (index, int(match[1]), _is_marked(lines, index))
            for index in numbered
            if (match := style.match(lines[index].text))
        ]
        chain = _longest_count(matches)
        if _are_questions(lines, chain, len(matches)):
            found.update(_above_something(chain, lines))
    unnumbered = (n for n, line in enumerate(lines) if not line.is_code and UNNUMBERED_QUESTION.match(line.text))
    return frozenset(found or (n for n in unnumbered if ANSWER_FOLLOWS.match(_next_text(lines, n))))


def _longest_count(matches: Sequence[tuple[int, int, bool]]) -> list[int]:
    """The line numbers of the longest run that counts up by one: 1, 2, 3, … or 31, 32, …

    `matches` are (line, number, whether it is marked as a question). A run of which at least half the lines are marked
    precedes any other; each number takes its first marked place in the run, or its first.
    """
    best: tuple[bool, int, int] = (False, 0, 0)
    lines_of_best: list[int] = []
    runs: dict[int, tuple[int, list[int]]] = {}  # by their last number: how many are marked, and the lines
    for index, number, is_marked in matches:
        marked, run = runs.get(number - 1, (0, []))
        marked, run = marked + is_marked, [*run, index]
        known_marked, known = runs.get(number, (0, []))
        if (len(run), marked) > (len(known), known_marked):
            runs[number] = marked, run
        worth = (2 * marked >= len(run), len(run), marked)
        if worth > best:
            best, lines_of_best = worth, run
    # A list in the last answer may continue the count, but its items are on adjacent lines.
    numbered = {index: is_marked for index, _, is_marked in matches}
    while best[2] and lines_of_best and not numbered[lines_of_best[-1]] and lines_of_best[-1] - 1 in numbered:
        lines_of_best = lines_of_best[:-1]
    return lines_of_best


def _above_something(chain: Sequence[int], lines: Sequence[Line]) -> list[int]:
    """The numbered lines that ask, or have text below them: others are the items of a list, as are those that all
    touch."""
    touch = len(chain) > 1 and all(below == number + 1 for number, below in pairwise(chain))
    return [
        number
        for number, end in pairwise([*chain, len(lines)])
        if _asks(lines, number) or (not touch and any(line.text.strip() for line in lines[number + 1 : end]))
    ]


def _are_questions(lines: Sequence[Line], chain: Sequence[int], match_count: int) -> bool:
    if not chain:
        return False
    texts = [lines[index].text for index in chain]
    if len(chain) >= 2 and all(Q.match(text) for text in texts):
        return True
    answered = sum(bool(ANSWER_FOLLOWS.match(_next_text(lines, index))) for index in chain)
    asked = sum(ends_with(text, QUESTION_MARKS) or _is_bold(text) for text in texts)
    if 2 * answered >= len(chain) or (2 * asked >= len(chain) and len(chain) >= 2):
        return True
    gaps = sorted(b - a for a, b in pairwise(chain))
    return len(chain) >= MIN_SERIES and 2 * len(chain) > match_count and gaps[len(gaps) // 2] >= MIN_MEDIAN_GAP


def _is_marked(lines: Sequence[Line], index: int) -> bool:
    """Whether the line is a question by its ending, its numbering or its being bold, or an answer follows."""
    return _asks(lines, index) or _is_bold(lines[index].text)


def _asks(lines: Sequence[Line], index: int) -> bool:
    text = lines[index].text
    return bool(Q.match(text) or ends_with(text, QUESTION_MARKS) or ANSWER_FOLLOWS.match(_next_text(lines, index)))


def _is_bold(text: str) -> bool:
    """Whether all of a line is bold but its number."""
    return bool(BOLD_LINE.fullmatch(NUMBER.sub("", text, count=1).strip()))


def _next_text(lines: Sequence[Line], index: int) -> str:
    return next((line.text for line in lines[index + 1 : index + 4] if line.text.strip()), "")
