"""Results of answers: the JSON files that `python -m rag eval answers GOLD --out FILE` wrote."""

import json
from pathlib import Path
from typing import Any

from rag.errors import UsageError
from rag.evaluation.answers.table import label
from rag.evaluation.retrieval.results import require_one_of_each

NEEDED = ("llm", "model", "dataset", "split", "questions", "measures", "seconds", "gates")


def read_results(folder: Path) -> list[dict[str, Any]]:
    """The results in a folder, in order of file name. Raises UsageError if there are none, a file is invalid, or two
    have the same label."""
    results = [_read(file) for file in sorted(folder.glob("*.json"))]
    if not results:
        raise UsageError(
            f"there is no result in {folder}", hint="make one: python -m rag eval answers GOLD.jsonl --out FILE.json"
        )
    require_one_of_each(list(map(label, results)))
    return results


def _read(file: Path) -> dict[str, Any]:
    try:
        result = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} is not a result of answers: {error}", hint="make it anew, or move it away") from error
    missing = [key for key in NEEDED if not isinstance(result, dict) or key not in result]
    if missing:
        raise UsageError(
            f"{file} is not a result of answers: it has no {', '.join(missing)}", hint="make it anew, or move it away"
        )
    return dict(result)
