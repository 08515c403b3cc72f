"""The targets of answers; formats answer results: one as text, several side by side for a README."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.evaluation.table import aligned, short
from rag.language.language import Language
from rag.language.texts import read_by_name


@dataclass(frozen=True, slots=True)
class Target:
    """A bound of a measure: a minimum, or a maximum if `at_most`."""

    bound: float
    at_most: bool = False

    def met(self, value: float) -> bool:
        return value <= self.bound if self.at_most else value >= self.bound


# The targets of every answerer, of quotes, and of a chat model.
EVERYONE = {
    "refusal_recall": Target(0.90),
    "false_refusals": Target(0.05, at_most=True),
    "follow_up_retained": Target(0.95),
    "two_sided_found": Target(0.90),
}
QUOTES = EVERYONE | {"citation_recall": Target(0.90)}
CHAT_MODEL = EVERYONE | {"citation_precision": Target(0.95), "citation_recall": Target(0.80)}
# Median seconds on two cores, after warming up.
LOCAL_SECONDS = {
    "first_evidence": Target(0.5, at_most=True),
    "first_text": Target(12.0, at_most=True),
    "end": Target(45.0, at_most=True),
}


def gates(
    llm: str, measures: Mapping[str, Mapping[str, Any]], seconds: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> dict[str, dict[str, Any]]:
    """The targets of an answerer (`extractive`, `local`, …) and whether each is met; targets without a measurement are
    left out.

    `measures` and `seconds` are those of a result: {"value", …} by name, and by name and quantile.
    """
    targets = QUOTES if llm == "extractive" else CHAT_MODEL
    measured = {name: (target, measures.get(name)) for name, target in targets.items()}
    if llm == "local":
        measured |= {f"{name}_p50": (target, seconds[name]["p50"]) for name, target in LOCAL_SECONDS.items()}
    return {
        name: {"at_most" if target.at_most else "at_least": target.bound, "met": target.met(value["value"])}
        for name, (target, value) in measured.items()
        if value
    }


NAMES = read_by_name(Path(__file__).with_name("measures.toml"))
SECONDS = ("first_evidence", "first_text", "end")
# The measures shown by kind of question.
BY_KIND = ("citation_precision", "citation_recall", "evidence_found", "false_refusals", "refusal_recall")

Result = Mapping[str, Any]


def as_text(result: Result) -> str:
    names = NAMES[Language.EN]
    rows = [
        [names[name], measure(name, value), f"of {value['of']:,.0f}", _target(result, name)]
        for name, value in result["measures"].items()
    ]
    rows += [[names[name], latency(result["seconds"][name]), "", _target(result, f"{name}_p50")] for name in SECONDS]
    kinds = [
        [
            kind,
            str(part["questions"]),
            *(measure(name, part["measures"][name]) if name in part["measures"] else "–" for name in BY_KIND),
        ]
        for kind, part in result["kinds"].items()
    ]
    others = {llm: count for llm, count in result["answered_by"].items() if llm != result["llm"]}
    return "\n".join(
        [
            f"{label(result)}: {result['questions']['asked']} questions, {result['documents']} documents",
            *(f"not answered by {result['llm']} but by {llm}: {count} questions" for llm, count in others.items()),
            *aligned(rows),
            *(["", *aligned([["by kind", "questions", *BY_KIND], *kinds])] if kinds else []),
            "",
        ]
    )


def cells(results: Sequence[Result], language: str = "en", *, called: Sequence[str] = ()) -> list[list[str]]:
    """A table with a header, a column for each answerer and a row for each measure with its interval; ✓ and ✗ say
    whether its target is met. `called` are the names of the answerers, by default their labels."""
    names = NAMES[Language(language)]
    shown = [name for name in names if any(name in result["measures"] for result in results)]
    rows = [[names["answers"], *(called or map(label, results))]]
    rows += [[names[name], *(_cell(result, name) for result in results)] for name in shown]
    rows += [
        [names[name], *(latency(result["seconds"][name]) + _mark(result, f"{name}_p50") for result in results)]
        for name in SECONDS
    ]
    rows.append([names["questions"], *(f"{result['questions']['asked']:,}" for result in results)])
    return rows


def label(result: Result) -> str:
    """The answerer and the dataset, such as: extractive, gold (test)."""
    who = f"{result['llm']} ({result['model']})" if result["model"] else result["llm"]
    part = "" if result["split"] == "all" else f" ({result['split']})"
    return f"{who}, {result['dataset']}{part}"


def measure(name: str, value: Mapping[str, float]) -> str:
    shown = (
        f"{value[key]:,.0f}" if name == "answer_characters" else short(value[key]) for key in ("value", "low", "high")
    )
    return "{} [{}, {}]".format(*shown)


def latency(quantiles: Mapping[str, Mapping[str, float]]) -> str:
    if not quantiles["p50"]:
        return "–"
    return f"{quantiles['p50']['value']:.2f} ({quantiles['p95']['value']:.2f})"


def _cell(result: Result, name: str) -> str:
    value = result["measures"].get(name)
    return measure(name, value) + _mark(result, name) if value else "–"


def _mark(result: Result, name: str) -> str:
    gate = result["gates"].get(name)
    return "" if gate is None else " ✓" if gate["met"] else " ✗"


def _target(result: Result, name: str) -> str:
    gate = result["gates"].get(name)
    if gate is None:
        return ""
    bound = f"at most {gate['at_most']:g}" if "at_most" in gate else f"at least {gate['at_least']:g}"
    return f"{bound}{_mark(result, name)}"
