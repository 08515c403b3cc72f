"""Where a quote stands in a text."""

from rag.evaluation.answers.judging import locate

TEXT = "北桥是一座石桥。北桥建于 1921 年，耗时\n三年。桥下是白河。白河很浅。"


def test_a_quote_is_found_whatever_its_white_space() -> None:
    assert [TEXT[a:b] for a, b in locate(TEXT, "建于1921年，耗时三 年")] == ["建于 1921 年，耗时\n三年"]
    assert locate("白河。白河。", "白河") == [(0, 2), (3, 5)]
    assert locate(TEXT, "黑河") == []
    assert locate(TEXT, " ") == []
