"""The error tree: every error has a code of its own, and the docstring draws the tree as it is."""

import re
from collections.abc import Iterator

import rag.errors
from rag.errors import RagError


def all_errors(root: type[RagError] = RagError) -> Iterator[type[RagError]]:
    for error in root.__subclasses__():
        if error.__module__ == "rag.errors":
            yield error
            yield from all_errors(error)


def test_every_error_has_its_own_code() -> None:
    codes = [error.code for error in all_errors()]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"[a-z_]+", code) and code != RagError.code for code in codes)
    assert {error.exit_code for error in all_errors()} == {1, 2}


def test_the_docstring_draws_the_tree() -> None:
    lines = re.findall(r"^[├└]── (\w+)", rag.errors.__doc__ or "", re.MULTILINE)
    assert lines == [error.__name__ for error in RagError.__subclasses__() if error.__module__ == "rag.errors"]
    assert lines == [error.__name__ for error in all_errors()]


def test_the_docstring_says_which_are_wrong_usage() -> None:
    drawn = re.findall(r"^[├└]── (\w+).*exit code 2", rag.errors.__doc__ or "", re.MULTILINE)
    assert drawn == [error.__name__ for error in all_errors() if error.exit_code == 2]


def test_an_error_as_the_command_line_prints_it() -> None:
    error = rag.errors.IndexMissingError("there is none", hint="make one")
    assert error.as_dict() == {"error": {"code": "index_missing", "message": "there is none", "hint": "make one"}}
    assert str(error) == "there is none"
