"""The highlighted quote is the citation's slice, and nothing from a document becomes HTML."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.text.mapped import MappedText
from rag.types import Citation, Passage
from rag.ui.chat.sources import render_excerpts, render_nearby, render_panel
from rag.ui.session.excerpts import (
    CONTEXT,
    REACH,
    Excerpt,
    Nearby,
    make_excerpts,
)
from rag.ui.texts import TEXTS, Language
from tests.source_pages import source_page

TEXT = TEXTS[Language.ZH]
NASTY = '<script>alert(1)</script><img src=x onerror="alert(2)">\n{{constructor}} ${1+1} `\\u0041` & "quote"\r\nend'


class Page(HTMLParser):
    """What a browser would see: the tags, and the text of the marks by marker."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.quotes: dict[int, str] = {}
        self.text = ""
        self._open: list[int] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.add(tag)
        if values.get("id"):
            self.ids.append(values["id"] or "")
        if tag == "mark":
            self._open = [int(number) for number in (values["data-cites"] or "").split()]

    def handle_endtag(self, tag: str) -> None:
        if tag == "mark":
            self._open = []

    def handle_data(self, data: str) -> None:
        self.text += data
        for marker in self._open:
            self.quotes[marker] = self.quotes.get(marker, "") + data


def citation(marker: int, source: str, start: int, end: int, *, document: str = "a.md") -> Citation:
    return Citation(marker, document, "Title", start, end, source[start:end], section=("Title", "Part"))


def excerpts_of(source: str, *citations: Citation) -> tuple[Excerpt, ...]:
    return make_excerpts(citations, lambda document: source_page(source))


def test_quote_is_highlighted_inside_its_surroundings() -> None:
    source = "before\n" + "The quoted sentence." + "\nafter"
    page = Page(render_excerpts(excerpts_of(source, citation(1, source, 7, 27)), TEXT, turn=3))
    assert page.quotes == {1: "The quoted sentence."}
    assert page.ids == ["cite-3-1"]
    assert source in page.text


def test_document_text_is_escaped() -> None:
    start, end = NASTY.index("<img"), NASTY.index("{{")
    html = render_excerpts(excerpts_of(NASTY, citation(1, NASTY, start, end)), TEXT, turn=1)
    page = Page(html)
    assert page.tags <= {"article", "h3", "p", "div", "i", "mark", "button", "span", "code", "b"}
    assert page.quotes[1] == NASTY[start:end]
    assert NASTY in page.text
    assert "\r" not in html  # a parser would make it a line feed


def test_titles_paths_questions_and_snippets_are_escaped() -> None:
    passage = Passage(0, NASTY, NASTY, (NASTY,), MappedText.copied(NASTY, 0))
    nearby = render_nearby([Nearby.of(passage, source_page(NASTY).outline)], NASTY, TEXT)
    html = render_panel(nearby, TEXT, turn=1, question=NASTY)
    assert Page(html).tags <= {"section", "header", "h2", "button", "div", "article", "h3", "p"}


def test_far_surroundings_are_left_out() -> None:
    line = "x" * 59 + "\n"
    source = line * 40 + "The quote.\n" + line * 40
    start = source.index("The quote.")
    (excerpt,) = excerpts_of(source, citation(1, source, start, start + 10))
    text = "".join(segment.text for stretch in excerpt.stretches for segment in stretch)
    assert CONTEXT < text.index("The quote.") <= CONTEXT + REACH
    assert text.startswith("x" * 59 + "\n")  # cut at a line


def test_front_matter_is_no_surroundings() -> None:
    source = "---\ntitle: T\nreferences:\n  - Somebody\n---\n\n# T\nThe quote."
    page = Page(render_excerpts(excerpts_of(source, citation(1, source, 47, len(source))), TEXT, turn=1))
    assert "Somebody" not in page.text
    assert "# T" not in page.text  # the card says it


def test_quotes_of_one_section_share_an_excerpt_and_sections_do_not() -> None:
    source = "one. two. three."
    first, second = citation(1, source, 0, 4), citation(2, source, 5, 9)
    assert len(excerpts_of(source, first, second)) == 1
    elsewhere = [replace(c, section=(str(c.marker),)) for c in (first, second)]
    apart = make_excerpts(elsewhere, lambda document: source_page(source))
    assert [excerpt.markers for excerpt in apart] == [[1], [2]]


def test_a_source_that_changed_shows_the_quote_alone() -> None:
    old = "The old text of the document."
    (excerpt,) = make_excerpts([citation(1, old, 4, 12)], lambda document: source_page("Something else."))
    page = Page(render_excerpts([excerpt], TEXT, turn=1))
    assert page.quotes == {1: "old text"}
    assert TEXT.sources_changed in page.text
    (gone,) = make_excerpts([citation(1, old, 4, 12)], lambda document: None)
    assert not gone.whole


@pytest.mark.parametrize("language", Language)
def test_a_page_is_named_in_the_readers_language(language: Language) -> None:
    source = "The quote."
    cited = [Citation(1, "a.pdf", "Title", 0, 10, source, 3)]
    html = render_excerpts(make_excerpts(cited, lambda document: source_page(source)), TEXTS[language], turn=1)
    assert f'<p class="path"><span class="readable">{TEXTS[language].page.format(number=3)}</span></p>' in html


