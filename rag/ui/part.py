"""What the page asks of each of its tabs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.ui.session.session import Session

Updates = tuple[Any, ...]
# For what takes no time: it waits behind no answer and shows no progress.
AT_ONCE: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
# What is done comes one after the other, and nothing is dropped while the last one is on its way.
EACH = AT_ONCE | {"trigger_mode": "multiple"}


@dataclass(frozen=True, slots=True)
class Overlays:
    """What is of no single room: a source over the page, a file on its way to the reader's disk, and the switch of the
    automatic updates with what the last one found. These stand in the library; the chat tells of one under way."""

    whole: gr.HTML
    parcel: gr.HTML
    auto_update: gr.Checkbox
    updates: gr.HTML


@dataclass(frozen=True, slots=True)
class Part:
    """The components whose words depend on the reader's language, and their updates, in the same order. `prepare` does
    what the first visit would wait for, once a page has greeted its reader. `settled` are the components that
    nothing but their reader changes: what refreshes the page may come after the next change, and would undo it."""

    components: tuple[Any, ...]
    speak: Callable[[Session], Updates]
    prepare: Callable[[], None] | None = None
    settled: tuple[Any, ...] = ()
