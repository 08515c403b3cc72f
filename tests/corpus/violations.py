"""One test for many cases: it fails with the list of all that fail."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

from tests.corpus.pages import PAGES, Page

T = TypeVar("T")


def violations(check: Callable[[T], None], cases: Iterable[T], name: Callable[[T], str] = str) -> list[str]:
    """The names of the cases that fail the check, each with what was wrong."""
    found = []
    for case in cases:
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as problem:
            found.append(f"{name(case)}: {type(problem).__name__}: {problem}")
    return found


def told(found: list[str]) -> str:
    return f"{len(found)} fail:\n" + "\n".join(found)


def of_every_page(check: Callable[[Page], None]) -> Callable[[], None]:
    """A test that checks every page. A test for each page and rule took longer to collect than to run."""

    def test() -> None:
        found = violations(check, PAGES)
        assert not found, told(found)

    test.__name__, test.__doc__ = check.__name__, check.__doc__
    return test
