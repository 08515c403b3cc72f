"""Below an answer: more of its page, its code, its mistakes, where it has them and did not just give them."""

from rag.language.messages import Intent
from rag.types import Answer, AnswerKind, Citation, Refusal, RefusalReason
from rag.ui.chat.follow_ups import offers
from rag.ui.chat.messages import messages
from rag.ui.markdown import OPEN
from rag.ui.session.session import Session, State
from tests.source_pages import source_page

CODE = "import torch\n"
PAGE = (
    f"# 秩？\n\n## 展开\n\n秩从 8 试起。\n\n## 代码\n\n```python\n{CODE}```\n\n## 常见错误\n\n- **误解**：越大越好。\n"
)


def answer(question: str, *quotes: str) -> Answer:
    cited = tuple(Citation(n, "a.md", "秩？", 0, len(quote), quote) for n, quote in enumerate(quotes, start=1))
    return Answer(question, (), "…", "extractive", citations=cited)


def test_what_the_page_has_is_offered_in_the_language_of_the_question() -> None:
    assert offers(answer("秩怎么选", "秩从 8 试起。"), lambda _: source_page(PAGE), None) == (
        "展开讲讲",
        "给我代码看看",
        "有哪些常见错误？",
    )
    english = offers(answer("how to choose the rank", "秩从 8 试起。"), lambda _: source_page(PAGE), None)
    assert english == ("Go into more detail", "Show me the code", "What are common mistakes?")


def test_what_was_just_given_is_not_offered() -> None:
    assert offers(answer("秩怎么选", CODE), lambda _: source_page(PAGE), Intent.MISTAKES) == ("展开讲讲",)


def test_a_page_without_code_or_mistakes_offers_none() -> None:
    assert offers(answer("秩怎么选", "秩从 8 试起。"), lambda _: source_page("# 秩？\n\n秩从 8 试起。\n"), None) == ()


def test_nothing_is_offered_after_a_refusal_a_pointer_or_without_the_source() -> None:
    cited = answer("秩怎么选", "秩从 8 试起。")
    refused = Answer(
        "秩", (), "", "extractive", refusal=Refusal(RefusalReason.NOTHING_RELEVANT, (), ()), kind=AnswerKind.REFUSAL
    )
    assert offers(refused, lambda _: source_page(PAGE), None) == ()
    assert offers(cited, lambda _: None, None) == ()


def test_what_is_offered_reads_as_the_page_does_and_is_never_html() -> None:
    """Its code is code and its formula is drawn by the browser; our own brackets in it make no link."""
    session = Session()
    exchange = session.begin("秩怎么选", parent=None)
    exchange.state, exchange.answer = State.DONE, answer("秩怎么选", "秩从 8 试起。")
    exchange.follow_ups = ("怎么选 $\\gamma$？", "直接拿 `[CLS]` 行吗？", f"<img src=x>{OPEN}1 是什么？")
    html = messages(session)[-1]["content"]
    assert '<span class="formula">$\\gamma$</span>' in html
    assert "<code>[CLS]</code>" in html
    assert "&lt;img src=x&gt;1 是什么？" in html
    assert OPEN not in html.split("follow-ups")[1]
