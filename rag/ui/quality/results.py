"""Evaluation results as tables and plots."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rag.errors import UsageError, as_called
from rag.evaluation.answers import results as answers_results
from rag.evaluation.answers import table as answers_table
from rag.evaluation.answers.table import NAMES
from rag.evaluation.retrieval import results as retrieval_results
from rag.evaluation.retrieval.systems import OURS, is_baseline
from rag.ui.elements import figures, hint
from rag.ui.quality.runner import EvaluationKind, Measured
from rag.ui.templates import macros_of
from rag.ui.texts import Language, Texts

HTML = macros_of("quality/results.html")

# The dataset written for this program's own corpus.
OWN_SET = "gold"
TICKS = (0, 0.25, 0.5, 0.75, 1)


def name_of(kind: str, name: str, texts: Texts) -> str:
    """What a reader calls a system, an answerer, a set or a split; its own name if the texts have none."""
    return str(getattr(texts, f"{kind}_{name}", name))


def set_name(dataset: str, split: str, texts: Texts, *more: str) -> str:
    """
    >>> from rag.ui.texts import QUALITY_TEXTS, Language
    >>> set_name("gold", "test", QUALITY_TEXTS[Language.EN]), set_name("x", "dev", QUALITY_TEXTS[Language.ZH], "e5")
    ("This program's own questions · test questions", 'x · 调试题 · e5')
    """
    part = "" if split == "all" else name_of("split", split, texts)
    return " · ".join(filter(None, (name_of("set", dataset, texts), part, *more)))


@dataclass(frozen=True, slots=True)
class Dot:
    """A value in 0..1 with its interval. `target` is drawn as a line; `strong` marks our own system. `raw` is its name
    in files, if that differs from the label."""

    label: str
    value: float
    low: float
    high: float
    target: float | None = None
    strong: bool = False
    raw: str = ""


def plot(dots: Sequence[Dot], caption: str) -> str:
    """The plot as HTML. Each row has its label, a line from 0 to 1, and the value; style.css arranges them."""
    return HTML("plot", dots=dots, caption=caption, ticks=TICKS)


# The measures plotted for an answerer, all in 0..1.
ANSWERS = ("citation_precision", "citation_relevance", "citation_recall", "evidence_found", "two_sided_cited")
REFUSALS = ("refusal_recall", "refusal_precision", "false_refusals")
COMMAND = "python -m rag eval retrieval GOLD --out FILE"


def shipped(folder: Path, texts: Texts, language: Language) -> str:
    """The results in the subfolders `retrieval` and `answers` of a folder, as HTML."""

    def searches() -> str:
        results = sorted(
            retrieval_results.read_results(folder / "retrieval"), key=lambda result: result.dataset != OWN_SET
        )
        return HTML("section", heading=texts.shipped_retrieval, body=_compared(results, texts, language))

    def answers() -> str:
        results = answers_results.read_results(folder / "answers")
        shown = (_answered(result, texts, language) for result in results)
        return "".join(HTML("section", heading=texts.shipped_answers, body=body) for body in shown)

    parts = (("retrieval", searches), ("answers", answers))
    shown = [_or_problem(show, texts) for name, show in parts if any((folder / name).glob("*.json"))]
    return "".join(shown) or hint(texts.none.format(folder=folder.name, command=as_called(COMMAND)))


def own(measured: Mapping[EvaluationKind, Measured], texts: Texts, language: Language) -> str:
    """The results measured from the page, latest first, as HTML."""
    parts: list[str] = []
    for kind, last in sorted(measured.items(), key=lambda pair: pair[1].at, reverse=True):
        show = _own_retrieval if kind is EvaluationKind.RETRIEVAL else _own_answers
        parts.append(_or_problem(partial(show, last, texts, language), texts))
    return "".join(parts)


def _own_retrieval(last: Measured, texts: Texts, language: Language) -> str:
    heading = texts.here_retrieval.format(count=last.result["queries"]["scored"], date=_date(last))
    body = _compared([retrieval_results.Result.model_validate(last.result)], texts, language)
    return HTML("section", heading=heading, body=body)


def _own_answers(last: Measured, texts: Texts, language: Language) -> str:
    heading = texts.here_answers.format(count=last.result["questions"]["asked"], date=_date(last))
    return HTML("section", heading=heading, body=_answered(last.result, texts, language))


def _date(last: Measured) -> str:
    return f"{last.at:%Y-%m-%d %H:%M}"


def _or_problem(show: Callable[[], str], texts: Texts) -> str:
    """What `show` returns; a message if it fails, since result files may come from elsewhere or from another
    version."""
    try:
        return show()
    except (UsageError, ValueError, KeyError, TypeError, AttributeError) as error:
        return HTML("unreadable", notice=texts.unreadable.format(problem=error))


def _compared(results: Sequence[retrieval_results.Result], texts: Texts, language: Language) -> str:
    several = len({result.embedder for result in results}) > 1
    names = [
        set_name(result.dataset, result.split, texts, result.embedder.partition("@")[0] if several else "")
        for result in results
    ]
    labels = retrieval_results.labels(results)
    plots = []
    for label, name, result in zip(labels, names, results, strict=True):
        shown = [system for system in result.systems if system == OURS or is_baseline(system)]
        dots = [
            Dot(name_of("system", system, texts), mean.value, mean.low, mean.high, strong=system == OURS, raw=system)
            for system in shown
            if (mean := result.ndcg(system)) is not None
        ]
        plots.append((label, name, plot(dots, f"{name}: {texts.plot_hint}")))
    rows = retrieval_results.cells(results, language, names=names, system_name=partial(name_of, "system", texts=texts))
    return HTML("compared", plots=plots, table=figures(rows, retrieval_results.cells(results, language)), texts=texts)


def _answered(result: Mapping[str, Any], texts: Texts, language: Language) -> str:
    when = texts.when.format(date=result.get("date", "–"), commit=str(result.get("commit") or "–")[:7])
    writer = name_of("answerer", result["llm"], texts)
    who = f"{writer} ({result['model']})" if result["model"] else writer
    name = f"{who} · {set_name(result['dataset'], result['split'], texts)}"
    return HTML(
        "answered",
        label=answers_table.label(result),
        about=f"{name} · {when}",
        answers=_measures(result, ANSWERS, texts.dots_hint, language),
        refusals=_measures(result, REFUSALS, texts.dots_hint, language),
        table=figures(answers_table.cells([result], language, called=[name]), answers_table.cells([result], language)),
        texts=texts,
    )


def _measures(result: Mapping[str, Any], names: Iterable[str], caption: str, language: Language) -> str:
    gates = result.get("gates", {})
    dots = []
    for name in names:
        value = result["measures"].get(name)
        if value:
            gate = gates.get(name, {})
            target = gate.get("at_least", gate.get("at_most"))
            dots.append(Dot(NAMES[language][name], value["value"], value["low"], value["high"], target, strong=True))
    return plot(dots, caption) if dots else ""
