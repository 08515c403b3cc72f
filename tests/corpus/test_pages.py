"""Every page has the form that corpus/README.md describes: the chatbot and its readers rely on it."""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from rag.language.terms import terms
from tests.corpus.pages import CHINESE, CORPUS, FORMULA, PAGES, Page, without_code
from tests.corpus.violations import of_every_page, told, violations

Text = Annotated[str, StringConstraints(strict=True, strip_whitespace=False, pattern=r"^\S(.*\S)?$")]

SECTIONS = re.compile("一句话回答,口述,要点,(名词,)?展开,(代码,)?追问,常见错误,English")
WHAT_IT_IS = re.compile("是什么|什么是|[Ww]hat (is|are)")
LEANS_ON_WHAT_STOOD_BEFORE = re.compile("^(它|其|这|该|此|上述|如上|前者|后者)")
SPOKEN_CHARACTERS = range(250, 451)
SPOKEN_WORDS = range(110, 221)
CANNOT_BE_READ_ALOUD = re.compile(r"[$`*#→≈×√∑²³≤≥|<>\[\]]")
# With fewer characters a line before a table or a formula only announces it.
SAYS_SOMETHING = 40
TEX_TEXT = re.compile(r"\\(text|textbf|textit|textrm|mbox)\{[^{}]*\}")
QUOTED_CLAIM = re.compile("“[^”]*”")
UNSPACED = re.compile(r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]")
HALF_WIDTH_PUNCTUATION = re.compile(r"[\u4e00-\u9fff][,;:?!]")


