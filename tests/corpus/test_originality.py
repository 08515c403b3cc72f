"""The pages answer the questions of public interview articles; they do not repeat the articles' sentences.

Needs the raw articles, which are not part of the project: INTERVIEW_RAG_SEEDS names their folder.
"""

import os
import re
from collections.abc import Iterator, Set
from functools import cache
from pathlib import Path

import pytest

from tests.corpus.pages import CHINESE, Page
from tests.corpus.violations import of_every_page

SEEDS = os.environ.get("INTERVIEW_RAG_SEEDS", "")
needs_articles = pytest.mark.skipif(not SEEDS, reason="the raw articles are not public; INTERVIEW_RAG_SEEDS names them")
# A run this long that stands in both is a copied sentence; shorter ones are terms and turns of phrase.
COPIED_CHARACTERS = 20
# A claim that a page corrects may be quoted, if marked so.
MARKED_QUOTATION = re.compile("网上常见说法：“[^”]*”")
TABLE_RULE = re.compile(r"^[\s|:-]+$")
# Commas, brackets and emphasis differ between a copy and what it was copied from.
IGNORED = re.compile(r"[\s*_`#>|\\,，、()（）\"'“”‘’「」:：-]+")
SENTENCE_END = re.compile("[。！？；;!?\n]+")
# Names of interfaces and formulas are the same everywhere; a sentence holds Chinese, and more than a character of it.
MIN_CHINESE = 6


def normalised(text: str) -> str:
    return IGNORED.sub("", text).lower()


def sentences(page: Page) -> Iterator[tuple[str, int]]:
    """(sentence, line) of the page below its title, code and its comments included."""
    for number, line in enumerate(page.source.split("\n"), 1):
        if number > page.first_line and not line.startswith("# ") and not TABLE_RULE.match(line):
            for sentence in SENTENCE_END.split(MARKED_QUOTATION.sub("\n", line)):
                yield sentence, number


def runs(text: str) -> Iterator[str]:
    """The runs of a normalised text that would be copied ones."""
    places = range(len(text) - COPIED_CHARACTERS + 1)
    return (text[start : start + COPIED_CHARACTERS] for start in places)


def telling(text: str) -> frozenset[str]:
    return frozenset(run for run in runs(text) if len(CHINESE.findall(run)) >= MIN_CHINESE)


def copied_from(sentence: str, articles: Set[str]) -> str:
    """The first run of the sentence that stands in the articles, of which these are the telling ones, or ""."""
    return next(filter(articles.__contains__, runs(normalised(sentence))), "")


def article_files() -> list[Path]:
    files = sorted(Path(SEEDS).glob("*.txt"))
    assert files, f"INTERVIEW_RAG_SEEDS names {SEEDS}, which holds no articles"
    return files


@cache
def articles() -> frozenset[str]:
    return frozenset().union(*(telling(normalised(file.read_text(encoding="utf-8-sig"))) for file in article_files()))


@needs_articles
@of_every_page
def test_no_sentence_is_copied(page: Page) -> None:
    copied = [(number, run) for sentence, number in sentences(page) if (run := copied_from(sentence, articles()))]
    assert not copied, f"stands in an article: {copied}"


@needs_articles
def test_every_article_would_be_noticed() -> None:
    """The check is awake: sentences taken from the articles themselves are found."""
    for file in article_files():
        taken = [
            sentence
            for sentence in SENTENCE_END.split(file.read_text(encoding="utf-8-sig"))
            if len(CHINESE.findall(normalised(sentence))) >= 30
        ]
        assert taken, file.name
        assert all(copied_from(sentence, articles()) for sentence in taken), file.name


@pytest.mark.parametrize(
    "sentence",
    [
        "反向传播沿计算图的逆拓扑顺序逐个节点地应用链式法则。",
        "反向传播沿计算图的逆拓扑顺序,逐个节点地应用 **链式法则**",
        "也就是说，反向传播沿计算图的逆拓扑顺序逐个节点地应用链式法则，别无其他",
    ],
)
def test_copies_are_found(sentence: str) -> None:
    article = telling(normalised("前言\n反向传播沿计算图的逆拓扑顺序逐个节点地应用链式法则。\n答案：略"))
    assert copied_from(sentence, article)


@pytest.mark.parametrize(
    "sentence",
    [
        "按逆拓扑顺序走一遍计算图，每到一个节点就用一次链式法则。",
        "torch.nn.parallel.DistributedDataParallel",
        "链式法则",
    ],
)
def test_own_words_and_names_are_not_copies(sentence: str) -> None:
    article = telling(
        normalised("反向传播沿计算图的逆拓扑顺序应用链式法则\ntorch.nn.parallel.DistributedDataParallel(model)")
    )
    assert not copied_from(sentence, article)
