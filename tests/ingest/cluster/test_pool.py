"""What a pool makes of a cluster that loses its nodes, told with a stand-in for the calls of Ray that it makes."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.cluster.pool import ATTEMPTS, LostTask, Pool, Task
from ingest.cluster.version import program
from ingest.cluster.worker import EmbedderLimits, Greeting, Job
from rag.errors import IngestError


class RayError(Exception):
    pass


class DiedError(RayError):
    pass


class StandIn:
    """Ray, whose actors answer what they are told here, in the order in which they start; the rest answers never."""

    exceptions = SimpleNamespace(
        RayError=RayError, RayTaskError=type("RayTaskError", (RayError,), {}), RayActorError=DiedError,
        WorkerCrashedError=DiedError, OutOfMemoryError=DiedError, ObjectLostError=DiedError, NodeDiedError=DiedError,
        LocalRayletDiedError=DiedError,
    )  # fmt: skip

    def __init__(self, answers: Callable[[int], dict[str, Any]]) -> None:
        self.started = 0
        self._answers = answers
        self._given: dict[object, Any] = {}
        self._waits = 0

    def remote(self, _: type) -> Any:
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self._start))

    def wait(self, references: list[object], *, num_returns: int, timeout: float | None) -> tuple[list[object], None]:
        done = [reference for reference in references if reference in self._given]
        assert done or timeout is not None, "waits for ever"
        self._waits += num_returns
        return done[self._waits % len(done) :][:num_returns] if done else done, None

    def get(self, reference: object) -> Any:
        answer = self._given.pop(reference)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def put(self, value: Any) -> None:
        raise ConnectionError(f"{value} cannot be sent")

    def kill(self, handle: Any) -> None:
        pass

    def cancel(self, reference: object) -> None:
        pass

    def _start(self, _: Job) -> Any:
        answers = self._answers(self.started)
        self.started += 1
        methods = ("greet", "load", "read")
        return SimpleNamespace(
            **{method: SimpleNamespace(remote=partial(self._ask, answers, method)) for method in methods}
        )

    def _ask(self, answers: dict[str, Any], method: str, *_: Any) -> object:
        reference = object()
        if method in answers:
            self._given[reference] = answers[method]
        return reference


def pool(ray: Any, count: int = 1) -> Pool:
    return Pool(ray, Job({}, None, "hash@1", lambda _: pytest.fail("no worker loads")), count, most_bytes=1000)


def alive(number: int) -> dict[str, Any]:
    return {"greet": Greeting("node", number, program()), "load": EmbedderLimits(256, 512)}


TASK = Task("read", ("a",), (0,), 1)


def test_the_last_node_is_lost() -> None:
    """Others that were there before do not make a run wait for ever."""
    ray = StandIn(lambda number: alive(number) | {"read": DiedError("node lost")} if number == 0 else {})
    lost = pool(ray)
    with pytest.raises(IngestError, match="no worker could start within") as caught:
        list(lost.run([TASK]))
    assert "ray status" in caught.value.hint
    assert ray.started == 2
    assert lost.greetings == []


def test_one_node_lacks_the_program() -> None:
    """Its workers die before they greet, and others that work do not hide it."""

    def answers(number: int) -> dict[str, Any]:
        return alive(number) | {"read": []} if number == 0 else {"greet": DiedError("no module named ingest")}

    def tasks() -> Any:
        while True:
            assert ray.started < 100, "starts workers for ever"
            yield TASK

    ray = StandIn(answers)
    with pytest.raises(IngestError, match=r"5 workers died before .*: no module named ingest") as caught:
        list(pool(ray, 2).run(tasks()))
    assert "on every node" in caught.value.hint


@pytest.mark.parametrize("call", [lambda pool: pool.share("codec"), Pool.wait, lambda pool: list(pool.run([TASK]))])
def test_a_cluster_that_is_lost_is_named(call: Callable[[Pool], Any]) -> None:
    """Whatever was asked of it: to `sync` a ConnectionError is one of the disk."""
    ray = StandIn(lambda _: {"greet": ConnectionError("head is gone")})
    with pytest.raises(IngestError, match="the Ray cluster is lost: ") as caught:
        call(pool(ray))
    assert "head node" in caught.value.hint


def test_a_document_costs_as_many_workers_as_are_told() -> None:
    """Among several of a task it costs no more than alone."""

    def answers(number: int) -> dict[str, Any]:
        return alive(number) | {"read": DiedError("out of memory")}

    for names in ("a",), ("a", "b"):
        ray = StandIn(answers)
        task, lost = next(pool(ray).run([Task("read", names, tuple(range(len(names))), 2)]))
        assert task.items == ("a",)
        assert lost == LostTask("out of memory")
        assert ray.started == 1 + ATTEMPTS


class LosesReplies(StandIn):
    """A worker that dies of "bad" takes with it what it has done and not yet told."""

    def __init__(self) -> None:
        super().__init__(alive)
        self._asked: dict[int, list[object]] = {}

    def _ask(self, answers: dict[str, Any], method: str, *arguments: Any) -> object:
        reference = super()._ask(answers, method, *arguments)
        if method == "read":
            asked = self._asked.setdefault(id(answers), [])
            asked.append(reference)
            dies = "bad" in arguments[0]
            self._given |= {each: DiedError("killed") for each in asked} if dies else {reference: list(arguments[0])}
        return reference


@pytest.mark.parametrize("count", [1, 2])
def test_a_task_is_not_blamed_for_the_one_behind_it(count: int) -> None:
    ray = LosesReplies()
    tasks = [Task("read", (name,), (place,), 1) for place, name in enumerate(("a", "b", "bad", "c", "d"))]
    results = {task.items[0]: result for task, result in pool(ray, count).run(tasks)}
    assert results == {name: [name] for name in "abcd"} | {"bad": LostTask("killed")}
