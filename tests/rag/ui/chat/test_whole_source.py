"""The whole source shows every quote where it stands now, and says so where it no longer stands anywhere."""

from ingest.formats.extract import PNG, Picture
from rag.types import Citation
from rag.ui.chat.whole_source import SHOWN, render_whole
from rag.ui.texts import TEXTS, Language
from tests.rag.ui.chat.test_sources import NASTY, Page

ZH = TEXTS[Language.ZH]


def cite(marker: int, source: str, quote: str, page: int | None = None) -> Citation:
    start = source.index(quote)
    return Citation(marker, "a.pdf", "Title", start, start + len(quote), quote, page)


def test_every_quote_of_the_answer_is_marked() -> None:
    source = "before. First quote. between. Second quote. after."
    citations = [cite(1, source, "First quote."), cite(2, source, "Second quote.")]
    page = Page(render_whole(citations, citations[1], source, (), ZH))
    assert page.quotes == {1: "First quote.", 2: "Second quote."}
    assert source in page.text


def test_pages_are_numbered_and_a_quote_may_go_on_on_the_next() -> None:
    source = "page one ends here and page two begins"
    quote = "ends here and page"
    citation = cite(1, source, quote, page=1)
    html = render_whole([citation], citation, source, (0, source.index("and")), ZH)
    assert Page(html).quotes == {1: quote}
    assert [ZH.page.format(number=number) in html for number in (1, 2, 3)] == [True, True, False]
    assert html.index(ZH.page.format(number=2)) > html.index("ends here")


def test_a_document_runs_nothing() -> None:
    citation = Citation(1, NASTY, NASTY, 0, len(NASTY), NASTY)
    page = Page(render_whole([citation], citation, NASTY, (), ZH))
    assert page.tags <= {"section", "header", "div", "h2", "p", "button", "mark", "span", "code", "b"}
    assert page.quotes[1] == NASTY


def test_a_quote_that_has_moved_is_found_again() -> None:
    citation = cite(1, "The quote.", "The quote.")
    page = Page(render_whole([citation], citation, "New words. The quote. End.", (), ZH))
    assert page.quotes == {1: "The quote."}
    assert ZH.whole_gone not in page.text


def test_a_quote_that_is_gone_is_shown_alone() -> None:
    citation = cite(1, "The quote.", "The quote.")
    for source in (None, "Other words.", "The quote? The quote.The quote."):
        text = Page(render_whole([citation], citation, source, (), ZH)).text
        assert "The quote." in text
        assert (ZH.whole_gone in text) == (source is None or source.count("The quote.") != 1)


def test_of_a_long_source_the_part_around_the_quote_is_shown() -> None:
    source = "a" * SHOWN + "The quote." + "b" * SHOWN
    citation = cite(1, source, "The quote.")
    page = Page(render_whole([citation], citation, source, (), ZH))
    assert ZH.whole_cut in page.text
    assert page.quotes == {1: "The quote."}
    assert len(page.text) < SHOWN + 1_000


def test_the_picture_of_a_page_stands_above_its_text_and_takes_nothing_from_the_quote() -> None:
    source = "before. The quote."
    citation = cite(1, source, "The quote.", page=1)
    drawn = Picture(PNG + b"<", 12, 17, ((1.0, 2.0, 30.0, 4.0),))
    html = render_whole([citation], citation, source, (0,), ZH, picture=drawn)
    assert html.index("data:image/png;base64,") < html.index("before.")
    assert 'style="left:1.0%;top:2.0%;width:30.0%;height:4.0%"' in html
    assert Page(html).quotes == {1: "The quote."}