class FrontMatter(BaseModel):
    """What stands above a page."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[Text, StringConstraints(pattern=r"[？?]$")]
    tags: Annotated[list[Text], Field(min_length=2, max_length=6)]
    asked_as: Annotated[list[Text], Field(min_length=3, max_length=10)]
    updated: Annotated[date, Field(strict=True)]
    checked: Annotated[date, Field(strict=True)]
    checked_against: list[Text]
    references: Annotated[list[Text], Field(min_length=1)]
    rubric: list[Text] = []
    questions: dict[Text, list[Text]]

    @field_validator("tags", "asked_as", "references", "checked_against")
    @classmethod
    def no_repeats(cls, values: list[str]) -> list[str]:
        if len(set(values)) < len(values):
            raise ValueError("the same entry stands twice")
        return values

    @field_validator("asked_as")
    @classmethod
    def one_in_english(cls, values: list[str]) -> list[str]:
        if not any(_is_english(value) for value in values):
            raise ValueError("no way of asking is in English")
        return values


def _is_english(text: str) -> bool:
    return not CHINESE.search(text) and len(re.findall(r"[A-Za-z]{2,}", text)) >= 3


def test_corpus_has_pages() -> None:
    assert PAGES, f"no pages below {CORPUS}"


def test_all_that_fail_are_told() -> None:
    def check(number: int) -> None:
        assert number not in (2, 3), "wrong"

    assert violations(check, range(3)) == ["2: AssertionError: wrong\nassert 2 not in (2, 3)"]
    found = violations(lambda number: pytest.fail("bad") if number else None, [0, 1, 2], name=lambda n: f"page {n}")
    assert found == ["page 1: Failed: bad", "page 2: Failed: bad"]
    assert told(found) == "2 fail:\npage 1: Failed: bad\npage 2: Failed: bad"


@of_every_page
def test_file(page: Page) -> None:
    assert re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+\.md", page.name), "topic/english-slug.md"
    assert "\r" not in page.source, "line endings are LF"
    assert "\ufeff" not in page.source, "no byte-order mark"
    assert "\ufffd" not in page.source, "U+FFFD is what is left of a broken character"
    assert page.source.endswith("\n"), "the last line ends"
    assert not page.source.endswith("\n\n"), "no empty lines at the end"
    trailing = [number for number, line in enumerate(page.source.split("\n"), 1) if line != line.rstrip()]
    assert not trailing, f"white space at the end of lines {trailing}"


@of_every_page
def test_front_matter(page: Page) -> None:
    assert page.source.startswith("---\n")
    front_matter = FrontMatter.model_validate(page.metadata)
    assert front_matter.title not in front_matter.asked_as, "asked_as lists other ways to ask"


def test_titles_and_ways_of_asking_are_unique() -> None:
    """One question has one page: two pages that claim the same question would compete for it."""
    titles = Counter(page.metadata.get("title") for page in PAGES)
    assert [title for title, count in titles.items() if count > 1] == []
    asked: Counter[object] = Counter()
    for page in PAGES:
        ways = page.metadata.get("asked_as")
        asked.update(ways if isinstance(ways, list) else [])
    assert [question for question, count in asked.items() if count > 1] == []


@of_every_page
def test_title_is_the_only_first_heading(page: Page) -> None:
    firsts = [text for level, text, _ in page.headings if level == 1]
    assert firsts == [page.metadata["title"]]
    assert page.headings[0][0] == 1, "the title comes first"


@of_every_page
def test_short_answer_is_short(page: Page) -> None:
    """At most 120 characters of plain words, in whole sentences that answer the title."""
    (answer,) = _texts(page, "一句话回答")
    assert len(answer) <= 120, f"{len(answer)} characters"
    assert answer.endswith("。")
    assert "$" not in answer, "formulas belong in the points"
    assert not LEANS_ON_WHAT_STOOD_BEFORE.search(answer)


@of_every_page
def test_spoken_answer_can_be_said(page: Page) -> None:
    """Paragraphs of whole sentences that take a minute or two, without a sign that cannot be read aloud."""
    spoken, in_english = _texts(page, "口述"), _texts(page, "Say it")
    assert 1 <= len(spoken) <= 2
    assert len("".join("".join(spoken).split())) in SPOKEN_CHARACTERS
    assert len(" ".join(in_english).split()) in SPOKEN_WORDS
    signs = [sign for text in (*spoken, *in_english) for sign in CANNOT_BE_READ_ALOUD.findall(text)]
    assert not signs, f"these cannot be read aloud: {signs}"
    assert all(text.endswith(("。", "？")) for text in spoken)
    assert not CHINESE.search("".join(in_english))


@of_every_page
def test_points_stand_alone(page: Page) -> None:
    points = _texts(page, "要点")
    assert 3 <= len(points) <= 5
    assert all(point.endswith("。") for point in points)
    leaning = [point for point in points if LEANS_ON_WHAT_STOOD_BEFORE.search(point)]
    assert not leaning, f"these do not name their subject: {leaning}"


@of_every_page
def test_english_block(page: Page) -> None:
    """The title with its short answer and points, the spoken answer, the follow-ups, then what parts of it answer."""
    title, spoken, *others = _subsections(page, "English")
    assert spoken == "Say it"
    follow_ups = others[: len(_subsections(page, "追问"))]
    assert len(follow_ups) == len(_subsections(page, "追问")), follow_ups
    questions = [title, *follow_ups]
    assert all(question.endswith("?") for question in questions), questions
    short, *points = _texts(page, questions[0])
    assert len(short.split()) <= 45, f"{len(short.split())} words"
    assert 3 <= len(points) <= 5
    parts = (title, *others, *_subsections(page, "Terms"))
    chinese = [text for asked in parts for text in (asked, *_texts(page, asked)) if CHINESE.search(text)]
    assert not chinese


@of_every_page
def test_sections(page: Page) -> None:
    sections = [text for level, text, _ in page.headings if level == 2]
    assert SECTIONS.fullmatch(",".join(sections)), sections
    deepest = [text for level, text, _ in page.headings if level > 3]
    assert deepest == _subsections(page, "Terms"), "no headings below the third level but those of English terms"
    for (level, text, index), following in zip(page.headings, [*page.headings[1:], None], strict=True):
        end = following[2] if following else len(page.tokens)
        holds_subsections = following is not None and following[0] > level
        assert end > index + 3 or holds_subsections, f"nothing stands under {text!r}"


@of_every_page
def test_sections_open_with_more_than_an_announcement(page: Page) -> None:
    """A reader judges an answer by its first paragraph."""
    empty = []
    for place, (level, text, index) in enumerate(page.headings):
        above = [name for depth, name, _ in page.headings[:place] if depth == 2][-1:]
        if level == 3 and above in (["展开"], ["追问"]):
            opens, said = page.tokens[index + 3], page.tokens[index + 4].content
            if opens.type != "paragraph_open" or (said.endswith("：") and len(said) < SAYS_SOMETHING):
                empty.append(f"{text}: {said[:30]}")
    assert not empty, f"these open with a block or only announce one: {empty}"


@of_every_page
def test_terms_are_defined_by_name(page: Page) -> None:
    for asked in (*_subsections(page, "名词"), *_subsections(page, "Terms")):
        assert WHAT_IT_IS.search(asked), asked
        defined = re.split("[。.] ?", _texts(page, asked)[0])[0]
        assert set(terms(WHAT_IT_IS.sub(" ", asked))) & set(terms(defined)), f"{asked}: {defined}"


@of_every_page
def test_follow_ups(page: Page) -> None:
    questions = _subsections(page, "追问")
    assert 3 <= len(questions) <= 6, questions
    assert all(question.endswith(("？", "?")) for question in questions), questions
    assert len(set(questions)) == len(questions), "the same follow-up stands twice"


@of_every_page
def test_common_mistakes_say_what_is_right(page: Page) -> None:
    items = _texts(page, "常见错误")
    assert len(items) >= 2, "a list of at least two mistakes"
    silent = [item[:40] for item in items if "**正确**" not in item]
    assert not silent, f"these say nothing after **正确**：{silent}"


@of_every_page
def test_code_blocks(page: Page) -> None:
    for block in page.code_blocks:
        assert block.closed, f"line {block.line}: the fence is not closed"
        assert re.fullmatch(r"[a-z+]+", block.language), f"line {block.line}: the fence names no language"
        assert block.code.strip(), f"line {block.line}: an empty fence"
    indented = [page.line_of(token) for token in page.tokens if token.type == "code_block"]
    assert not indented, f"code by indentation at lines {indented}: use a fence"


@of_every_page
def test_links_resolve(page: Page) -> None:
    for token in _inline_tokens(page):
        if token == "image":
            pytest.fail("pictures are not allowed: a remote one tells its server who reads")
    for href, line in _links(page):
        assert not re.match(r"[a-z]+:|//|/", href), f"line {line}: {href} leaves the corpus"
        target, _, anchor = href.partition("#")
        assert not anchor, f"line {line}: {href}: link to the page, headings move"
        resolved = (page.path.parent / target).resolve()
        assert resolved.is_relative_to(CORPUS), f"line {line}: {href} leaves the corpus"
        assert resolved.is_file(), f"line {line}: {href} does not exist"
        assert resolved != page.path, f"line {line}: {href} links to its own page"


@of_every_page
def test_no_html(page: Page) -> None:
    found = [kind for kind in _inline_tokens(page) if kind == "html_inline"]
    found += [token.type for token in page.tokens if token.type == "html_block"]
    assert not found


@of_every_page
def test_formulas_are_whole(page: Page) -> None:
    """Dollar signs pair up within their paragraph or cell, and Chinese stands in \\text{} only."""
    for text, line in page.paragraphs:
        rest = FORMULA.sub(" ", without_code(text)).replace(r"\$", "")
        assert "$" not in rest, f"line {line}: a dollar sign without its partner in {text[:60]!r}"
    for formula in page.formulas():
        where = f"line {formula.line}: {formula.tex[:60]!r}"
        assert formula.display or "\n" not in formula.tex, f"{where} runs over the end of the line"
        assert formula.display or formula.tex == formula.tex.strip(), f"{where} has spaces inside its dollar signs"
        assert formula.tex.count("{") - formula.tex.count(r"\{") == formula.tex.count("}") - formula.tex.count(r"\}"), (
            f"{where}: unbalanced braces"
        )
        assert not CHINESE.search(TEX_TEXT.sub("", formula.tex)), f"{where}: Chinese outside \\text{{}}"
    fences = {number for block in page.code_blocks for number in _lines_of(block.line, block.code)}
    for number, source_line in enumerate(page.source.split("\n"), 1):
        if "$$" in source_line and number not in fences:
            assert source_line.strip() == "$$", f"line {number}: $$ stands on a line of its own"


@of_every_page
def test_typography(page: Page) -> None:
    """Full-width punctuation after Chinese, a space between Chinese and Latin words; quotations stay as they were."""
    for text, line in page.paragraphs:
        prose = QUOTED_CLAIM.sub("“”", FORMULA.sub(" ", without_code(text)))
        for pattern in (UNSPACED, HALF_WIDTH_PUNCTUATION):
            match = pattern.search(prose)
            assert not match, f"line {line}: …{prose[max(0, match.start() - 10) : match.end() + 10]}…"


def _subsections(page: Page, section: str) -> list[str]:
    """The headings one level below that of a section."""
    above, found = 0, []
    for level, text, _ in page.headings:
        if level <= above or not above:
            above = level if text == section else 0
        elif level == above + 1:
            found.append(text)
    return found


def _texts(page: Page, heading: str) -> list[str]:
    """The paragraphs and list items between the heading and the next one."""
    starts = [index for _, text, index in page.headings if text == heading]
    assert len(starts) == 1, f"{heading!r} stands {len(starts)} times on the page"
    ends = [index for _, _, index in page.headings if index > starts[0]]
    return [
        token.content
        for token in page.tokens[starts[0] + 3 : ends[0] if ends else len(page.tokens)]
        if token.type == "inline"
    ]


def _inline_tokens(page: Page) -> Iterable[str]:
    for token in page.tokens:
        yield from (child.type for child in token.children or [])


def _links(page: Page) -> Iterable[tuple[str, int]]:
    for token in page.tokens:
        for child in token.children or []:
            if child.type == "link_open":
                yield str(child.attrs["href"]), page.line_of(token)


def _lines_of(line: int, code: str) -> range:
    return range(line, line + code.count("\n") + 1)
