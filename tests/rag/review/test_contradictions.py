"""Which statements are reported as contradictions, and which only look like it."""

from collections.abc import Mapping

import pytest

from rag.review.contradictions import Kind
from tests.rag.review.conftest import Reviewing
from tests.rag.review.documents import CONSISTENT, CONTRADICTORY, FILLER, page


def documents(one: str, other: str) -> Mapping[str, str]:
    return {"one.md": page("第一篇", one), "other.md": page("第二篇", other), **FILLER}


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_contradictions_are_found(name: str, reviewing: Reviewing) -> None:
    one, other = CONTRADICTORY[name]
    (found,) = reviewing(documents(one, other)).contradictions
    assert (found.one.quote, found.other.quote) == (one, other)
    assert found.kind is (Kind.OPPOSITE if "denied" in name else Kind.FIGURE)
    assert 0 < found.score <= 1


@pytest.mark.parametrize("name", CONSISTENT)
def test_conditions_are_respected(name: str, reviewing: Reviewing) -> None:
    one, other = CONSISTENT[name]
    assert reviewing(documents(one, other)).contradictions == ()


def test_what_differs_is_told_and_what_is_shared(reviewing: Reviewing) -> None:
    (found,) = reviewing(documents(*CONTRADICTORY["bandwidth"])).contradictions
    assert found.differing == ("2.0 TB/s", "1.6 TB/s")
    assert "a100" in found.shared


def test_quotes_are_exact_slices(reviewing: Reviewing) -> None:
    texts = documents(*CONTRADICTORY["default"])
    found = reviewing(texts)
    places = [place for each in found.contradictions for place in (each.one, each.other)]
    places += [each.statement for each in found.time_bound]
    assert places
    assert all(texts[place.document][place.start : place.end] == place.quote for place in places)


def test_sections_of_one_document_contradict_each_other(reviewing: Reviewing) -> None:
    one, other = CONTRADICTORY["bandwidth"]
    text = f"# 硬件\n\n## 要点\n\n{one}\n\n## 展开\n\n{'展开说明各种硬件的差别，' * 30}。{other}\n"
    (found,) = reviewing({"hardware.md": text, **FILLER}).contradictions
    assert (found.one.section[-1], found.other.section[-1]) == ("要点", "展开")


def test_a_figure_that_differs_in_the_translation(reviewing: Reviewing) -> None:
    chinese = "Llama 3 405B 在 16,384 张 H100 上训练了 54 天，GPU 利用率是 41%。"
    english = "Llama 3 405B trained on 16,384 H100 GPUs for 54 days, and the GPU utilisation is {}%."

    def text(share: int) -> str:
        return f"# 容错\n\n## 要点\n\n{chinese}\n\n## English\n\n### Fault tolerance\n\n{english.format(share)}\n"

    assert reviewing({"page.md": text(41), **FILLER}).contradictions == ()
    (found,) = reviewing({"page.md": text(38), **FILLER}).contradictions
    assert found.kind is Kind.TRANSLATION
    assert found.differing == ("41%", "38%")


def test_what_is_wrong_on_purpose_contradicts_nothing(reviewing: Reviewing) -> None:
    one, other = CONTRADICTORY["bandwidth"]
    mistakes = f"# 显存\n\n## 常见错误\n\n- **误解**：{other}**正确**：{one}\n- 网上常见说法：“{other}”\n"
    assert reviewing({"one.md": page("第一篇", one), "other.md": mistakes, **FILLER}).contradictions == ()
    english = "# Memory\n\n## Common mistakes\n\n- **Myth**: {}\n"
    wrong, right = CONTRADICTORY["english"]
    texts = {"one.md": page("One", right), "other.md": english.format(wrong), **FILLER}
    assert reviewing(texts).contradictions == ()


def test_a_right_statement_among_mistakes_counts(reviewing: Reviewing) -> None:
    one, other = CONTRADICTORY["bandwidth"]
    mistakes = f"# 显存\n\n## 常见错误\n\n- **误解**：显存带宽不重要。**正确**：{other}\n"
    (found,) = reviewing({"one.md": page("第一篇", one), "other.md": mistakes, **FILLER}).contradictions
    assert found.other.quote == other


def test_the_same_index_gives_the_same_report(reviewing: Reviewing) -> None:
    texts = documents(*CONTRADICTORY["units"])
    assert reviewing(texts).as_dict() == reviewing(texts).as_dict()
