"""An answer in a thread of its own, read from an event loop."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from rag.answer.running import Run
from rag.answer.trace import Event, EvidenceFound
from rag.search.retrieval import Evidence

NOTHING = EvidenceFound(Evidence("", ()))
# More than the threads of an event loop's pool.
MANY = 64


def test_many_that_wait_do_not_hold_up_one_that_is_ready() -> None:
    let_go = threading.Event()

    def waiting() -> Iterator[Event]:
        let_go.wait(120)
        yield NOTHING

    async def events(run: Run) -> list[Event]:
        return [event async for event in run]

    async def read() -> None:
        slow = [asyncio.create_task(events(Run(waiting()))) for _ in range(MANY)]
        await asyncio.sleep(0.1)
        try:
            assert await asyncio.wait_for(events(Run(iter([NOTHING, NOTHING]))), 60) == [NOTHING, NOTHING]
        finally:
            let_go.set()
        assert await asyncio.gather(*slow) == [[NOTHING]] * MANY

    asyncio.run(read())


def test_stopping_ends_the_wait() -> None:
    let_go = threading.Event()

    def waiting() -> Iterator[Event]:
        yield NOTHING
        let_go.wait(120)

    async def read() -> list[Event]:
        run = Run(waiting())
        asyncio.get_running_loop().call_later(0.1, run.stop)
        return [event async for event in run]

    try:
        assert asyncio.run(asyncio.wait_for(read(), 60)) == [NOTHING]
    finally:
        let_go.set()


def test_what_is_raised_reaches_the_loop() -> None:
    def failing() -> Iterator[Event]:
        yield NOTHING
        raise ValueError("no")

    async def read() -> None:
        async for _ in Run(failing()):
            pass

    with pytest.raises(ValueError, match="no"):
        asyncio.run(read())


def test_events_that_are_ready_leave_the_loop_its_turn() -> None:
    async def read() -> int:
        seen = 0
        run = Run(iter([NOTHING] * 100))
        assert run.join(30)
        asyncio.get_running_loop().call_soon(run.stop)
        async for _ in run:
            seen += 1
        return seen

    assert asyncio.run(read()) < 5
