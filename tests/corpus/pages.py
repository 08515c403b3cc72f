"""Reads the pages of `corpus/` as Markdown, for the tests that say what a page must be.

Independent of `ingest` on purpose: these tests judge the pages, not the reader.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.paths import ROOT

CORPUS = ROOT / "corpus"
README = CORPUS / "README.md"

# Same as SafeLoader, ten times as fast where PyYAML was built with libyaml.
YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
CHINESE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", flags=re.DOTALL)
FORMULA = re.compile(r"(?<!\\)\$\$(?P<display>.+?)\$\$|(?<!\\)\$(?P<inline>[^$]+?)(?<!\\)\$", flags=re.DOTALL)


@dataclass(frozen=True, slots=True)
class Formula:
    """What stands between dollar signs, and the first line of its paragraph."""

    tex: str
    display: bool
    line: int


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced block: `line` is the line of its first line of code, counted from 1 over the whole file."""

    language: str
    code: str
    line: int
    closed: bool


@dataclass(frozen=True)
class Page:
    """One file of the corpus, read once."""

    path: Path

    @property
    def name(self) -> str:
        """Path below `corpus/`, with forward slashes: what a citation calls the document."""
        return self.path.relative_to(CORPUS).as_posix()

    @cached_property
    def source(self) -> str:
        return self.path.read_bytes().decode("utf-8")

    @cached_property
    def metadata(self) -> dict[str, object]:
        found = re.match(r"---\n(.*?)\n---\n", self.source, re.DOTALL)
        return dict(yaml.load(found[1], YAML_LOADER)) if found else {}

    @cached_property
    def first_line(self) -> int:
        """How many lines the front matter takes, its rules included."""
        return self.source.split("\n---\n", 1)[0].count("\n") + 2

    @cached_property
    def tokens(self) -> list[Token]:
        body = "\n".join(self.source.split("\n")[self.first_line :])
        return MarkdownIt("commonmark").enable("table").parse(body)

    def line_of(self, token: Token) -> int:
        return self.first_line + 1 + (token.map[0] if token.map else 0)

    @cached_property
    def headings(self) -> list[tuple[int, str, int]]:
        """(level, text, index of its opening token) of every heading."""
        return [
            (int(token.tag[1]), self.tokens[index + 1].content, index)
            for index, token in enumerate(self.tokens)
            if token.type == "heading_open"
        ]

    @cached_property
    def paragraphs(self) -> list[tuple[str, int]]:
        """(text with its inline markup, line) of every paragraph, list item, table cell and heading."""
        return [(token.content, self.line_of(token)) for token in self.tokens if token.type == "inline"]

    @cached_property
    def code_blocks(self) -> list[CodeBlock]:
        lines = self.source.split("\n")
        blocks = []
        for token in self.tokens:
            if token.type == "fence":
                assert token.map is not None
                last_line = lines[self.first_line + token.map[1] - 1].strip()
                closed = token.map[1] - token.map[0] >= 2 and last_line == token.markup
                blocks.append(CodeBlock(token.info.strip(), token.content, self.line_of(token) + 1, closed))
        return blocks

    def formulas(self) -> Iterator[Formula]:
        for text, line in self.paragraphs:
            for match in FORMULA.finditer(without_code(text)):
                display = match["display"]
                yield Formula(display or match["inline"], display is not None, line)

    def __str__(self) -> str:
        return self.name


def without_code(text: str) -> str:
    """The text without its inline code, whose dollar signs and brackets mean nothing."""
    return CODE_SPAN.sub(" ", text)


def load_pages() -> list[Page]:
    """Every page below `corpus/`, sorted; the README is about pages and is none."""
    return [Page(path) for path in sorted(CORPUS.rglob("*.md")) if path != README]


PAGES = load_pages()
