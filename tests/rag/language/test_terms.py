"""Keyword terms: script, width and case folded, Latin terms whole, Chinese as bigrams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.language.terms import fold, terms


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("位置編碼", "位置编码"),
        ("顯存優化器", "显存优化器"),
        ("ＢＦ１６　ＺｅＲＯ", "bf16 zero"),
        ("Adam", "adam"),
        ("①", "1"),
    ],
)
def test_script_width_and_case_are_folded(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    "term",
    ["find_unused_parameters", "ZeRO-3", "W4A16", "C++", "C#", "BF16", "torch.compile", "A/B", "8-bit", "no_sync"],
)
def test_latin_terms_stay_whole_between_chinese(term: str) -> None:
    assert term.lower() in terms(f"请问{term}是什么，以及（{term}）。")
    assert term.lower() in terms(f"What is {term}? It is {term}.")


def test_a_compound_term_is_found_by_its_parts() -> None:
    assert terms("ZeRO-3") == ("zero-3", "zero", "3")
    assert {"find", "unused", "parameters"} < set(terms("find_unused_parameters"))
    assert {"w", "4", "a", "16"} < set(terms("W4A16"))


def test_chinese_becomes_bigrams_within_a_run() -> None:
    assert terms("旋转位置，编码") == ("旋转", "转位", "位置", "编码")
    assert terms("秩") == ("秩",)
    assert terms("顯存") == terms("显存")


def test_a_full_stop_after_a_term_is_not_part_of_it() -> None:
    assert terms("Use BF16.") == ("use", "bf16", "bf", "16")


def test_greek_letters_are_terms() -> None:
    assert terms("ε 取 1e-8") == ("ε", "取", "1e-8", "1", "e", "8")


@given(st.text(max_size=60))
def test_terms_are_never_empty_and_folding_twice_changes_nothing(text: str) -> None:
    assert all(terms(text))
    assert not any("\n" in term for term in terms(text))  # the keyword file separates terms by newlines
    assert terms(fold(text)) == terms(text)
