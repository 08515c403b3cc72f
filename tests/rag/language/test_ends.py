"""Whether a text ends as a sentence, whatever stands behind its last mark."""

import pytest

from rag.language.ends import COLONS, COMMAS, ends_with, is_finished


@pytest.mark.parametrize(
    "text", ["完了。", "Done.", "真的吗？", "他说“可以。”", "（见下文；）", "**要点。** ", "「好！」"]
)
def test_a_sentence_ends(text: str) -> None:
    assert ends_with(text)


@pytest.mark.parametrize("text", ["", "。前", "要点：", "先归一化，", "f(x)", '"', "3.5"])
def test_no_sentence_ends(text: str) -> None:
    assert not ends_with(text)


def test_other_marks_count_where_they_are_named() -> None:
    assert ends_with("**分三步：**", COLONS)
    assert ends_with("先归一化，", COMMAS)
    assert not ends_with("先归一化。", COLONS + COMMAS)


def test_a_straight_quotation_mark_may_open_the_next_text() -> None:
    assert not ends_with('He said "yes."')
    assert is_finished('He said "yes."')
