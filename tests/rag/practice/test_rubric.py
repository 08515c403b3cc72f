"""Points are claims, word for word from the source; the front matter may correct them."""

from pathlib import Path

import pytest

from rag.errors import UsageError
from rag.practice.bank import Bank
from rag.practice.rubric import ESSENTIAL, FURTHER, Rubric, rubric_of
from tests.rag.practice.pages import CACHE, CACHE_ID, LORA_ID, QUERY_ID, bank_of


def rubric(bank: Bank, name: str) -> Rubric:
    return rubric_of(bank, bank.find(name))


def test_the_key_points_then_claims_of_the_sections(bank: Bank) -> None:
    points = rubric(bank, CACHE_ID).points
    assert [point.weight for point in points] == [ESSENTIAL] * 3 + [FURTHER]
    assert points[0].text == "KV cache 把每一层已经算过的 Key 和 Value 存下来，解码的每一步只需为新 token 做一次前向。"
    # The short answer is said by the first point; announcements and legends are no claims.
    assert points[-1].text.startswith("因果掩码使旧位置的隐藏状态不依赖新 token")
    assert points[1].english is not None
    assert points[1].english.quote.startswith("Its size grows")


def test_a_short_answer_that_no_point_says_is_a_point(tmp_path: Path) -> None:
    page = CACHE.replace("KV cache 存下算过的键和值。", "缓存用显存换计算，是推理服务里最先要估算的一笔账。")
    assert rubric(bank_of(tmp_path, {"cache.md": page}), CACHE_ID).points[0].text.startswith("缓存用显存换计算")


def test_a_follow_up_and_a_section_have_their_sentences_but_no_examples(bank: Bank) -> None:
    assert [point.text for point in rubric(bank, QUERY_ID).points] == [
        "旧位置的 Query 只在当时那一步使用，以后不会再被读到。",
        "缓存 Query 只会浪费显存。",
    ]
    assert [p.english.quote for p in rubric(bank, QUERY_ID).points if p.english][1] == "Keeping it would waste memory."
    assert [point.text[:6] for point in rubric(bank, LORA_ID).points] == ["LoRA 冻", "优化器状态只", "合并之后推理"]


def test_mistakes_are_the_wrong_claim_and_its_correction(bank: Bank) -> None:
    first, second = rubric(bank, CACHE_ID).mistakes
    assert first.wrong.quote == "KV cache 可以减少 prefill 的计算量。"
    assert first.right.quote == "prefill 要算完整的前向，省下的是解码时的重算。"
    assert second.wrong.quote == "GQA 能让显存减少 15%"
    source = bank.pages["cache.md"].source
    for one in (first.wrong, first.right, second.wrong, second.right):
        assert source[one.start : one.end] == one.quote


def test_the_front_matter_corrects_the_points(tmp_path: Path) -> None:
    said = "每个 token 的缓存等于两倍的层数、头数、头维度与字节数之积"
    page = CACHE.replace("tags:", f"rubric:\n  - {said}\n  - 缓存 Query 只会浪费显存。\ntags:", 1)
    found = bank_of(tmp_path, {"cache.md": page})
    points = rubric(found, CACHE_ID).points
    assert [point.text for point in points] == [said, "缓存 Query 只会浪费显存。"]
    source = found.pages["cache.md"].source
    assert all(source[p.citation.start : p.citation.end] == p.text for p in points)
    assert points[0].citation.section[-1] == "大小公式"
    assert source[: points[0].citation.start].count("\n---\n") == 1, "not the place in the front matter"


def test_a_point_that_is_no_text_is_refused(tmp_path: Path) -> None:
    page = CACHE.replace("tags:", "rubric:\n  - 优点: 快\ntags:", 1)
    with pytest.raises(UsageError, match=r"cache\.md"):
        rubric(bank_of(tmp_path, {"cache.md": page}), CACHE_ID)


def test_a_point_that_the_page_does_not_say_is_named(tmp_path: Path) -> None:
    page = CACHE.replace("tags:", "rubric:\n  - 缓存能让模型更聪明。\ntags:", 1)
    with pytest.raises(UsageError, match=r"cache\.md.*缓存能让模型更聪明"):
        rubric(bank_of(tmp_path, {"cache.md": page}), CACHE_ID)
