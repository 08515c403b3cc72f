"""The library: lists the documents, adds, removes and shows them, and updates the index.

This module builds its components and connects their events.
"""

import gradio as gr

from ingest.library import Library
from rag.answer.assistant import Assistant
from rag.ui.assets import read_asset
from rag.ui.elements import introduction
from rag.ui.library.handlers import ALL, LibraryComponents, LibraryHandlers, limits
from rag.ui.library.review import build_review
from rag.ui.session.part import AT_ONCE, QUEUED, Overlays, PagePart
from rag.ui.texts import LIBRARY_TEXTS, Language, Texts

# Seconds between checks of a run under way.
LOOK_SECONDS = 0.7
TELLING = QUEUED | {"trigger_mode": "multiple"}


def build_library(
    assistant: Assistant, library: Library, session: gr.State, overlays: Overlays, tab: gr.Tab, first: Language
) -> list[PagePart]:
    """The library over an assistant's index, in its tab; `library` holds the documents that readers add."""
    parts = _components(library, overlays, tab, LIBRARY_TEXTS[first])
    handlers = LibraryHandlers(assistant, library, parts)
    _wire(parts, handlers, session)
    return [PagePart(parts.with_texts, handlers.speak), build_review(assistant, session, tab, first)]


def _components(library: Library, overlays: Overlays, tab: gr.Tab, texts: Texts) -> LibraryComponents:
    may_change = library.may_change
    with gr.Column(elem_classes="room"):
        head = gr.HTML(introduction(texts.heading, ""))
        with gr.Row(visible=may_change):
            files = gr.File(
                file_count="multiple", label=texts.add_files, height=130, elem_id="library-files"
            )  # without `file_types`: files of other types are refused in the reader's language
        with gr.Row():
            replace = gr.Checkbox(label=texts.replace, container=False, elem_id="library-replace", visible=may_change)
            overlays.auto_update.render()  # type: ignore[no-untyped-call]
            overlays.updates.render()  # type: ignore[no-untyped-call]
            refresh = gr.Button(
                texts.refresh, elem_id="library-refresh", size="sm", scale=0, min_width=180, visible=may_change
            )
        notice = gr.HTML(limits(library, texts))
        run = gr.HTML(elem_id="library-run")
        undo = gr.HTML(elem_id="library-told")
        with gr.Row(elem_id="library-filter"):
            words = gr.Textbox(label=texts.search, placeholder=texts.search_hint, elem_id="library-search", scale=3)
            kind = gr.Dropdown([(texts.all_kinds, ALL)], value=ALL, label=texts.kind)
            topic = gr.Dropdown([(texts.all_topics, ALL)], value=ALL, label=texts.topic)
        listing = gr.HTML(elem_id="library-list", js_on_load=read_asset("library/library.js"))
    return LibraryComponents(
        tab=tab,
        heading=head,
        files=files,
        replace=replace,
        refresh=refresh,
        limits=notice,
        run=run,
        notice=undo,
        words=words,
        kind=kind,
        topic=topic,
        listing=listing,
        clock=gr.Timer(LOOK_SECONDS, active=False),
    )


def _wire(parts: LibraryComponents, handlers: LibraryHandlers, session: gr.State) -> None:
    """library.js sends the reader's actions as events of the list."""
    filtered = [session, *parts.filters]
    # Words that a reader types while the room opens are searched once it is open.
    opened = parts.tab.select(handlers.open, filtered, parts.view, **AT_ONCE)
    opened.then(handlers.render_list, filtered, parts.listing, **AT_ONCE)
    parts.clock.tick(handlers.look, filtered, parts.view, **AT_ONCE)
    changes = [parts.words.change, parts.kind.change, parts.topic.change]
    gr.on(changes, handlers.render_list, filtered, parts.listing, trigger_mode="always_last", **AT_ONCE)

    run = [parts.run, parts.clock]
    parts.files.upload(handlers.add, [session, parts.files, parts.replace], [parts.files, *run], **TELLING)
    parts.refresh.click(handlers.read_all, session, run, **AT_ONCE)
    parts.listing.select(handlers.act, filtered, [parts.listing, parts.notice, *run], **AT_ONCE)
    parts.listing.submit(handlers.refuse, session, **TELLING)
