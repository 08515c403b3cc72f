"""A wish to stop reaches work that waits."""

import threading

from rag.chat_models.stopping import CURRENT, Stop, within


def test_actions_run_when_stop_is_asked_for_and_only_once() -> None:
    ran: list[str] = []
    stop = Stop()
    with stop.calling(lambda: ran.append("outer")), stop.calling(lambda: ran.append("inner")):
        assert ran == []
        stop.ask()
        assert ran == ["outer", "inner"]
        stop.ask()
    assert ran == ["outer", "inner"]
    assert stop.asked


def test_an_action_that_comes_late_runs_at_once() -> None:
    ran: list[int] = []
    stop = Stop()
    stop.ask()
    with stop.calling(lambda: ran.append(1)):
        assert ran == [1]


def test_what_has_ended_is_not_called() -> None:
    ran: list[int] = []
    stop = Stop()
    with stop.calling(lambda: ran.append(1)):
        pass
    stop.ask()
    assert ran == []


def test_it_is_called_from_the_thread_that_asks() -> None:
    stop, working, asked = Stop(), threading.Event(), threading.Event()
    called_in: list[int] = []

    def action() -> None:
        called_in.append(threading.get_ident())
        asked.set()

    def work() -> None:
        with stop.calling(action):
            working.set()
            asked.wait(30)

    worker = threading.Thread(target=work)
    worker.start()
    assert working.wait(30)
    stop.ask()
    assert called_in == [threading.get_ident()]
    worker.join(30)
    assert not worker.is_alive()


def test_work_ends_after_its_time_or_with_the_work_around_it() -> None:
    outer = Stop()
    token = CURRENT.set(outer)
    try:
        for seconds, ask in ((0.05, False), (60, True)):
            ended = threading.Event()
            with within(seconds):
                inner = CURRENT.get()
                assert inner is not None
                assert inner is not outer
                with inner.calling(ended.set):
                    if ask:
                        outer.ask()
                    assert ended.wait(30)
            assert CURRENT.get() is outer
            assert outer.asked == ask
    finally:
        CURRENT.reset(token)
