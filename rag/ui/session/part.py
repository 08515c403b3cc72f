"""The page's interface to its tabs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block

from rag.ui.session.session import Session

# By component; those that are missing stay as they are.
Updates = dict[Block, Any]
# In place of an empty mapping, which Gradio refuses.
UNCHANGED: Updates = gr.skip()
# Every event: no progress of Gradio's is shown, and no program may call it. Queued, it may show the reader a message.
QUEUED: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
# For quick actions: they wait behind no answer.
AT_ONCE = QUEUED | {"queue": False}
# Actions run one after another, and none is dropped while the last one is under way.
EACH = AT_ONCE | {"trigger_mode": "multiple"}


def in_turn(name: str, at_once: int = 1) -> dict[str, Any]:
    """For long work: so many events of this name run at the same time, the others wait."""
    return QUEUED | {"concurrency_id": name, "concurrency_limit": at_once}


@dataclass(frozen=True, slots=True)
class Overlays:
    """Components shared by rooms: a source over the page, a file to save on the reader's disk, and the switch of the
    automatic updates with the last one's result. The latter stand in the library; the chat shows one under way."""

    whole: gr.HTML
    parcel: gr.HTML
    auto_update: gr.Checkbox
    updates: gr.HTML


@dataclass(frozen=True, slots=True)
class PagePart:
    """The components whose words depend on the reader's language, and their updates. `prepare` does what would delay
    the first visit, once a page has greeted its reader. `settled` are the components that only the reader changes: a
    page refresh may arrive after the next change, and would undo it."""

    components: tuple[Block, ...]
    speak: Callable[[Session], Updates]
    prepare: Callable[[], None] | None = None
    settled: tuple[Block, ...] = ()
