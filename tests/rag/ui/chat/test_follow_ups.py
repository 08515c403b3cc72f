"""Follow-ups are the questions that a cited page itself names."""

import pytest

from ingest.structure.outline import follow_ups_in
from rag.types import Answer, Citation, Refusal, RefusalReason
from rag.ui.chat.follow_ups import follow_ups, questions_after
from tests.source_pages import source_page

PAGE = """\
# LoRA

## 一句话回答
LoRA 只训练低秩增量。

## 追问
### 为什么 B 置零？
因为起点要等于原模型。为什么？
```python
### 这是注释吗？
```
### LoRA 更快吗？
快一些。

## 常见错误
### 这不是追问？
"""
ARTICLE = """\
1. 涌现是什么？
面试官想听
定义。
常见追问
Q:涌现是度量 artifact 吗?
A:不是。
反向提问
贵司业务指标如何?
2. 多头注意力的秩？
追问
Q:与卷积的等价性?
A:等价于稀疏。
"""
ENGLISH = "# A\n\n### Follow-up questions\n- Why not both?\n- A statement.\n2. What about bf16?\n### Next\n- No?\n"


@pytest.mark.parametrize(
    ("source", "position", "questions"),
    [
        (PAGE, 0, ["为什么 B 置零？", "LoRA 更快吗？"]),
        (PAGE, len(PAGE), ["为什么 B 置零？", "LoRA 更快吗？"]),
        (ARTICLE, 0, ["涌现是度量 artifact 吗?"]),
        (ARTICLE, ARTICLE.index("多头"), ["与卷积的等价性?"]),
        (ENGLISH, 0, ["Why not both?", "What about bf16?"]),
        ("# A page\n\nwhich names none. 追问 is a word here?\n", 0, []),
        ("", 0, []),
    ],
)
def test_the_section_after_a_place(source: str, position: int, questions: list[str]) -> None:
    assert [*questions_after([*follow_ups_in(source)], position)] == questions


def answer(*documents: str, refusal: Refusal | None = None) -> Answer:
    citations = tuple(Citation(number, name, name, 0, 1, "x") for number, name in enumerate(documents, start=1))
    return Answer("q", (), "", "extractive", citations=() if refusal else citations, refusal=refusal)


def test_of_every_cited_document_without_what_was_asked() -> None:
    pages = {"a.md": source_page(PAGE), "b.md": source_page(ENGLISH)}
    assert follow_ups(answer("b.md", "a.md", "b.md"), pages.get, []) == (
        "Why not both?",
        "What about bf16?",
        "为什么 B 置零？",
    )
    assert follow_ups(answer("a.md"), pages.get, ["lora更快吗"]) == ("为什么 B 置零？",)
    assert follow_ups(answer("gone.md"), pages.get, []) == ()
    assert follow_ups(answer(refusal=Refusal(RefusalReason.NOTHING_RELEVANT)), pages.get, []) == ()


TWO_LANGUAGES = """\
# 张量并行怎么切？

## 追问
### 序列并行省什么？
激活。

## English
### How does tensor parallelism split a layer?
By columns, then by rows.
### What does sequence parallelism save?
Activations.
"""


def test_an_english_question_is_offered_the_english_follow_ups() -> None:
    def offered(question: str) -> tuple[str, ...]:
        citation = Citation(1, "a.md", "A", 0, 1, "x")
        asked = Answer(question, (), "", "extractive", citations=(citation,))
        return follow_ups(asked, lambda _: source_page(TWO_LANGUAGES), [])

    assert offered("How is a layer split?") == ("What does sequence parallelism save?",)
    assert offered("张量并行怎么切") == ("序列并行省什么？",)
