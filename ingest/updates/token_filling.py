"""Makes the tokens of passages that came with a ready vector, while readers ask, and publishes them in parts. Nobody
waits for the index meanwhile."""

import contextlib
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from ingest.sync import sync
from ingest.vectors import Computed
from rag.errors import IndexLockedError
from rag.index.generation import open_index
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.embedding import Embedder

# Passages whose tokens are published together: a minute's work on two processors; each time the whole index is
# rewritten.
AT_ONCE = 1_500
# Passages embedded together, before checking again whether to go on: a second's work.
TOGETHER = 32


def fill_tokens(
    settings: Settings,
    embedder: "Embedder",
    *,
    wait: float,
    is_wanted: Callable[[], bool],
    tell: Callable[[int, int], None],
) -> None:
    """Runs until no passage lacks tokens, or `is_wanted` is false. Calls `tell` with the number of passages filled, and
    to fill. `wait` is how many seconds to wait for another writer. Raises what `sync` does."""
    before = None
    done = 0
    while is_wanted():
        with closing(open_index(settings.index, embedder=embedder.identity)) as index:
            tokens = index.tokens
            if tokens is None or len(tokens.missing) in (0, before):
                return
            before = len(tokens.missing)
            codec = tokens.codec
            texts = [*index.storage.embedded_texts(tokens.missing[:AT_ONCE].tolist()).values()]
        computed: dict[str, Computed] = {}
        total = done + before
        for start in range(0, len(texts), TOGETHER):
            if not is_wanted():
                return
            some = texts[start : start + TOGETHER]
            for place, encoded in embedder.encode_passages([text for _, text in some]):
                computed[some[place][0]] = encoded.vector, codec.encode(encoded)
            tell(done + len(computed), total)
        while is_wanted():
            with contextlib.suppress(IndexLockedError):  # results are kept for another try
                sync(
                    settings, lambda: embedder, identity=embedder.identity, wait=wait, complete=False,
                    computed=computed,
                )  # fmt: skip
                break
        done += len(computed)
