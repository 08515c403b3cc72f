"""Pages in the structure of documentation sites, editors, forums and chats: all their text, in order, and no frame.

`NAME.html` is the page, `NAME.md` its text, `NAME.left.txt` what was left out and told.
"""

from pathlib import Path

import pytest

from ingest.formats import webpage
from tests.paths import ROOT

PAGES = ROOT / "tests" / "data" / "pages"


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.html")), ids=lambda path: path.stem)
def test_a_site(path: Path) -> None:
    extract = webpage.read(path.read_bytes())
    assert extract.text == path.with_suffix(".md").read_text(encoding="utf-8")
    left_out = path.with_suffix(".left.txt").read_text(encoding="utf-8").splitlines()
    assert list(extract.removed) == left_out


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.html")), ids=lambda path: path.stem)
def test_without_the_names_of_its_designer_a_page_reads_the_same(path: Path) -> None:
    """Names of classes that carry no language, no formula and no tick are changed; roles and elements stay."""
    import re

    source = path.read_text(encoding="utf-8")
    for name in ("sidebar", "footer", "nav", "menu", "comments?", "related", "breadcrumbs?", "toc", "header"):
        source = re.sub(rf'(class="[^"]*?)\b{name}\b', r"\1zzz", source)
    assert webpage.read(source.encode()).text == path.with_suffix(".md").read_text(encoding="utf-8")
