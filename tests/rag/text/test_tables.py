"""Rows of tables as sentences, as a reader takes them in."""

from rag.text.tables import rows_in_words


def test_each_value_is_read_with_its_name() -> None:
    assert rows_in_words("| 卡 | 月租 | 备注 |\n|:-:|---|---|\n| H20 | 6900 | |\n| L40S | 3100 | 到 9 月 |") == [
        "卡：H20；月租：6900", "卡：L40S；月租：3100；备注：到 9 月",
    ]  # fmt: skip


def test_rows_of_any_writing() -> None:
    assert rows_in_words("|a|b|\n|x \\| y|1|") == ["a：x \\| y；b：1"]  # without a rule
    assert rows_in_words("| | 量 |\n|---|---|\n| 甲 | 3 | 4 |") == ["甲；量：3"]  # an empty name, a cell too many
    assert rows_in_words("| 甲 | 乙 |\n|---|---|") == ["| 甲 | 乙 |\n|---|---|"]
