"""Passes a reader's stop request on to work in another thread, even while it waits for a connection."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """The work was stopped; nobody waits for its result."""


class Stop:
    """One piece of work that can be stopped once. Whoever does the work makes it `CURRENT` in its thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = threading.Event()
        self._actions: list[Callable[[], None]] = []

    @property
    def asked(self) -> bool:
        return self._asked.is_set()

    def ask(self) -> None:
        """Stop: runs, in this thread, what `calling` has registered."""
        with self._lock:
            self._asked.set()
            actions, self._actions = self._actions, []
        for action in actions:
            action()

    @contextmanager
    def calling(self, action: Callable[[], None]) -> Iterator[None]:
        """Within the block, `action` ends the wait; it runs at once if the stop was requested before."""
        with self._lock:
            late = self.asked
            if not late:
                self._actions.append(action)
        if late:
            action()
        try:
            yield
        finally:
            with self._lock:
                if action in self._actions:
                    self._actions.remove(action)


CURRENT: ContextVar[Stop | None] = ContextVar("stop", default=None)


@contextmanager
def within(seconds: float) -> Iterator[Stop]:
    """Stops the work in the block after this many seconds, or together with the work around it. Interrupted work need
    not fail: a stream may just end. `asked` tells."""
    stop, outer = Stop(), CURRENT.get()
    timer = threading.Timer(seconds, stop.ask)
    timer.daemon = True
    token = CURRENT.set(stop)
    try:
        with outer.calling(stop.ask) if outer is not None else nullcontext():
            timer.start()
            yield stop
    finally:
        timer.cancel()
        CURRENT.reset(token)
