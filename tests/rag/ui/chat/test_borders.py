"""An excerpt begins and ends between sentences or lines, whatever surrounds its quote."""

import re

import pytest

from rag.ui.session.excerpts import CONTEXT, REACH, border_after, border_before

PROSE = "秩 r 决定了增量的容量，任务越难需要的秩越大。低秩不等于效果差！" * 20
QUOTE = "ZeRO-3 还切分参数。"


def excerpt(source: str, quote: str = QUOTE) -> str:
    start = source.index(quote)
    end = start + len(quote)
    low, high = border_before(source, start), border_after(source, end)
    assert low <= start
    assert end <= high
    return source[low:high]


def test_prose_without_lines_is_cut_between_sentences() -> None:
    shown = excerpt(f"{PROSE}{QUOTE}{PROSE}")
    assert shown.startswith(("秩 r", "低秩"))
    assert shown.endswith(("。", "！"))
    assert len(QUOTE) + CONTEXT < len(shown) <= len(QUOTE) + 2 * (CONTEXT + REACH)


def test_latin_sentences_end_before_a_space_and_names_are_whole() -> None:
    shown = excerpt(
        "The v1.5 model of ZeRO-3 costs 1.5x. " * 30 + QUOTE + " It is 1.5x slower for Llama-3.1 models." * 30
    )
    assert shown.startswith("The v1.5")
    assert shown.rstrip().endswith("models.")


def test_words_that_never_end_are_left_out() -> None:
    assert excerpt("字" * 5_000 + "\n" + QUOTE + "\n" + "字" * 5_000).strip() == QUOTE
    assert excerpt("字" * 5_000 + QUOTE + "字" * 5_000) == QUOTE


@pytest.mark.parametrize(
    "whole",
    [
        "$8192^2\\times32\\times2 \\approx. 4$",
        "$$\n" + "a_{1} = \\sum. x \n" * 12 + "$$",
        "| 方法 | 显存 |\n| --- | --- |\n" + "| ZeRO-3。 | 1/N。 |\n" * 14,
        "`torch.nn. Linear`",
    ],
)
@pytest.mark.parametrize("distance", range(CONTEXT - 150, CONTEXT + REACH, 14))
def test_formulas_tables_and_code_are_shown_whole_or_not_at_all(whole: str, distance: int) -> None:
    gap = "\n" if "\n" in whole else " "
    filler = ("一句话。" * 100)[:distance]
    source = f"{filler}{gap}{whole}{gap}{filler}{QUOTE}{filler}{gap}{whole}{gap}{filler}"
    shown = excerpt(source)
    rest = shown.replace(whole, "").replace(whole.strip(), "")
    assert not re.search(r"[$|`]", rest), rest


def test_a_quote_within_a_table_brings_the_table() -> None:
    table = "| 方法 | 显存 |\n| --- | --- |\n| ZeRO-2 | 大 |\n| ZeRO-3 | 小 |\n"
    assert "| 方法 | 显存 |" in excerpt(f"{'字' * 900}\n\n{table}\n{'字' * 900}", "ZeRO-3 | 小")
