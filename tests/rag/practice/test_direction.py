"""Which way points are said, with a judge that knows two sentences."""

from typing import cast

import pytest

from rag.practice.judge import DirectionFeatures, Judge, Probabilities, directions

SAYS, DENIES, NEITHER = Probabilities(0.8, 0.1, 0.1), Probabilities(0.1, 0.8, 0.1), Probabilities(0.1, 0.1, 0.8)


class Knows:
    def __init__(self, known: dict[str, Probabilities]) -> None:
        self.known, self.asked = known, 0

    def judge(self, pairs: list[tuple[str, str]]) -> list[Probabilities]:
        self.asked += len(pairs)
        return [self.known.get(statement, NEITHER) for _, statement in pairs]


def test_the_nearest_sentence_tells_and_the_whole_attempt_colours_it() -> None:
    judge = Knows({"right": SAYS, "turned": DENIES})
    made, turned = directions(cast("Judge", judge), [("a", ["right"]), ("b", ["turned", "right", "else", "x"])])
    assert made.turned < 0 < turned.turned
    assert turned.most_turned == turned.turned == pytest.approx(2.079, abs=1e-3)
    assert (made.says, made.denies) == (0.8, 0.1)
    assert turned.says == 0.8  # its second sentence is right
    assert made.overall == turned.overall == pytest.approx(0, abs=1e-9)
    assert judge.asked == 3


def test_what_was_not_spoken_of_is_not_read() -> None:
    judge = Knows({"right": SAYS})
    silent, made = directions(cast("Judge", judge), [("a", []), ("b", ["right"])])
    assert silent == DirectionFeatures()
    assert made.overall == made.turned
    assert judge.asked == 1


def test_without_a_judge_nothing_is_known() -> None:
    assert directions(None, [("a", ["right"])]) == [DirectionFeatures()]
    assert directions(cast("Judge", Knows({})), []) == []
    assert len(DirectionFeatures().row()) == len(DirectionFeatures.columns()) == 5
