"""Which pieces of a file are in none of its passages, and were not reported either."""

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.prepare import Prepared, prepare_bytes
from ingest.reading.parser_process import ParserProcess
from rag.errors import DocumentError
from rag.settings import Settings

SHORTEST_RUN = 6


@dataclass(frozen=True, slots=True)
class Compared:
    """`lost` are pieces that stand nowhere; of how many; `told` are the warnings of the run."""

    lost: tuple[str, ...]
    count: int
    told: tuple[str, ...]


def compare(
    suffix: str, data: bytes, written: Iterable[str], settings: Settings, parser: ParserProcess
) -> Compared | DocumentError:
    """Read a file as an ingest does, and look for all that stands in it."""
    try:
        prepared = prepare_bytes(0, f"file{suffix}", suffix, data, settings, parser)
    except DocumentError as error:
        return error
    return missing(list(written), prepared)


def missing(written: Sequence[str], prepared: Prepared) -> Compared:
    known = letters("\n".join(kept(prepared)))
    lost = [piece for piece in written if not _stands_in(letters(piece), known)]
    return Compared(tuple(lost), len(written), prepared.warnings)


def _stands_in(said: str, known: str) -> bool:
    """Whether a text stands in another, whole or in runs of some length: passages are cut within it."""
    while said and said not in known:
        run = bisect_left(range(1, len(said)), True, key=lambda length: said[:length] not in known)
        if run < SHORTEST_RUN:
            return False
        said = said[run:]
    return True


def kept(prepared: Prepared) -> list[str]:
    """All that can be found, and all that was reported."""
    document = prepared.document
    passages = [passage.content.text for passage in document.passages]
    headings = [name for passage in document.passages for name in passage.section]
    return [
        *passages,
        *headings,
        document.title,
        *document.tags,
        *document.asked_as,
        *prepared.removed,
        *prepared.warnings,
    ]


def letters(text: str) -> str:
    """Letters and figures alone, in their plain forms: raised, wide and joined ones are the same."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text))).casefold()
