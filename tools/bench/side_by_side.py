"""python -m tools.bench.side_by_side ASKED --out FILE: our quotes, our answers with a chat model, and those
of the plain chain of LangChain's tutorials with the same chat model and embedder, to the same questions.

Asked is what stands alone, since the chain knows no conversation; and since it cites nothing, what an answer says is
judged, not what it points to:

- opening: the first sentence is supported (`judging.supports`) by a section to open with;
- needles: the share of the labelled strings that stand in the answer, blanks and Markdown aside;
- supported: sentences that the texts which ours cite, or which the chain was given to read, support;
- precise: citations that support their sentence (`judging.judge`), of ours;
- declined and answered: questions that the pages answer, and near misses.

`--beside FILE` judges another answerer's replies as well, such as those of an older version (`Replies`).
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rag.answer.assistant import Assistant
from rag.cli import Parser, add_common_options, run, settings_from
from rag.errors import UsageError
from rag.evaluation.answers.asked import OFF_SUBJECT, Answerable, AskedRow, load_asked, sections
from rag.evaluation.answers.judging import supports
from rag.evaluation.datasets import Split, evenly_spread
from rag.evaluation.extra import require_evaluation_extra
from rag.evaluation.intervals import quantile, ratio, share
from rag.evaluation.progress import bar
from rag.evaluation.provenance import commit, machine, today
from rag.evaluation.table import with_interval
from rag.language.terms import fold
from rag.settings import ChatModelName, Settings
from tools.bench.answerers import Answerer, Reply, ours, plain_chain, sources
from tools.report.retrieval import write_tables

QUESTIONS, NEAR_MISSES = 60, 20
BARE = re.compile(r"[\s*`_]+")
BEGIN, END = "<!-- answerers side by side -->", "<!-- /answerers side by side -->"
NAMES = {
    "en": {
        "opening": "opens with what answers",
        "needles": "says what must be said",
        "supported": "sentences that their source supports",
        "precise": "citations that support their sentence",
        "declined": "answerable questions not answered",
        "near_misses_answered": "near misses answered",
        "characters": "characters of an answer",
    },
    "zh": {
        "opening": "开头就是答案",
        "needles": "该说的说到了",
        "supported": "来源支持的句子",
        "precise": "支持所在句子的引用",
        "declined": "有答案却没有回答",
        "near_misses_answered": "资料没有答案却作答",
        "characters": "答案字数",
    },
}
HEADINGS = {
    "en": {
        "": "",
        "quotes": "ours, quotes",
        "local": "ours, local model",
        "langchain": "LangChain's chain, same model",
    },
    "zh": {"": "", "quotes": "本项目，只引原文", "local": "本项目，本地模型", "langchain": "LangChain 的链，同一模型"},
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A reply and what it is worth; `seconds` are those it took."""

    row: AskedRow
    reply: Reply
    opening: bool
    needles: float
    supported: int
    seconds: float


