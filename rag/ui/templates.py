"""The HTML of the page: Jinja2 templates, each a file of macros beside the code that fills it."""

import re
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup

from rag.ui.english import path_within, place_of
from rag.ui.markdown import plain, without_private
from rag.ui.readable import prose, text_of, words

# Between tags a line break is layout; elsewhere, as between two attributes, it is a space.
BETWEEN_TAGS = re.compile(r"(?:^|(?<=[>}]))\s*\n\s*|\s*\n\s*(?=[<{]|$)")
LINE_BREAK = re.compile(r"\s*\n\s*")


class _Layout(Extension):
    """Strips a template's line breaks and indents from its HTML: Markdown would interpret them, and beside a button
    they would show."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return LINE_BREAK.sub(" ", BETWEEN_TAGS.sub("", source))


ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    auto_reload=False,
    extensions=[_Layout],
)
ENVIRONMENT.filters["plain"] = lambda text: Markup(plain(text))
# Within a message the reader's program draws the formulas.
ENVIRONMENT.filters["drawn"] = lambda text: Markup(words(" ".join(without_private(text).split())))
for _filter in (text_of, words, prose):
    ENVIRONMENT.filters[_filter.__name__] = lambda text, made=_filter: Markup(made(text))
ENVIRONMENT.filters["path_within"] = path_within
ENVIRONMENT.filters["place_of"] = place_of
ENVIRONMENT.filters["grouped"] = lambda number: f"{number:,}"


def macros_of(file: str) -> Callable[..., str]:
    """A function that calls a template's macros by name, with keyword arguments. The template escapes text, except HTML
    that it declares `safe`."""
    module = ENVIRONMENT.get_template(file).module

    def call(macro: str, /, **values: object) -> str:
        return str(getattr(module, macro)(**values))

    return call
