"""The report of a mock interview, as Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from rag.language.language import Language
from rag.practice.bank import Bank
from rag.practice.grading import Verdict
from rag.practice.rounds import Answered, Round
from rag.practice.schedule import Card
from rag.types import Citation

# Below this score a page is worth rereading.
READ_BELOW = 0.8


@dataclass(frozen=True, slots=True)
class Words:
    """The report's wording in one language."""

    title: str
    summary: str
    gone: str
    verdicts: Mapping[Verdict, str]
    mistakes: str
    best: str
    worst: str
    reading: str
    dates: str


WORDS = {
    Language.ZH: Words(
        title="模拟面试报告",
        summary="{begun}，{topic}，{done} 题，平均 {score:.0%}",
        gone="（这道题已不在资料里）",
        verdicts={
            Verdict.FOUND: "说到", Verdict.PARTLY: "说到一半", Verdict.MENTIONED: "只是提到", Verdict.MISSING: "没说到",
            Verdict.CONTRADICTED: "与资料不符", Verdict.UNSURE: "不确定",
        },
        mistakes="常见错误",
        best="答得最好",
        worst="最该补的",
        reading="再读一遍",
        dates="下次复习",
    ),
    Language.EN: Words(
        title="Mock interview",
        summary="{begun}, {topic}, {done} questions, {score:.0%} on average",
        gone="(this question has left the material)",
        verdicts={
            Verdict.FOUND: "made", Verdict.PARTLY: "half made", Verdict.MENTIONED: "mentioned",
            Verdict.MISSING: "missed", Verdict.CONTRADICTED: "against the material", Verdict.UNSURE: "unsure",
        },
        mistakes="Common mistakes",
        best="Went best",
        worst="Needs work most",
        reading="Read again",
        dates="Asked again",
    ),
}  # fmt: skip
ORDER = (Verdict.CONTRADICTED, Verdict.MISSING, Verdict.MENTIONED, Verdict.PARTLY, Verdict.UNSURE, Verdict.FOUND)


def report(
    bank: Bank, round: Round, cards: Mapping[str, Card], language: Language, *, topic: str, zone: tzinfo = UTC
) -> str:
    """The report as Markdown: points made and missed with sources, mistakes, pages to read, next dates.

    `topic` is the name of the round's topic; days are those of `zone`.
    """
    words = WORDS[language]
    scores = [one.score for one in round.answered]
    summary = words.summary.format(
        begun=_day(round.begun, zone), topic=topic, done=len(scores),
        score=sum(scores) / len(scores) if scores else 0,
    )  # fmt: skip
    lines = [f"# {words.title}", "", summary]
    if round.answered:
        lines += ["", *_ends(round.answered, words)]
    for answered in round.answered:
        lines += ["", *_answered(bank, answered, words)]
    read = [answered for answered in round.answered if answered.score < READ_BELOW]
    if read:
        documents = dict.fromkeys(answered.question_id.split("#", 1)[0] for answered in read)
        lines += ["", f"## {words.reading}", "", *(f"- {_page(bank, name)}" for name in documents)]
    dated = [(cards[a.question_id].due, a.question_id) for a in round.answered if a.question_id in cards]
    if dated:
        lines += ["", f"## {words.dates}", ""]
        lines += [f"- {_day(due, zone)} {_asked(name)}" for due, name in sorted(dated)]
    return "\n".join(lines) + "\n"


def _answered(bank: Bank, answered: Answered, words: Words) -> Iterator[str]:
    gone = "" if answered.question_id in bank.questions else f" {words.gone}"
    yield f"## {_asked(answered.question_id)} · {answered.score:.0%}{gone}"
    yield ""
    if answered.attempt.strip():
        yield from (f"> {line}" for line in answered.attempt.strip().splitlines())
        yield ""
    for verdict in ORDER:
        for point in answered.points:
            if point.verdict is verdict:
                yield f"- **{words.verdicts[verdict]}** {_cited(point.citation)}"
    if answered.mistakes:
        yield ""
        yield f"**{words.mistakes}**"
        yield ""
        yield from (f"- {_cited(citation)}" for citation in answered.mistakes)


def _day(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).date().isoformat()


def _cited(citation: Citation) -> str:
    """The quote on one line, and its place: page and section."""
    place = " › ".join(dict.fromkeys([citation.title, *citation.section[-1:]]))
    return f"{' '.join(citation.quote.split())} ({place})"


def _ends(answered: Sequence[Answered], words: Words) -> Iterator[str]:
    """The best and the worst answer, if several answers differ in score."""
    best, worst = (choose(answered, key=lambda one: one.score) for choose in (max, min))
    if best.score > worst.score:
        yield f"- **{words.best}** {_asked(best.question_id)} · {best.score:.0%}"
        yield f"- **{words.worst}** {_asked(worst.question_id)} · {worst.score:.0%}"


def _asked(question_id: str) -> str:
    return question_id.partition("#")[2] or question_id


def _page(bank: Bank, document: str) -> str:
    page = bank.pages.get(document)
    return f"{page.title} ({document})" if page else document
