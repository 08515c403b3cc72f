"""The practice room: its components, and the handlers of their events. practice.js sends the reader's actions as events
of the view."""

from typing import Any

import gradio as gr

from rag.answer.assistant import Assistant
from rag.ui.assets import read_asset
from rag.ui.practice.handlers import PracticeComponents, PracticeHandlers
from rag.ui.session.part import AT_ONCE, EACH, Overlays, PagePart, in_turn

# Beside the session goes what practice.js, which may not run yet, sends when the address has changed. `saved` lends its
# place.
OPENING = """(session) => [session, {
  action: "place",
  rest: /^#room-practice\\/(.*)/.exec(location.hash)?.[1] ?? "",
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
}]"""
# Of the room, as one script.
SCRIPTS = ("browser/packing.js", "practice/practice.js", "practice/places.js")
# Only the latest text in a filter matters.
LAST = AT_ONCE | {"trigger_mode": "always_last"}
# Grading uses this machine's cores, or mostly waits for a chat model.
GRADING = in_turn("grading", 2)


def build_practice(assistant: Assistant, session: gr.State, overlays: Overlays, tab: gr.Tab) -> PagePart:
    """Build the practice room over an assistant's index, in its tab."""
    with gr.Column(elem_classes="room", elem_id="practice"):
        parts = PracticeComponents(
            tab=tab,
            navigation=_html("navigation"),
            notice=_html("told"),
            shell=_html("view", js_on_load="".join(map(read_asset, SCRIPTS))),
            saved=_html("saved"),
            part=_html("part"),
            whole=overlays.whole,
            parcel=overlays.parcel,
        )
    handlers = PracticeHandlers(assistant, parts)
    tab.select(handlers.open, [session, parts.saved], parts.view, js=OPENING, **AT_ONCE)
    parts.shell.select(handlers.act, session, parts.view, **EACH)
    parts.shell.edit(handlers.act, session, parts.view, **LAST)
    parts.shell.input(handlers.keep, session, parts.saved, **EACH)
    parts.shell.submit(handlers.grade, session, parts.view, **GRADING)
    parts.shell.upload(handlers.restore, session, parts.view, **GRADING)
    parts.shell.expand(handlers.source, session, [parts.whole, parts.notice], **EACH)
    parts.shell.download(handlers.give, session, [parts.parcel, parts.notice], **EACH)
    return PagePart((tab, *parts.view), handlers.speak, handlers.prepare)


def _html(name: str, **options: Any) -> gr.HTML:
    """A component without Gradio's styles for text, which would affect buttons and lists."""
    return gr.HTML(elem_id=f"practice-{name}", apply_default_css=False, **options)
