"""The figure that is asked for opens a section that holds it."""

from collections.abc import Sequence

from rag.answer.quoted.opening import answer_first
from rag.answer.quoted.paragraphs import paragraphs
from rag.answer.quoted.sections import Section
from rag.text.mapped import MappedText
from rag.text.markdown import parse
from rag.text.page import PageSection
from rag.types import Passage

HOW_MUCH = "块大小默认多少"


def of_sentences(text: str, scores: Sequence[float], question: str = HOW_MUCH) -> list[str]:
    """The texts of a section whose sentences answer so well, as it opens."""
    under = PageSection.under(("块大小",))
    blocks = parse(text)
    sections = (under,) * len(blocks)
    passage = Passage(0, "a.md", "块", ("块大小",), MappedText.copied(text, 0), blocks=blocks, sections=sections)
    of_passage, score = tuple(paragraphs(passage)), iter(scores)
    answering = tuple(tuple(next(score) for _ in paragraph.units) for paragraph in of_passage)
    return answer_first(Section("块", under, of_passage, answering=answering), question).texts


def test_the_figure_that_is_asked_for_opens() -> None:
    text = "块由引擎分配。默认每块 16 个词。块小则浪费少。"
    scores = (0.80, 0.79, 0.7)
    assert of_sentences(text, scores) == ["默认每块 16 个词。", "块由引擎分配。", "块小则浪费少。"]
    assert of_sentences(text, scores, "块由谁分配")[0] == "块由引擎分配。"
    assert of_sentences(text, (0.80, 0.70, 0.7))[0] == "块由引擎分配。"  # a figure of something else
    # Numbers in names are no figures.
    assert of_sentences(text.replace("16", "GPT-4"), scores)[0] == "块由引擎分配。"
    # The best of several figures; where the section opens with one, that stays.
    assert of_sentences("块由引擎分配。共 9 块。每块 16 个词。", (0.8, 0.8, 0.9))[0] == "每块 16 个词。"
    assert of_sentences("共 9 块。每块 16 个词。", (0.8, 0.9))[0] == "共 9 块。"


def test_a_figure_stays_where_its_sentence_leans_or_is_leant_on() -> None:
    scores = (0.8, 0.9, 0.7)
    assert of_sentences("块由引擎分配。它因此是 16 个词。块小则浪费少。", scores)[0] == "块由引擎分配。"
    assert of_sentences("块由引擎分配。默认 16 个词。它不用调。", scores)[0] == "块由引擎分配。"
    # Nor is it taken from before a paragraph that leans on it, or a table.
    assert of_sentences("块由引擎分配。默认 16 个词。\n\n它不用调。", scores)[0] == "块由引擎分配。"
    assert of_sentences("块由引擎分配。默认 16 个词。\n\n|甲|\n|-|\n|1|", scores)[0] == "块由引擎分配。"
    assert of_sentences("块由引擎分配。默认 16 个词。\n\n块小则浪费少。", scores)[0] == "默认 16 个词。"