def test_english_readers_see_english_titles_and_paths() -> None:
    """What has no English name is left out, and where a page has no English it is called as it calls itself."""
    page = (
        "# 什么是 LoRA？\n## 要点\n低秩。\n## 展开\n### 细节\n两层。\n## 追问\n### 秩取多大？\n取 8。\n"
        "## English\n### What is LoRA?\nLow rank.\n### Say it\nIt is.\n### Which rank?\nEight.\n"
    )
    title = "什么是 LoRA？"
    quotes = [
        ("低秩。", ("要点",)),
        ("两层。", ("展开", "细节")),
        ("取 8。", ("追问", "秩取多大？")),
        ("Eight.", ("English", "Which rank?")),
    ]
    cited = [
        replace(
            citation(n, page, page.index(quote), page.index(quote) + len(quote)), title=title, section=(title, *path)
        )
        for n, (quote, path) in enumerate(quotes, start=1)
    ]
    paths = re.compile('class="path"><span class="readable">([^<]*)<')
    english = render_excerpts(make_excerpts(cited, lambda document: source_page(page)), TEXTS[Language.EN], turn=1)
    assert paths.findall(english) == ["Key points", "In detail", "Follow-ups › Which rank?", "Which rank?"]
    assert "What is LoRA?</h3>" in english
    # What a page answers in English alone stands behind its follow-ups, and changes none of their names.
    more = page + "### Does it merge?\nYes.\n"
    assert paths.findall(
        render_excerpts(make_excerpts(cited, lambda document: source_page(more)), TEXTS[Language.EN], turn=1)
    ) == paths.findall(english)
    chinese = render_excerpts(make_excerpts(cited, lambda document: source_page(page)), TEXT, turn=1)
    assert paths.findall(chinese) == ["要点", "展开 › 细节", "追问 › 秩取多大？", "Which rank?"]
    alone = render_excerpts(
        make_excerpts(cited[:1], lambda document: source_page(page[: page.index("## English")])),
        TEXTS[Language.EN],
        turn=1,
    )
    assert paths.findall(alone) == ["要点"]
    assert "什么是 LoRA？</h3>" in alone


def test_what_is_near_is_named_in_the_readers_language() -> None:
    page = "# 什么是 LoRA？\n## 要点\n低秩。\n## English\n### What is LoRA?\nLow rank.\n"
    passage = Passage(1, "a.md", "什么是 LoRA？", ("什么是 LoRA？", "要点"), MappedText.copied("低秩。", 0))
    chinese, english = (
        render_nearby([Nearby.of(passage, source_page(page).outline)], "", TEXTS[language]) for language in Language
    )
    assert "什么是 LoRA？</h3>" in chinese
    assert "What is LoRA?</h3>" in english
    assert "Key points</span></p>" in english


def test_a_document_is_one_card_and_has_its_title_once() -> None:
    source = "# Title\n\n## Part\nOne.\n\n## Other\n- Two.\n\n## English\n\n### A title\nThree.\n"
    places = [("One.", ("Title", "Part")), ("Two.", ("Title", "Other")), ("Three.", ("Title", "English", "A title"))]
    cited = [
        Citation(n, "a.md", "Title", source.index(quote), source.index(quote) + len(quote), quote, section=section)
        for n, (quote, section) in enumerate(places, start=1)
    ]
    excerpts = make_excerpts(cited, lambda document: source_page(source))
    chinese, english = (render_excerpts(excerpts, TEXTS[language], turn=1) for language in Language)
    assert [html.count("<article") for html in (chinese, english)] == [1, 1]
    assert "Title</h3>" in chinese
    assert "A title</h3>" in english
    assert '<p class="path"><span class="readable">Other</span></p>' in english
    assert '<span class="bullet">- </span>' in english
    assert not any("# " in part.text for excerpt in excerpts for part in excerpt.stretches[0][:1])


@pytest.mark.parametrize("turns", [(1, 2)])
def test_ids_of_repeated_questions_do_not_collide(turns: tuple[int, int]) -> None:
    source = "same text"
    pages = [Page(render_excerpts(excerpts_of(source, citation(1, source, 0, 4)), TEXT, turn=turn)) for turn in turns]
    assert not set(pages[0].ids) & set(pages[1].ids)


@given(st.text(min_size=1, max_size=400), st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6))
def test_every_quote_is_exact_even_where_quotes_overlap(source: str, places: list[tuple[float, float]]) -> None:
    source = source.replace("\x00", "")
    citations: list[Citation] = []
    for a, b in places:
        start, end = sorted((int(a * len(source)), int(b * len(source))))
        if start < end:
            citations.append(citation(len(citations) + 1, source, start, end))
    page = Page(render_excerpts(excerpts_of(source, *citations), TEXT, turn=1))
    assert page.quotes == {c.marker: c.quote for c in citations}
    assert len(page.ids) == len(set(page.ids)) == len(citations)
