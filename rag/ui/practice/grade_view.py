"""A grade: what was said beside what the material says, point by point."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag.language.language import Language
from rag.practice.attempt import Span, read_attempt
from rag.practice.bank import Question
from rag.practice.clashes import is_reversed
from rag.practice.grading import Grade, GradeNote, PointGrade, Verdict, wordings
from rag.practice.rubric import ESSENTIAL, Point
from rag.types import Citation
from rag.ui.practice.bank_view import question_link
from rag.ui.practice.elements import button, hint, percent, source_button, words
from rag.ui.readable import text_of
from rag.ui.texts import Texts

# Those that a reader can give; "unsure" is the grader's.
GIVEN = (Verdict.FOUND, Verdict.PARTLY, Verdict.MENTIONED, Verdict.MISSING, Verdict.CONTRADICTED)


@dataclass(frozen=True, slots=True)
class Graded:
    """A grade with the reader's own verdicts in it. `own` are those, by the text of the point; `due` says when the
    question comes back. `number` tells one grade from the next."""

    grade: Grade
    own: Mapping[str, Verdict]
    due: str
    follow_ups: Sequence[Question]
    has_next: bool
    number: int = 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of an attempt, what it is called, and the number of its point (0: none)."""

    span: Span
    kind: str
    number: int = 0


def grade_part(graded: Graded, texts: Texts, language: Language) -> str:
    grade = graded.grade
    points = "".join(
        _point(number, point, grade.attempt, point.point.text in graded.own, texts, language)
        for number, point in enumerate(grade.points, start=1)
    )
    key = text_of(f"attempt:{grade.question_id}")
    return (
        f'<section class="grade" data-graded="{key}" data-moment="{graded.number}"'
        f' aria-label="{text_of(texts.grade_heading)}">'
        f'<h3 tabindex="-1" data-arrived>{text_of(_heading(grade, texts))}</h3>'
        f'<p class="hint">{text_of(" · ".join(filter(None, (graded_by(grade, texts), graded.due))))}</p>'
        f"{hint(getattr(texts, f'blind_{grade.graded_by}'))}"
        f"{_notes(grade, texts)}"
        f'<p class="typed marked">{marked(grade, texts)}</p>'
        f'<h4>{text_of(texts.points)}</h4><ol class="points">{points}</ol>'
        f"{_mistakes(grade, texts)}{_beyond(grade, texts)}"
        f"{onward(graded, texts, language)}</section>"
    )


def graded_by(grade: Grade, texts: Texts) -> str:
    return texts.graded_by.format(name=getattr(texts, f"method_{grade.graded_by}"))


def _heading(grade: Grade, texts: Texts) -> str:
    """The score; nothing that was written has none."""
    if GradeNote.EMPTY in grade.notes:
        return texts.no_score
    parts = texts.score_parts.format(coverage=percent(grade.coverage), correctness=percent(grade.correctness))
    return f"{texts.score.format(score=percent(grade.score))} · {parts}"


def marked(grade: Grade, texts: Texts) -> str:
    """The attempt, its stretches marked as what they are; the numbers are drawn by the style sheet."""
    result = []
    for text, covering in cut(grade.attempt, _stretches(grade)):
        if not covering:
            result.append(text_of(text))
            continue
        kind = covering[0].kind
        name = text_of(str(getattr(texts, f"stretch_{kind}")))
        numbers = " ".join(str(one.number) for one in covering if one.kind == kind and one.number)
        number = f' data-number="{numbers}"' if numbers else ""
        result.append(f'<mark class="{kind}" title="{name}"{number}>{text_of(text)}</mark>')
    return "".join(result)


def cut(attempt: str, stretches: Sequence[Stretch]) -> Iterator[tuple[str, list[Stretch]]]:
    """The attempt in pieces, each with the stretches that cover it, in their order."""
    borders = sorted({0, len(attempt), *(border for stretch in stretches for border in stretch.span)})
    for low, high in pairwise(border for border in borders if 0 <= border <= len(attempt)):
        yield attempt[low:high], [one for one in stretches if one.span[0] <= low and high <= one.span[1]]


def onward(graded: Graded, texts: Texts, language: Language) -> str:
    """What can be answered next."""
    links = "".join(f"<li>{question_link(one, language)}</li>" for one in graded.follow_ups)
    go_on = f'<h4>{text_of(texts.go_on)}</h4><ul class="go-on">{links}</ul>' if links else ""
    follow = button("next", texts.next_question, style="lead-on") if graded.has_next else ""
    return f'{go_on}<div class="buttons">{follow}{button("go", texts.view_bank, "bank")}</div>'


