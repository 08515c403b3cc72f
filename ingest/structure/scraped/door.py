"""Which Markdown is scraped, so that no other is repaired; texts without markup always are.

Saved pages (.html) are scraped; documents of other formats are if they have traces that nobody
writes by hand: the frame of a page ("所有评论(12)"), formulas three times in a row, or the numbered references that a
chat leaves behind.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from ingest.structure.lines import Line
from ingest.structure.scraped.formulas import has_marked_threefold

SCRAPED_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
FRAME = re.compile(
    r"^\s*(更多推荐|相关推荐|所有评论\s*[(（]\d+[)）]|最新评论|分享到.*|阅读全文|展开全文|版权声明.*|转载请注明.*)\s*$"
)
REFERENCE = re.compile(r"[(（]\[[^\][\n]{1,60}\]\[\d+\][)）]")


def is_scraped(name: str, lines: Iterable[Line]) -> bool:
    """Whether a document is a saved page: by its format, or by what its lines outside of code show."""
    if PurePosixPath(name).suffix.lower() in SCRAPED_SUFFIXES:
        return True
    prose = [line.text for line in lines if not line.is_code]
    return any(map(FRAME.match, prose)) or any(map(REFERENCE.search, prose)) or any(map(has_marked_threefold, prose))
