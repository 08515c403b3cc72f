"""Retrieval results: the JSON files that `python -m rag eval retrieval DATASET --out FILE` wrote, and their table."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from rag.errors import UsageError
from rag.evaluation.retrieval.metrics import NDCG
from rag.evaluation.retrieval.systems import OURS, SYSTEMS, is_baseline
from rag.evaluation.table import short, signed

HEADINGS = {
    "en": ("system", "queries", "mean", "{ours} − best baseline", "recovered"),
    "zh": ("系统", "问题数", "平均", "{ours} − 最好的基线", "补回"),
}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Mean(_Model):
    value: float
    low: float
    high: float


class Queries(_Model):
    scored: int


class Recovered(_Model):
    against: str
    value: float | None


class Result(_Model):
    """The fields of a result that its table needs."""

    dataset: str
    split: str
    embedder: str
    queries: Queries
    systems: dict[str, dict[str, Mean]]
    differences: dict[str, dict[str, Mean]] = {}
    recovered: Recovered | None = None

    def ndcg(self, system: str) -> Mean | None:
        measures = self.systems.get(system)
        return measures[NDCG] if measures else None


def read_results(folder: Path) -> list[Result]:
    """The results in a folder, in order of file name. Raises UsageError if there are none or a file is invalid."""
    files = sorted(folder.glob("*.json"))
    if not files:
        raise UsageError(
            f"there is no result in {folder}", hint="make one: python -m rag eval retrieval DATASET --out FILE.json"
        )
    return [_read(file) for file in files]


def _read(file: Path) -> Result:
    try:
        result = Result.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError(
            f"{file} is not a retrieval result: {error}", hint="make it anew, or move it out of the folder"
        ) from error
    if any(NDCG not in measures for measures in result.systems.values()):
        raise UsageError(f"{file} has a system without {NDCG}", hint="make it anew")
    # Variants of ours that no longer exist are left out.
    systems = {name: mean for name, mean in result.systems.items() if is_baseline(name) or name in SYSTEMS}
    return result.model_copy(update={"systems": systems})


def labels(results: Sequence[Result]) -> list[str]:
    """A name for each result: its dataset, its split unless that is `all`, and its embedder if they differ.

    Raises UsageError for two of the same name.
    """
    several = len({result.embedder for result in results}) > 1
    names = [
        result.dataset
        + (f" ({result.split})" if result.split != "all" else "")
        + (f", {result.embedder.partition('@')[0]}" if several else "")
        for result in results
    ]
    require_one_of_each(names)
    return names


def require_one_of_each(names: Sequence[str]) -> None:
    """Raises UsageError for two results of the same name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"there are several results of {'; '.join(twice)}", hint="keep one file of each in the folder")


def cells(
    results: Sequence[Result],
    language: str = "en",
    *,
    variants: bool = False,
    names: Sequence[str] = (),
    system_name: Callable[[str], str] = str,
) -> list[list[str]]:
    """A table of nDCG@10 with a header, a column for each dataset and a row for each system. The rows below give the
    gain of ours over the best baseline, with its 95% interval, and the share of that baseline's gap to 1 that ours
    closes. `names` are the names of the results, by default their labels; `system_name` names the systems."""
    system, queries, mean, difference, recovered = HEADINGS[language]
    rows = [[f"{system} (nDCG@10)", *(names or labels(results)), mean]]
    rows += [
        [system_name(name), *(_cell(result, name) for result in results), _mean(results, name)]
        for name in shown_systems(results, variants=variants)
    ]
    gains = [_gain(result, system_name) for result in results]
    shares = [share for _, share in gains if share is not None]
    average = f"{sum(shares) / len(shares):.0%}" if shares else "–"
    rows.append([difference.format(ours=system_name(OURS)), *(gain for gain, _ in gains), ""])
    rows.append(
        [recovered, *("–" if share is None else f"{share + 0:.0%}".replace("-0%", "0%") for _, share in gains), average]
    )
    rows.append([queries, *(f"{result.queries.scored:,}" for result in results), ""])
    return rows


def shown_systems(results: Sequence[Result], *, variants: bool) -> list[str]:
    """The systems with a row: ours and the baselines, or with our variants."""
    systems = dict.fromkeys(name for result in results for name in result.systems)
    return [name for name in systems if variants or name == OURS or is_baseline(name)]


def _cell(result: Result, name: str) -> str:
    mean = result.ndcg(name)
    return "–" if mean is None else short(mean.value)


def _mean(results: Sequence[Result], name: str) -> str:
    """The mean over the datasets, if all have this system."""
    means = [mean.value for result in results if (mean := result.ndcg(name))]
    return short(sum(means) / len(means)) if len(means) == len(results) else "–"


def _gain(result: Result, system_name: Callable[[str], str]) -> tuple[str, float | None]:
    baselines = {name: mean.value for name in result.systems if is_baseline(name) and (mean := result.ndcg(name))}
    if OURS not in result.systems or not baselines:
        return "–", None
    best = max(baselines, key=lambda name: baselines[name])
    share = result.recovered.value if result.recovered else None
    return f"{signed(result.differences[best][NDCG].model_dump())} ({system_name(best)})", share
