"""Progress bars of an ingest run, on stderr."""

import sys
from typing import Self

from tqdm import tqdm


class Bars:
    """One bar per stage, with its rate and the time left, made when the stage begins; earlier bars stay as they
    are."""

    def __init__(self) -> None:
        self._bars: dict[str, tqdm] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for bar in self._bars.values():
            bar.close()

    def update(self, stage: str, done: int, total: int) -> None:
        if stage not in self._bars:
            for before in self._bars.values():
                before.close()
            self._bars[stage] = tqdm(total=total, desc=stage, unit=f" {stage}", file=sys.stderr, dynamic_ncols=True)
        bar = self._bars[stage]
        bar.total = total
        bar.update(done - bar.n)
