"""One warm parser for all tests of formats: what users get."""

from collections.abc import Iterator

import pytest

from ingest.reading.parser_process import ParserProcess


@pytest.fixture(scope="package")
def parser() -> Iterator[ParserProcess]:
    with ParserProcess() as process:
        yield process


@pytest.fixture(scope="package")
def brief() -> Iterator[ParserProcess]:
    """One for what must not take long: a third of the processor time that others may use."""
    with ParserProcess(seconds=20) as process:
        yield process
