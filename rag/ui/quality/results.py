"""Evaluation results as tables and plots."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from rag.errors import UsageError
from rag.evaluation import answers_report, answers_table, report
from rag.evaluation.answers_table import NAMES
from rag.evaluation.systems import OURS, is_baseline
from rag.ui.figures import figures
from rag.ui.quality.plot import Dot, plot
from rag.ui.quality.runner import Kind, Progress
from rag.ui.quality.texts import QualityTexts
from rag.ui.texts import Language

# What is plotted of an answerer, all of them shares of 0..1.
ANSWERS = ("citation_precision", "citation_relevance", "citation_recall", "evidence_found", "two_sided_cited")
REFUSALS = ("refusal_recall", "refusal_precision", "false_refusals")
COMMAND = "python -m rag eval retrieval GOLD --out FILE"


def shipped(folder: Path, texts: QualityTexts, language: Language) -> str:
    """What lies in the folders `retrieval` and `answers` of a results folder."""
    parts: list[str] = []
    try:
        if any((folder / "retrieval").glob("*.json")):
            parts.append(retrieval(report.read_results(folder / "retrieval"), texts, language))
        if any((folder / "answers").glob("*.json")):
            read = answers_report.read_results(folder / "answers")
            parts += (answers(result, texts, language) for result in read)
    except (UsageError, KeyError, TypeError) as error:
        parts.append(f'<p class="problem">{escape(texts.unreadable.format(problem=error))}</p>')
    if not parts:
        return f'<p class="hint">{escape(texts.none.format(folder=folder.name, command=COMMAND))}</p>'
    return "".join(parts)


def own(progress: Progress, texts: QualityTexts, language: Language) -> str:
    """What was measured from the page."""
    result = progress.result
    if result is None:
        return ""
    if progress.kind is Kind.RETRIEVAL:
        heading = texts.here_retrieval.format(count=result["queries"]["scored"])
        return f"<h3>{escape(heading)}</h3>" + _compared([report.Result.model_validate(result)], texts, language)
    heading = texts.here_answers.format(count=result["questions"]["asked"])
    return f"<h3>{escape(heading)}</h3>" + _answered(result, texts, language)


def retrieval(results: Sequence[report.Result], texts: QualityTexts, language: Language) -> str:
    return f"<h3>{escape(texts.shipped_retrieval)}</h3>" + _compared(results, texts, language)


def answers(result: Mapping[str, Any], texts: QualityTexts, language: Language) -> str:
    return f"<h3>{escape(texts.shipped_answers)}</h3>" + _answered(result, texts, language)


def _compared(results: Sequence[report.Result], texts: QualityTexts, language: Language) -> str:
    plots = []
    for label, result in zip(report.labels(results), results, strict=True):
        shown = [name for name in result.systems if name == OURS or is_baseline(name)]
        dots = [
            Dot(name, mean.value, mean.low, mean.high, strong=name == OURS)
            for name in shown
            if (mean := result.ndcg(name)) is not None
        ]
        plots.append(f"<h4>{escape(label)}</h4>{plot(dots, f'{label}: {texts.plot_hint}')}")
    return f'<div class="plots">{"".join(plots)}</div>{_table(report.markdown(results, str(language)))}'


def _answered(result: Mapping[str, Any], texts: QualityTexts, language: Language) -> str:
    when = texts.when.format(date=result.get("date", "–"), commit=str(result.get("commit") or "–")[:7])
    return (
        f'<p class="hint">{escape(answers_table.label(result))} · {escape(when)}</p>'
        + _measures(result, ANSWERS, texts.dots_hint, language)
        + f"<h4>{escape(texts.shipped_refusals)}</h4>"
        + _measures(result, REFUSALS, texts.dots_hint, language)
        + _table(answers_table.markdown([result], str(language)))
    )


def _measures(result: Mapping[str, Any], names: Iterable[str], caption: str, language: Language) -> str:
    gates = result.get("gates", {})
    dots = []
    for name in names:
        value = result["measures"].get(name)
        if value:
            gate = gates.get(name, {})
            target = gate.get("at_least", gate.get("at_most"))
            dots.append(
                Dot(NAMES[str(language)][name], value["value"], value["low"], value["high"], target, strong=True)
            )
    return plot(dots, caption) if dots else ""


def _table(markdown: str) -> str:
    """A table of ours in Markdown; no cell of it holds a bar."""
    rows = [
        [cell.strip().replace("**", "") for cell in line.strip("| ").split(" | ")] for line in markdown.splitlines()
    ]
    width = len(rows[0])
    return figures([(row + [""] * width)[:width] for place, row in enumerate(rows) if place != 1])
