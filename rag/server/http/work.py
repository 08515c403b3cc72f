"""Answers questions off the event loop, a few at once, and stops as soon as nobody waits for them."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import aclosing
from typing import Any, Protocol, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rag.answer.assistant import Assistant
from rag.answer.running import Run
from rag.answer.trace import Event, Finished
from rag.settings import ChatModelName
from rag.types import Turn

Result = TypeVar("Result")
# Quotes are computed here, so more at once would only slow each other; a chat model is mostly waiting.
QUOTED_AT_ONCE, WRITTEN_AT_ONCE = 3, 32


class GoneError(Exception):
    """The client has hung up."""


class Observer(Protocol):
    """Receives the outcome of each question."""

    def answered(self, finished: Finished) -> None: ...

    def failed(self, error: Exception) -> None: ...


class Work:
    """The server's current work. `running` counts the answers that threads work on."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers
        self._computing = asyncio.Semaphore(QUOTED_AT_ONCE)
        self._writing = asyncio.Semaphore(WRITTEN_AT_ONCE)
        self._lock = threading.Lock()
        self._running = 0

    @property
    def running(self) -> int:
        return self._running

    async def events(self, assistant: Assistant, question: str, history: Sequence[Turn]) -> AsyncGenerator[Event, None]:
        """The answer as it arrives. Closing the generator stops the work."""
        async with self._computing if assistant.llm is ChatModelName.EXTRACTIVE else self._writing:
            run = Run(self._counted(assistant.stream(question, history)))
            try:
                async for event in run:
                    if isinstance(event, Finished):
                        for observer in self._observers:
                            observer.answered(event)
                    yield event
            except Exception as error:
                for observer in self._observers:
                    observer.failed(error)
                raise
            finally:
                run.stop()

    async def finished(self, assistant: Assistant, question: str, history: Sequence[Turn]) -> Finished:
        """The whole answer."""
        async with aclosing(self.events(assistant, question, history)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    return event
        raise AssertionError("a stream of events ends with Finished")

    async def computed(self, compute: Callable[[], Result]) -> Result:
        """Run a short CPU-bound task, in its turn."""
        async with self._computing:
            return await run_in_threadpool(compute)

    def _counted(self, events: Iterator[Event]) -> Generator[Event, None, None]:
        """Runs in the answer's thread, to its very end."""
        with self._lock:
            self._running += 1
        try:
            yield from events
        finally:
            with self._lock:
                self._running -= 1


async def unless_gone(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of the work. If the client hangs up, cancels it and raises GoneError."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise GoneError
    finally:
        gone.cancel()
        task.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
