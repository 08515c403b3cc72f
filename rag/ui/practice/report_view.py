"""The report at the end of a mock interview: strong points, missed points, what to read, when each question comes back,
and each answer point by point; as HTML, and as Markdown to keep."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from rag.language.language import Language
from rag.practice.bank import Bank
from rag.practice.grading import Verdict
from rag.practice.rounds import AnsweredQuestion, PointMade, Round
from rag.practice.rubric import rubric_of
from rag.practice.schedule import GOOD_FROM, HARD_FROM, Card
from rag.types import Citation
from rag.ui.practice.bank_view import names_in, wording
from rag.ui.practice.elements import ago, day, percent
from rag.ui.session.practice import Practice
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/report_view.html")
# Number of points listed as strong or as missed.
LISTED = 5
MISSED = (Verdict.CONTRADICTED, Verdict.MISSING, Verdict.MENTIONED)
ORDER = (*MISSED, Verdict.PARTLY, Verdict.UNSURE, Verdict.FOUND)
# Below this score a page is worth rereading.
READ_BELOW = 0.8


@dataclass(frozen=True, slots=True)
class ReportPoint:
    kind: str
    verdict: str
    citation: Citation


@dataclass(frozen=True, slots=True)
class AnswerShown:
    score: str
    question: str
    gone: bool
    attempt: str
    points: list[ReportPoint]


def report_shell(round: Round, texts: Texts) -> str:
    return HTML("shell", round=round, texts=texts)


def report_part(
    bank: Bank, round: Round, cards: Mapping[str, Card], topic: str, now: datetime, practice: Practice, texts: Texts,
    language: Language,
) -> str:  # fmt: skip
    """`topic` is the name of the round's topic."""
    if language is Language.EN:
        round = in_english(bank, round)
    done = sorted(round.answered, key=lambda answered: -answered.score)
    share = percent(score_of_round(round))
    answered = texts.answered_of.format(done=len(done), count=round.count)
    summary = " · ".join(
        (ago(round.begun, now, practice, texts), topic, str(getattr(texts, f"level_{round.level}")), answered)
    )
    best = _points(done, (Verdict.FOUND,))
    weak = _points(reversed(done), MISSED)
    to_read = {a.question_id.split("#", 1)[0]: _to_read(a) for a in reversed(done) if a.score < READ_BELOW}
    dated = sorted((cards[a.question_id].due, a.question_id) for a in done if a.question_id in cards)
    return HTML(
        "page",
        headline=_score_line(score_of_round(round), texts) if done else texts.no_score,
        summary=summary,
        share=share,
        scored=texts.score.format(score=share),
        best=[point.citation.quote for point in best],
        weak=[point.citation for point in weak],
        reading=[citation for citation in to_read.values() if citation is not None],
        dates=[(day(due, now, practice, texts), _question(bank, name, language)) for due, name in dated],
        answers=[_answer(bank, answered, texts, language) for answered in round.answered],
        names=names_in(bank, language),
        texts=texts,
    )


def in_english(bank: Bank, round: Round) -> Round:
    """The round with its points in English, if their page has a translation; no longer a record of what was graded."""
    answered = []
    for one in round.answered:
        question = bank.questions.get(one.question_id)
        points = rubric_of(bank, question).points if question is not None else ()
        english = {point.citation.start: point.english for point in points if point.english is not None}
        in_english = (replace(made, citation=english.get(made.citation.start, made.citation)) for made in one.points)
        answered.append(replace(one, points=tuple(in_english)))
    return replace(round, answered=tuple(answered))


def score_of_round(round: Round) -> float:
    return sum(answered.score for answered in round.answered) / max(1, len(round.answered))


def _score_line(score: float, texts: Texts) -> str:
    """How the round went, in everyday words."""
    return str(
        texts.report_good if score >= GOOD_FROM else texts.report_fair if score >= HARD_FROM else texts.report_weak
    )


def _points(answers: Iterable[AnsweredQuestion], verdicts: tuple[Verdict, ...]) -> list[PointMade]:
    """Points with these verdicts: one from each answer before a second one from any."""
    found = [
        (turn, point)
        for answered in answers
        for turn, point in enumerate(sorted((p for p in answered.points if p.verdict in verdicts), key=_order))
    ]
    return [point for _, point in sorted(found, key=lambda pair: pair[0])][:LISTED]


