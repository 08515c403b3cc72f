"""The targets of answers, for each answerer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Target:
    """A bound of a measure: a minimum, or a maximum if `at_most`."""

    bound: float
    at_most: bool = False

    def met(self, value: float) -> bool:
        return value <= self.bound if self.at_most else value >= self.bound


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
    measured = {name: (target, measures.get(name)) for name, target in _of_measures(llm).items()}
    if llm == "local":
        measured |= {f"{name}_p50": (target, seconds[name]["p50"]) for name, target in LOCAL_SECONDS.items()}
    return {
        name: {"at_most" if target.at_most else "at_least": target.bound, "met": target.met(value["value"])}
        for name, (target, value) in measured.items()
        if value
    }


def _of_measures(llm: str) -> Mapping[str, Target]:
    return QUOTES if llm == "extractive" else CHAT_MODEL
