"""Actors that get tasks, a bounded number of bytes at a time. A dead one is restarted, and its task is charged.

Each actor works through its tasks in order, so of several that it held when it died, the first is the one that it was
at. Or nearly so: it may have done that one, and have died of the next before sending the result. So a task that has
cost an actor goes to one that holds nothing else, and no task is blamed for another.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ingest.cluster.version import differences, program
from ingest.cluster.worker import EmbedderLimits, Greeting, Job, Worker
from rag.errors import IngestError, RagError

# How often a task may cost an actor.
ATTEMPTS = 3
# Tasks per actor: the current one, and one so that it need not wait.
HELD = 2
# An actor has to load Python and this program; the cluster may have to make room first.
START_SECONDS = 120.0
# Give up when this many actors, plus one for each that there is, die in a row without a finished task.
DEATHS_IN_A_ROW = 8
ROOM_HINT = "other work may hold the processors: see `ray status`; give it some, or lower `ray_workers`"
LOST_HINT = "see whether its head node runs; the old index is untouched"
START_HINT = "install this program with its extra `ray` on every node, and see the logs of the cluster"
DEATHS_HINT = "see the memory of the nodes, and the logs of the cluster; the old index is untouched"


@dataclass(frozen=True, slots=True)
class Task:
    """A method of `Worker`, its items, and the place of each. `size` is in bytes."""

    method: str
    items: tuple[Any, ...]
    places: tuple[int, ...]
    size: int
    more: tuple[Any, ...] = ()
    deaths: int = 0

    def parts(self) -> "Iterator[Task]":
        """The items one by one, to identify the deadly one."""
        for item, place in zip(self.items, self.places, strict=True):
            yield replace(self, items=(item,), places=(place,), size=self.size // len(self.items))


@dataclass(frozen=True, slots=True)
class LostTask:
    """Stands for the result of a task of one item that has cost ATTEMPTS actors."""

    cause: str


@dataclass(slots=True, eq=False)
class _Actor:
    """`coming` is its start-up request: which program it runs, then to load the embedder; None once it is ready."""

    handle: Any
    coming: Any
    held: "deque[tuple[Any, Task]]" = field(default_factory=deque)
    greeting: Greeting | None = None

    @property
    def has_room(self) -> bool:
        """Whether it is ready for another task: one that may kill it stays alone."""
        return self.coming is None and len(self.held) < HELD and not any(task.deaths for _, task in self.held)


class Pool:
    """`count` actors for a job, in the cluster of this process. For one thread at a time."""

    def __init__(self, ray: Any, job: Job, count: int, *, most_bytes: int) -> None:
        self._ray = ray
        self._job = job
        self._most_bytes = most_bytes
        self._actor = ray.remote(Worker).options(num_cpus=1, max_restarts=0, max_task_retries=0)
        self._deaths_in_a_row = self._failed_starts = 0
        self.loaded: EmbedderLimits | None = None
        """Of the embedder, once a worker has it."""
        self.bytes_in_flight = 0
        with connected(ray):
            self._actors = [self._start() for _ in range(count)]

    def close(self) -> None:
        """End the actors, whatever they are doing."""
        for actor in self._actors:
            with suppress(ConnectionError, self._ray.exceptions.RayError):  # they end with the connection anyway
                self._ray.kill(actor.handle)
        self._actors = []

    def __len__(self) -> int:
        return len(self._actors)

    @property
    def greetings(self) -> list[Greeting]:
        """Greetings of the living workers."""
        return [actor.greeting for actor in self._actors if actor.greeting is not None]

    def share(self, value: Any) -> Any:
        """Send data of many tasks to a node once."""
        with connected(self._ray):
            return self._ray.put(value)

    def wait(self, count: int = 1) -> EmbedderLimits:
        """Wait until `count` workers are ready. Raises as `run` does."""
        with connected(self._ray):
            while self.loaded is None or sum(actor.coming is None for actor in self._actors) < count:
                for _ in self._settle(deque()):
                    raise AssertionError("no task was given")
        return self.loaded

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        """The result of each task, in any order. Takes no more tasks than actors can hold.

        Raises IngestError if actors cannot be started, or die whatever their task; and what a worker raises.
        """
        coming, again = iter(tasks), deque[Task]()
        try:
            with connected(self._ray):
                while True:
                    self._feed(coming, again)
                    if not any(actor.held for actor in self._actors) and not again:
                        if (task := next(coming, None)) is None:
                            return
                        again.append(task)
                    yield from self._settle(again)
        finally:
            # Unwanted results must not arrive with those of the next tasks.
            self._drop()

    def _feed(self, coming: Iterator[Task], again: "deque[Task]") -> None:
        """Give tasks to the actors with the fewest, while there is room."""
        while ready := [actor for actor in self._actors if actor.has_room]:
            task = again.popleft() if again else next(coming, None)
            if task is None:
                break
            actor = min(ready, key=lambda actor: len(actor.held))
            full = self.bytes_in_flight and self.bytes_in_flight + task.size > self._most_bytes
            if full or (task.deaths and actor.held):
                again.appendleft(task)
                break
            reference = getattr(actor.handle, task.method).remote(task.items, *task.more)
            actor.held.append((reference, task))
            self.bytes_in_flight += task.size

    def _settle(self, again: "deque[Task]") -> Iterator[tuple[Task, Any]]:
        """Wait until a task is done or an actor is ready, and handle it."""
        waited = {actor.held[0][0]: actor for actor in self._actors if actor.held}
        waited |= {actor.coming: actor for actor in self._actors if actor.coming is not None}
        limit = None if self.greetings else START_SECONDS
        started = time.monotonic()
        done, _ = self._ray.wait(list(waited), num_returns=1, timeout=limit)
        if not done:
            raise IngestError(
                f"no worker could start within {time.monotonic() - started:.0f} seconds, {len(self._actors)} wait",
                hint=ROOM_HINT,
            )
        for reference in done:
            actor = waited[reference]
            if actor.coming is not None:
                self._welcome(actor)
                continue
            task = actor.held[0][1]
            try:
                result = self._ray.get(reference)
            except self._deadly as error:
                yield from self._bury(actor, again, error)
                continue
            except self._ray.exceptions.RayTaskError as error:
                raise _raised_by_worker(error) from error
            actor.held.popleft()
            self.bytes_in_flight -= task.size
            self._deaths_in_a_row = 0
            yield task, result

    @property
    def _deadly(self) -> tuple[type[BaseException], ...]:
        """Errors of a task whose actor or node has died, or whose result is lost."""
        errors = self._ray.exceptions
        return (
            errors.RayActorError, errors.WorkerCrashedError, errors.OutOfMemoryError, errors.ObjectLostError,
            errors.NodeDiedError, errors.LocalRayletDiedError,
        )  # fmt: skip

    def _start(self) -> _Actor:
        handle = self._actor.remote(self._job)
        return _Actor(handle, handle.greet.remote())

    def _welcome(self, actor: _Actor) -> None:
        """Let an actor that runs our program load the embedder, and a loaded one work."""
        try:
            answer = self._ray.get(actor.coming)
        except self._deadly as error:
            self._count_death(error)
            self._failed_starts += actor.greeting is None
            if self._failed_starts >= ATTEMPTS + len(self._actors):
                raise IngestError(
                    f"{self._failed_starts} workers died before they could say what they run: {_cause(error)}",
                    hint=START_HINT,
                ) from error
            self._actors[self._actors.index(actor)] = self._start()
            return
        except self._ray.exceptions.RayTaskError as error:
            raise _raised_by_worker(error) from error
        if isinstance(answer, EmbedderLimits):
            self.loaded = answer
            actor.coming = None
            return
        if others := list(differences(program(), answer.program)):
            raise IngestError(
                f"the node {answer.node} runs another program: {'; '.join(others)}",
                hint="install the same version there, with the same libraries (pip install -r requirements.lock)",
            )
        actor.greeting = answer
        self._failed_starts = 0
        actor.coming = actor.handle.load.remote()

    def _bury(self, actor: _Actor, again: "deque[Task]", error: BaseException) -> Iterator[tuple[Task, Any]]:
        """Replace a dead actor; its tasks are given again, its first task a bounded number of times."""
        self._count_death(error)
        (_, first), *rest = actor.held
        self.bytes_in_flight -= sum(task.size for _, task in actor.held)
        self._ray.kill(actor.handle)  # a node that is away for a moment may come back with it
        self._actors[self._actors.index(actor)] = self._start()
        again.extendleft(reversed([task for _, task in rest]))
        first = replace(first, deaths=first.deaths + 1)
        if len(first.items) > 1 and first.deaths == ATTEMPTS - 1:
            again.extend(first.parts())
        elif first.deaths < ATTEMPTS:
            again.append(first)
        else:
            yield first, LostTask(_cause(error))

    def _count_death(self, error: BaseException) -> None:
        self._deaths_in_a_row += 1
        if self._deaths_in_a_row > DEATHS_IN_A_ROW + len(self._actors):
            raise IngestError(
                f"{self._deaths_in_a_row} workers died one after the other, the last: {_cause(error)}", hint=DEATHS_HINT
            ) from error

    def _drop(self) -> None:
        for actor in self._actors:
            for reference, _ in actor.held:
                with suppress(ConnectionError, self._ray.exceptions.RayError):
                    self._ray.cancel(reference)
            actor.held.clear()
        self.bytes_in_flight = 0


@contextmanager
def connected(ray: Any) -> Iterator[None]:
    """Raises IngestError if the cluster is lost meanwhile."""
    try:
        yield
    except (ConnectionError, ray.exceptions.RayError) as error:
        raise IngestError(f"the Ray cluster is lost: {_cause(error)}", hint=LOST_HINT) from error


def _raised_by_worker(error: Any) -> Exception:
    """The worker's exception, as if raised here."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, RagError):
        return cause
    return IngestError(f"a worker failed: {_cause(cause or error)}", hint="this is a defect of the program")


def _cause(error: BaseException) -> str:
    """The last line of a possible traceback."""
    lines: Sequence[str] = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].strip()[:300] if isinstance(error, RagError) or len(lines) > 3 else " ".join(lines)[:300]
