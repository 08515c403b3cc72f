"""Writes an answer in a thread of its own, so that stopping never waits for a slow model."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from queue import Empty, SimpleQueue

from rag.answer.trace import Event
from rag.chat_models.stopping import CURRENT, Stop, Stopped
from rag.process import give_back_memory

logger = logging.getLogger(__name__)

# Seconds of silence before a pulse.
PULSE = 1.0
# Seconds between two releases of the memory of answers. Several readers at once soon take much of it again: with a
# release after each answer instead of every ten seconds, it was 60 MB less (`python -m tools.bench.readers`).
BETWEEN_RETURNS = 2.0


class Run:
    """Iterate over it to get the events. After `stop` the iteration ends at once, as does every wait of the source
    iterator that supports `rag.chat_models.stopping`. The worker thread closes the source after its current step."""

    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events
        self._queue: SimpleQueue[Event | Exception | None] = SimpleQueue()
        self._stop = Stop()
        self._wake: Callable[[], None] | None = None  # set by an iterator that waits in an event loop
        self._thread = threading.Thread(target=self._pump, name="answer", daemon=True)
        self._thread.start()

    @property
    def stopped(self) -> bool:
        return self._stop.asked

    def stop(self) -> None:
        self._stop.ask()
        self._put(None)

    def __iter__(self) -> Iterator[Event]:
        return (event for event in self.with_pulse() if event is not None)

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Holds no thread of the loop's pool while it waits: a few slow answers would block all others."""
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: _call_in(loop, ready.set)
        while not self.stopped:
            ready.clear()
            try:
                item = self._queue.get_nowait()
            except Empty:
                await ready.wait()
                continue
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            yield item
            await asyncio.sleep(0)  # even with many ready, the loop serves others and notices leaving readers

    def with_pulse(self, seconds: float | None = None) -> Iterator[Event | None]:
        """The events, and None whenever none has come for `seconds`, by default PULSE: a chance to see that nobody
        waits any more."""
        while not self.stopped:
            try:
                item = self._queue.get(timeout=PULSE if seconds is None else seconds)
            except Empty:
                yield None
                continue
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            yield item

    def join(self, timeout: float) -> bool:
        """Wait for the thread; True if it ended."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _put(self, item: Event | Exception | None) -> None:
        self._queue.put(item)
        if self._wake is not None:
            self._wake()

    def _pump(self) -> None:
        CURRENT.set(self._stop)
        try:
            for event in self._events:
                if self.stopped:
                    break
                self._put(event)
        except Stopped:
            pass
        except Exception as error:  # any error is raised where the events are iterated
            if self.stopped:
                logger.info("an answer failed after it was stopped: %s", error)
            self._put(error)
        finally:
            if isinstance(self._events, Generator):
                self._events.close()
            self._put(None)
            give_back_memory(at_most_every=BETWEEN_RETURNS)


def _call_in(loop: asyncio.AbstractEventLoop, action: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody reads on
        loop.call_soon_threadsafe(action)
