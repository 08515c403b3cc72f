"""Sentences are quoted one by one: none may open with what only the sentence before it explains.

The openings are those that a reading of 1,451 sentences found to dangle. Most that it finds beside first sentences go
on with a subject of their own ("所以 Muon 省掉了…"): it counts too many rather than too few.
"""

import re
from collections.abc import Iterator

from tests.corpus.pages import PAGES, Page

DANGLES = re.compile(
    "(?:因此|所以|该文|论文|报告|它|他们|两者|二者|余下|其余|其中|前者|后者|此外|另外|结论|反过来|这(?:个|些|种|样|两|三|一)?(?!页))"
)
MOST_ELSEWHERE = 0.01
NO_PROSE = re.compile(r"```.*?```|\$\$.*?\$\$", re.DOTALL)
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
LIST_MARK = re.compile(r"^(?:[-*] |\d+\. )")


def sentences(page: Page) -> Iterator[tuple[bool, str]]:
    """The Chinese sentences of a page outside of tables, and whether each is the first under its heading."""
    chinese = NO_PROSE.sub("", FRONT_MATTER.sub("", page.source)).split("\n## English")[0]
    is_first = False
    for line in chinese.splitlines():
        if line.startswith("#"):
            is_first = True
        elif line.strip() and not line.startswith("|"):
            for sentence in filter(None, re.split("(?<=[。！？])", LIST_MARK.sub("", line.strip()))):
                yield is_first, sentence.strip().replace("**", "")
                is_first = False


def test_first_sentences_do_not_dangle() -> None:
    found = [(page.name, text[:40]) for page in PAGES for is_first, text in sentences(page) if is_first]
    assert len(found) > 2_000
    assert [one for one in found if DANGLES.match(one[1])] == []


def test_few_others_do() -> None:
    others = [text for page in PAGES for is_first, text in sentences(page) if not is_first]
    assert sum(bool(DANGLES.match(text)) for text in others) <= MOST_ELSEWHERE * len(others)


def test_what_dangles_is_found() -> None:
    assert all(
        map(DANGLES.match, ("因此评估要按长度切片。", "该文建议扩展。", "两者的梯度不同。", "这种做法省下显存。"))
    )
    assert not any(map(DANGLES.match, ("QLoRA 论文比较了四种格点。", "这页讲三件事。", "奖励模型只训练一轮。")))
