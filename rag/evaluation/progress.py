"""The progress of an evaluation, by default as a bar on stderr."""

from collections.abc import Collection, Iterable
from typing import Protocol, TypeVar

from tqdm import tqdm

T = TypeVar("T")


class Track(Protocol):
    """Goes through `items` and reports progress; `name` says what is measured."""

    def __call__(self, items: Collection[T], name: str) -> Iterable[T]: ...


def bar(items: Collection[T], name: str, *, unit: str = "question") -> Iterable[T]:
    shown: Iterable[T] = tqdm(items, desc=name, unit=unit, dynamic_ncols=True)
    return shown
