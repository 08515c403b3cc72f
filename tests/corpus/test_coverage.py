"""corpus/README.md accounts for every question of the articles and for every page."""

import re

import pytest
import yaml

from tests.corpus.pages import CORPUS, PAGES, README

# How many questions each article poses; "Q7" of article 2 is a table that the article does not show.
QUESTIONS = {
    1: {str(number) for number in range(31, 51)},
    2: {f"Q{number}" for number in range(1, 8)} | {str(number) for number in range(1, 21)},
    3: {str(number) for number in range(1, 13)},
    4: {str(number) for number in range(1, 13)},
}
LINK = re.compile(r"\]\(([^)]+)\)")
ROW = re.compile(r"^\| *(\d) *\| *([^|]+?) *\|[^|]+\| *([^|]+?) *\|$", flags=re.MULTILINE)


def section(title: str) -> str:
    """The text of a section of the README."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found, f"corpus/README.md has no section {title!r}"
    return found[1]


def numbers(label: str) -> set[str]:
    """The questions that a row stands for: "2", "Q5" or, where an article repeats itself, "1, 12"."""
    return set(re.split(r", ?", label))


@pytest.mark.parametrize("article", QUESTIONS)
def test_every_question_has_a_page(article: int) -> None:
    rows = [(numbers(label), LINK.findall(pages)) for number, label, pages in ROW.findall(section("Coverage"))
            if int(number) == article]  # fmt: skip
    covered = [question for questions, _ in rows for question in questions]
    assert set(covered) == QUESTIONS[article]
    assert len(covered) == len(set(covered)), "a question has two rows"
    without = [questions for questions, pages in rows if not pages]
    assert not without, f"no page is named for {without}"


def test_every_link_leads_to_a_page() -> None:
    names = {page.name for page in PAGES}
    links = LINK.findall(section("Coverage") + section("Beyond the articles"))
    assert [link for link in links if link not in names] == []


def test_every_page_is_accounted_for() -> None:
    covered, beyond = (set(LINK.findall(section(title))) for title in ("Coverage", "Beyond the articles"))
    assert {page.name for page in PAGES} - covered - beyond == set(), "neither covered nor beyond the articles"
    assert covered & beyond == set(), "a page that answers an article's question is not beyond them"


def test_readme_says_how_many_pages_there_are() -> None:
    said = re.search(r"(\d+) pages", README.read_text("utf-8"))
    assert said, "the README gives the number of pages"
    assert int(said[1]) == len(PAGES)


def test_readme_is_no_page() -> None:
    """Its front matter names topics and roles and has no title, so it cannot be taken for a page."""
    front_matter = yaml.safe_load(README.read_text("utf-8").split("---")[1])
    assert set(front_matter) == {"topics", "roles"}
    assert set(front_matter["topics"]) == {folder.name for folder in CORPUS.iterdir() if folder.is_dir()}
