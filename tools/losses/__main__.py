"""Find text that an ingest loses without a word: in files that are given, or in ones that are made by chance.

python -m tools.losses FOLDER     every file below it that can be read
python -m tools.losses --made 2000 --seed 1
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.reading.parser_process import ParserProcess
from rag.errors import DocumentError
from rag.settings import Settings
from tools.losses.lost import Compared, compare
from tools.losses.made import FORMATS, make
from tools.losses.written import READERS, pieces


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.losses", description=__doc__.split("\n\n")[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--made", type=int, default=0, help="how many documents to make")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shown", type=int, default=5, help="lost pieces shown of each file")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    settings = Settings()
    with ParserProcess() as process:
        for name, compared in _all(options, settings, process):
            if isinstance(compared, DocumentError):
                counts["refused"] += 1
                _say(f"{name}: {compared}")
                continue
            counts["files"] += 1
            counts["pieces"] += compared.count
            counts["lost"] += len(compared.lost)
            counts["files with losses"] += bool(compared.lost)
            if compared.lost:
                told = "; ".join(compared.told) or "nothing"
                _say(f"{name}: {len(compared.lost)} of {compared.count} lost; told: {told}")
                for piece in compared.lost[: options.shown]:
                    _say(f"    {piece.strip()[:160]!r}")
    _say(", ".join(f"{name}: {count:,}" for name, count in counts.items()))
    return int(counts["lost"] > 0)


def _all(
    options: argparse.Namespace, settings: Settings, process: ParserProcess
) -> Iterator[tuple[str, Compared | DocumentError]]:
    """What each file, and then each document that was made, loses; or why it is refused."""
    for path in _files(options.paths):
        data = path.read_bytes()
        yield str(path), compare(path.suffix.lower(), data, pieces(path.suffix.lower(), data), settings, process)
    for number in range(options.made):
        made = make(FORMATS[number % len(FORMATS)], options.seed + number)
        yield f"{made.suffix} {options.seed + number}", compare(made.suffix, made.data, made.pieces, settings, process)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        below = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in below if file.is_file() and file.suffix.lower() in READERS)


if __name__ == "__main__":
    sys.exit(main())