class Replies(BaseModel):
    """Of another answerer: its name, and its reply to each question by id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    replies: dict[str, Reply]
    seconds: dict[str, float]


def choose(rows: Sequence[AskedRow], split: Split, questions: int, near_misses: int) -> list[AskedRow]:
    """So many questions that the pages answer, and so many near misses; all of them stand alone."""
    alone = {row.id: row for row in rows if row.after is None and split in (Split.ALL, row.split)}
    able = [row.id for row in alone.values() if row.answerable is not Answerable.NO]
    silent = [row.id for row in alone.values() if row.answerable is Answerable.NO and row.style != OFF_SUBJECT]
    return [alone[name] for name in (*evenly_spread(able, questions), *evenly_spread(silent, near_misses))]


def judged(row: AskedRow, reply: Reply, seconds: float, pages: Mapping[str, str]) -> Judged:
    said = bare(reply.text)
    openings = [
        f"{section.heading} {pages[document][section.start : section.end]}"
        for document, heading in row.open
        for section in sections(document, pages[document])
        if section.heading == heading
    ]
    found = sum(any(bare(wording) in said for wording in wordings) for wordings in row.worded_needles)
    return Judged(
        row,
        reply,
        opening=bool(reply.sentences) and any(supports(reply.sentences[0], [text], row.question) for text in openings),
        needles=found / max(len(row.needles), 1),
        supported=sum(supports(sentence, reply.sources, row.question) for sentence in reply.sentences),
        seconds=seconds,
    )


def bare(text: str) -> str:
    return BARE.sub("", fold(text))


def ask_all(name: str, answerer: Answerer, rows: Sequence[AskedRow], pages: Mapping[str, str]) -> list[Judged]:
    outcomes = []
    for row in bar(rows, name):
        started = time.perf_counter()
        reply = answerer(row.question)
        outcomes.append(judged(row, reply, time.perf_counter() - started, pages))
    return outcomes


def measures(outcomes: Sequence[Judged]) -> dict[str, dict[str, Any]]:
    """Shares with 95% intervals; what is declined opens with nothing and says nothing."""
    able = [one for one in outcomes if one.row.answerable is not Answerable.NO]
    silent = [one for one in outcomes if one.row.answerable is Answerable.NO]
    answered = [one for one in able if not one.reply.declined]
    needles = [one for one in able if one.row.needles]
    found = {
        "opening": share(sum(one.opening for one in able), len(able)),
        "needles": ratio([one.needles for one in needles], [1.0] * len(needles)),
        "supported": _ratio(answered, lambda one: one.supported, lambda one: len(one.reply.sentences)),
        "precise": _ratio(answered, lambda one: one.reply.precise, lambda one: one.reply.pairs),
        "declined": share(len(able) - len(answered), len(able)),
        "near_misses_answered": share(sum(not one.reply.declined for one in silent), len(silent)),
        "characters": _ratio(answered, lambda one: len(one.reply.text), lambda _: 1),
    }
    return {name: value for name, value in found.items() if value}


def _ratio(outcomes: Sequence[Judged], part: Callable[[Judged], int], whole: Callable[[Judged], int]) -> dict[str, Any]:
    return ratio([float(part(one)) for one in outcomes], [float(whole(one)) for one in outcomes])


def read_replies(file: Path, rows: Sequence[AskedRow]) -> Replies:
    """Raises UsageError for a file that is none, or lacks a question."""
    try:
        found = Replies.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError(f"{file} holds no replies: {error}", hint="see `Replies` in this module") from error
    missing = [row.id for row in rows if row.id not in found.replies or row.id not in found.seconds]
    if missing:
        raise UsageError(
            f"{file} has no reply to {len(missing)} questions: {', '.join(missing[:5])}", hint="ask the same questions"
        )
    return found


def compare(
    asked: Path, settings: Settings, split: Split, questions: int, near_misses: int, beside: Path | None = None
) -> dict[str, Any]:
    """The measures of each answerer, and how each question went. Raises UsageError."""
    rows = choose(load_asked(asked), split, questions, near_misses)
    others = read_replies(beside, rows) if beside else None
    quoting = Assistant.open(settings.model_copy(update={"llm": ChatModelName.EXTRACTIVE}))
    writing = Assistant.open(settings)
    chain = plain_chain(writing)
    pages = sources(quoting.index)
    answerers = {"quotes": ours(quoting), "local": ours(writing), "langchain": chain}
    outcomes = {}
    if others is not None:
        outcomes[others.name] = [judged(r, others.replies[r.id], others.seconds[r.id], pages) for r in rows]
    outcomes |= {name: ask_all(name, answerer, rows, pages) for name, answerer in answerers.items()}
    return {
        "dataset": asked.stem,
        "split": str(split),
        "questions": {"answerable": questions, "near_misses": near_misses},
        "model": writing.model_name,
        "embedder": writing.embedder.identity,
        "measures": {name: measures(found) for name, found in outcomes.items()},
        "seconds": {
            name: {"p50": quantile([o.seconds for o in found], 0.5), "p95": quantile([o.seconds for o in found], 0.95)}
            for name, found in outcomes.items()
        },
        "rows": {
            name: [
                {"id": o.row.id, "opening": o.opening, "needles": round(o.needles, 3), "declined": o.reply.declined}
                for o in found
            ]
            for name, found in outcomes.items()
        },
        "commit": commit(),
        "machine": machine(),
        "date": today(),
    }


def markdown(result: Mapping[str, Any], language: str = "en") -> str:
    """A row for each measure, a column for each answerer."""
    found, headings = result["measures"], HEADINGS[language]
    rows = [[headings[""], *(headings.get(name, name) for name in found)], ["---", *["---:"] * len(found)]]
    rows += [
        [called, *(_cell(name, found[answerer].get(name)) for answerer in found)]
        for name, called in NAMES[language].items()
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(name: str, value: Mapping[str, float] | None) -> str:
    if value is None:
        return "–"
    return f"{value['value']:,.0f}" if name == "characters" else with_interval(value)


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m tools.bench.side_by_side",
        description="Our answers beside those of LangChain's plain chain with the same chat model.",
    )
    parser.add_argument("asked", type=Path, metavar="ASKED", help="questions as asked (JSON lines)")
    parser.add_argument("--llm", choices=list(map(str, ChatModelName)), default="local", help="who writes")
    parser.add_argument("--split", choices=list(map(str, Split)), default="test", help="questions to ask")
    parser.add_argument("--questions", type=int, default=QUESTIONS, metavar="N", help="how many that are answerable")
    parser.add_argument("--near-misses", type=int, default=NEAR_MISSES, metavar="N", help="how many that are not")
    parser.add_argument("--beside", type=Path, metavar="FILE", help="replies of another answerer, to be judged as well")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON file to write")
    parser.add_argument("--readme", type=Path, nargs="+", default=[], metavar="FILE", help="files with the two markers")
    add_common_options(parser)
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_compare, build_parser(), arguments)


def _compare(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    settings = settings_from(options, llm=options.llm)
    split, questions, near_misses = Split(options.split), options.questions, options.near_misses
    result = compare(options.asked, settings, split, questions, near_misses, options.beside)
    options.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    write_tables(options.readme, lambda language: markdown(result, language), (BEGIN, END))
    sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n" if options.json else markdown(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