def _order(point: PointMade) -> int:
    return ORDER.index(point.verdict)


def _to_read(answered: AnsweredQuestion) -> Citation | None:
    """Where to start reading: at the first point that was not made."""
    missed = (point.citation for point in answered.points if point.verdict is not Verdict.FOUND)
    return next(missed, answered.points[0].citation if answered.points else None)


def _question(bank: Bank, question_id: str, language: Language) -> tuple[str, str, bool]:
    """A question's id and text, and whether the material still has it."""
    question = bank.questions.get(question_id)
    text = question_id.partition("#")[2] if question is None else wording(question, language)
    return question_id, text, question is not None


def _answer(bank: Bank, answered: AnsweredQuestion, texts: Texts, language: Language) -> AnswerShown:
    _, title, is_there = _question(bank, answered.question_id, language)
    points = [
        ReportPoint(str(p.verdict), getattr(texts, f"verdict_{p.verdict}"), p.citation)
        for p in sorted(answered.points, key=_order)
    ]
    points += [ReportPoint("mistake", texts.right_is, citation) for citation in answered.mistakes]
    return AnswerShown(percent(answered.score), title, not is_there, answered.attempt.strip(), points)


def report_as_markdown(
    bank: Bank, round: Round, cards: Mapping[str, Card], texts: Texts, *, topic: str, zone: tzinfo = UTC
) -> str:
    """The report as Markdown: points made and missed with sources, mistakes, pages to read, next dates.

    `topic` is the name of the round's topic; days are those of `zone`.
    """
    scores = [one.score for one in round.answered]
    summary = texts.saved_summary.format(
        begun=_day(round.begun, zone), topic=topic, done=len(scores),
        score=sum(scores) / len(scores) if scores else 0,
    )  # fmt: skip
    lines = [f"# {texts.saved_title}", "", summary]
    if round.answered:
        lines += ["", *_ends(round.answered, texts)]
    for answered in round.answered:
        lines += ["", *_answer_in_markdown(bank, answered, texts)]
    read = [answered for answered in round.answered if answered.score < READ_BELOW]
    if read:
        documents = dict.fromkeys(answered.question_id.split("#", 1)[0] for answered in read)
        lines += ["", f"## {texts.saved_reading}", "", *(f"- {_page(bank, name)}" for name in documents)]
    dated = [(cards[a.question_id].due, a.question_id) for a in round.answered if a.question_id in cards]
    if dated:
        lines += ["", f"## {texts.saved_dates}", ""]
        lines += [f"- {_day(due, zone)} {_heading(name)}" for due, name in sorted(dated)]
    return "\n".join(lines) + "\n"


def _answer_in_markdown(bank: Bank, answered: AnsweredQuestion, texts: Texts) -> Iterator[str]:
    gone = "" if answered.question_id in bank.questions else f" {texts.saved_gone}"
    yield f"## {_heading(answered.question_id)} · {answered.score:.0%}{gone}"
    yield ""
    if answered.attempt.strip():
        yield from (f"> {line}" for line in answered.attempt.strip().splitlines())
        yield ""
    for point in sorted(answered.points, key=_order):
        yield f"- **{getattr(texts, f'saved_{point.verdict}')}** {_cited(point.citation)}"
    if answered.mistakes:
        yield ""
        yield f"**{texts.saved_mistakes}**"
        yield ""
        yield from (f"- {_cited(citation)}" for citation in answered.mistakes)


def _day(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).date().isoformat()


def _cited(citation: Citation) -> str:
    """The quote on one line, and its place: page and section."""
    place = " › ".join(dict.fromkeys([citation.title, *citation.section[-1:]]))
    return f"{' '.join(citation.quote.split())} ({place})"


def _ends(answered: Sequence[AnsweredQuestion], texts: Texts) -> Iterator[str]:
    """The best and the worst answer, if several answers differ in score."""
    best, worst = (choose(answered, key=lambda one: one.score) for choose in (max, min))
    if best.score > worst.score:
        yield f"- **{texts.saved_best}** {_heading(best.question_id)} · {best.score:.0%}"
        yield f"- **{texts.saved_worst}** {_heading(worst.question_id)} · {worst.score:.0%}"


def _heading(question_id: str) -> str:
    return question_id.partition("#")[2] or question_id


def _page(bank: Bank, document: str) -> str:
    page = bank.pages.get(document)
    return f"{page.title} ({document})" if page else document