def _stretches(grade: Grade) -> list[Stretch]:
    """What is wrong comes first: where stretches cover each other the first one shows, with the
    numbers of all points that are made there."""
    found = [Stretch(made.attempt, "mistake") for made in grade.mistakes]
    for verdict in (Verdict.CONTRADICTED, Verdict.FOUND, Verdict.PARTLY, Verdict.MENTIONED, Verdict.UNSURE):
        found += [
            Stretch(point.attempt, str(verdict), number)
            for number, point in enumerate(grade.points, start=1)
            if point.verdict is verdict and point.attempt is not None
        ]
    return found + [Stretch(span, "beyond") for span in grade.beyond]


def _notes(grade: Grade, texts: Texts) -> str:
    return "".join(f'<p class="notice">{text_of(getattr(texts, f"note_{note}"))}</p>' for note in grade.notes)


def _point(number: int, graded: PointGrade, attempt: str, is_own: bool, texts: Texts, language: Language) -> str:
    """The verdict, which can be changed; the attempt on the left, the material on the right."""
    said = (
        f'<blockquote class="typed">{text_of(attempt[slice(*graded.attempt)])}</blockquote>'
        if graded.attempt
        else f'<p class="hint">{text_of(texts.not_said)}</p>'
    )
    weight = f' <span class="badge">{text_of(texts.essential)}</span>' if graded.point.weight >= ESSENTIAL else ""
    own = f' <span class="badge own">{text_of(texts.own_verdict)}</span>' if is_own else ""
    quote = _in_language(graded.point, language)
    return (
        f'<li class="point {graded.verdict}"><div class="verdict"><b>{number}. '
        f"{text_of(verdict_name(graded, attempt, texts))}</b>{weight}{own}{_menu(number, graded, texts)}</div>"
        '<div class="sides">'
        f"<div><h5>{text_of(texts.you_said)}</h5>{said}</div><div><h5>{text_of(texts.material_says)}</h5>"
        f"<blockquote>{words(quote.quote)}</blockquote>{source_button(quote, texts)}</div></div>"
        "</li>"
    )


def verdict_name(graded: PointGrade, attempt: str, texts: Texts) -> str:
    """What a verdict is called. Only what the point says the other way round is told to be reversed; a number, a name
    or anything else is against the material."""
    if graded.verdict is Verdict.CONTRADICTED and graded.attempt is not None:
        said = attempt[slice(*graded.attempt)]
        if any(is_reversed(said, text) for text in wordings(graded.point, read_attempt(said))):
            return str(texts.verdict_reversed)
    return str(getattr(texts, f"verdict_{graded.verdict}"))


def _menu(number: int, graded: PointGrade, texts: Texts) -> str:
    """The verdicts to choose from; practice.js sends the one that is chosen."""
    verdicts = GIVEN if graded.verdict in GIVEN else (graded.verdict, *GIVEN)
    items = "".join(
        f'<option value="{number - 1}-{verdict}"{" selected" if verdict is graded.verdict else ""}>'
        f"{text_of(str(getattr(texts, f'verdict_{verdict}')))}</option>"
        for verdict in verdicts
    )
    label = text_of(texts.override.format(number=number))
    return (
        f'<label class="override"><span aria-hidden="true">{text_of(texts.override_to)}</span>'
        f'<select data-act="override" aria-label="{label}">{items}</select></label>'
    )


def _in_language(point: Point, language: Language) -> Citation:
    return point.english if language is Language.EN and point.english is not None else point.citation


def _mistakes(grade: Grade, texts: Texts) -> str:
    if not grade.mistakes:
        return ""
    items = "".join(
        f'<li class="point mistake"><div class="sides"><div><h5>{text_of(texts.you_said)}</h5>'
        f'<blockquote class="typed">'
        f"{text_of(grade.attempt[slice(*made.attempt)])}</blockquote></div><div><h5>{text_of(texts.right_is)}</h5>"
        f"<blockquote>{words(made.mistake.right.quote)}</blockquote>{source_button(made.mistake.right, texts)}</div>"
        "</div></li>"
        for made in grade.mistakes
    )
    return f'<h4>{text_of(texts.mistakes)}</h4><ul class="points">{items}</ul>'


def _beyond(grade: Grade, texts: Texts) -> str:
    if not grade.beyond:
        return ""
    items = "".join(f'<li class="typed">{text_of(grade.attempt[slice(*span)])}</li>' for span in grade.beyond)
    return f'<h4>{text_of(texts.beyond)}</h4>{hint(texts.beyond_hint)}<ul class="beyond">{items}</ul>'
