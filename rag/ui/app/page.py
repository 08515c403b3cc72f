"""The page: its head, its tabs, and the language they speak."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from ingest.library import Library
from ingest.updates.auto_update import AutoUpdate
from rag.answer.assistant import Assistant
from rag.ui.assets import read_asset
from rag.ui.chat.tab import build_chat
from rag.ui.conversations.listing import feedback_export
from rag.ui.inspector.tab import build_inspector
from rag.ui.library.tab import build_library
from rag.ui.model_setup.part import build_model_setup
from rag.ui.model_setup.setup import ModelSetup
from rag.ui.practice.tab import build_practice
from rag.ui.preferences.handlers import take
from rag.ui.preferences.stored import KEY, to_store
from rag.ui.preferences.tab import build_preferences
from rag.ui.quality.runner import Runner
from rag.ui.quality.tab import build_quality
from rag.ui.session.part import AT_ONCE, EACH, Overlays, PagePart, Updates
from rag.ui.session.practice import Practice
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import TEXTS, Language, Texts, language_of

# Readers who may wait for an answer.
WAITING = 32
# Seconds that the server keeps uploads that did not become documents.
CACHED = 600
HTML = macros_of("app/page.html")
# Scrambles the browser's storage, which holds no secrets and must outlive the program.
SCRAMBLE = "interview-rag"
# The menu beside the question tells the settings who is to write.
CHOOSE_WRITER = "window.chooseWriter = (name) => trigger('input', { name });"


@dataclass(frozen=True, slots=True)
class Rooms:
    """What the rooms need besides the assistant. Without `auto_update` the page cannot keep the documents up to date,
    without `library` it has no room for them, without `setup` it cannot set up a chat model. `results` is the folder
    of evaluation results, `gold` the file to evaluate on, if there is one.
    """

    auto_update: AutoUpdate | None = None
    library: Library | None = None
    results: Path = Path("docs/results")
    gold: Path | None = None
    setup: ModelSetup | None = None

    @property
    def may_change(self) -> bool:
        """Whether readers may change the documents."""
        return self.library is not None and self.library.may_change


def build_page(assistant: Assistant, *, rooms: Rooms | None = None, language: Language | None = None) -> gr.Blocks:
    """The page over an assistant. Without `language` each reader gets the language chosen before, else the
    browser's."""
    rooms = rooms or Rooms()
    first = language or Language.ZH
    texts = TEXTS[first]
    page = gr.Blocks(title=texts.title, analytics_enabled=False, fill_width=True, delete_cache=(CACHED, CACHED))
    with page:
        session = gr.State(Session(language=first), delete_callback=Session.stop)
        storage = gr.BrowserState(None, storage_key=KEY, secret=SCRAMBLE)
        events: list[Any] = []
        with gr.Column(elem_id="page"):
            with gr.Row(elem_id="head"):
                title = gr.HTML(_title(texts), elem_id="title")
                finder = gr.HTML(_finder(texts), elem_id="find")
                keys = gr.HTML(HTML("shortcuts", texts=texts), elem_id="keys")
                account = gr.HTML(elem_id="account")
                switch = gr.Radio(
                    [("中文", Language.ZH.value), ("English", Language.EN.value)],
                    value=first.value,
                    label=texts.language,
                    elem_id="language",
                )
            gr.HTML(elem_classes="theme-keeper", js_on_load=read_asset("preferences/theme.js"))
            writer = gr.HTML(elem_classes="theme-keeper", js_on_load=CHOOSE_WRITER)
            may_switch = rooms.auto_update is not None and rooms.may_change
            auto_update = gr.Checkbox(
                label=texts.auto_update, elem_id="auto-update", container=False, visible=may_switch, render=False
            )
            updates = gr.HTML(elem_id="updates", visible=rooms.auto_update is not None, render=False)
            overlays = Overlays(gr.HTML(elem_id="whole"), gr.HTML(elem_id="parcel"), auto_update, updates)
            if rooms.library is None:
                auto_update.render()  # type: ignore[no-untyped-call]
                updates.render()  # type: ignore[no-untyped-call]
            with gr.Tabs(elem_id="rooms", overflow_behavior="wrap"):
                # Stays on the page while another tab is open: answers continue to be written.
                with gr.Tab(texts.chat, id="chat", elem_id="room-chat", render_children=True) as chat:
                    parts = [build_chat(assistant, session, rooms.auto_update, rooms.library, overlays, first)]
                parts.append(PagePart((chat,), lambda state: {chat: gr.update(label=TEXTS[state.language].chat)}))
                with gr.Tab(id="practice", elem_id="room-practice") as tab:
                    parts.append(build_practice(assistant, session, overlays, tab))
                if rooms.library is not None:
                    with gr.Tab(id="library", elem_id="room-library") as tab:
                        parts += build_library(assistant, rooms.library, session, overlays, tab, first)
                with gr.Tab(id="settings", elem_id="room-settings") as tab:
                    parts += _settings(assistant, rooms, session, storage, writer, tab, first, events.append)
        labels = [title, finder, keys, account, switch, *(component for part in parts for component in part.components)]

        def speak(state: Session, name: Language) -> Updates:
            state.language = name
            texts = TEXTS[name]
            said: Updates = {
                title: _title(texts),
                finder: _finder(texts),
                keys: HTML("shortcuts", texts=texts),
                account: _account(state, texts),
                switch: gr.update(value=name.value, label=texts.language),
            }
            for part in parts:
                said |= part.speak(state)
            return said

        def greet(state: Session, stored: object, request: gr.Request) -> Updates:
            if state.user not in (None, request.username or ""):
                state.clear()  # someone else has signed in
                state.practice = Practice()
            state.user = request.username or ""
            chosen = take(assistant, state, stored)
            return speak(state, language or chosen or language_of(request.headers.get("accept-language", "")))

        def turn(state: Session, name: str) -> Updates:
            return speak(state, Language(name)) | {storage: to_store(state.preferences, Language(name))}

        settled = {switch, *(component for part in parts for component in part.settled)}

        def again(state: Session) -> Updates:
            said = speak(state, state.language)
            return {component: update for component, update in said.items() if component not in settled}

        switch.input(turn, [session, switch], [storage, *labels], **AT_ONCE)
        greeted = page.load(greet, [session, storage], labels, **AT_ONCE)
        for part in parts:
            if part.prepare is not None:
                greeted.then(part.prepare, None, None, **AT_ONCE)
        for event in events:
            event.then(again, session, labels, **EACH)
    page.queue(max_size=WAITING)
    return page


def _settings(
    assistant: Assistant,
    rooms: Rooms,
    session: gr.State,
    storage: gr.BrowserState,
    writer: gr.HTML,
    tab: gr.Tab,
    first: Language,
    on_change: Callable[[Any], None],
) -> list[PagePart]:
    """The reader's settings, and tools for whoever maintains the program; see `build_preferences` for `storage` and
    `on_change`."""
    setup = rooms.setup if rooms.may_change else None
    model_setup = None if setup is None else partial(build_model_setup, setup, session, storage, tab, first, on_change)
    with gr.Tabs(elem_id="settings-rooms", overflow_behavior="wrap"):
        with gr.Tab(TEXTS[first].general, id="preferences", elem_id="room-preferences") as general:
            parts = build_preferences(assistant, session, storage, writer, tab, first, on_change, model_setup)
        parts.append(PagePart((general,), lambda state: {general: gr.update(label=TEXTS[state.language].general)}))
        with gr.Tab(id="inspector", elem_id="room-inspector") as inner:
            parts.append(build_inspector(assistant, session, inner, first))
        with gr.Tab(id="quality", elem_id="room-quality") as inner:
            runner = Runner(assistant.settings, rooms.gold)
            parts.append(build_quality(assistant, rooms.results, runner, session, inner, first))
        with gr.Tab(TEXTS[first].export_feedback, id="feedback", elem_id="room-feedback") as inner:
            parts.append(_feedback(inner, first))
    return parts


def _feedback(tab: gr.Tab, first: Language) -> PagePart:
    """The chat handles its buttons; see `rag.ui.chat.actions`."""
    with gr.Column(elem_classes="room"):
        shown = gr.HTML(feedback_export(TEXTS[first]), elem_id="feedback-export")

    def speak(state: Session) -> Updates:
        texts = TEXTS[state.language]
        return {tab: gr.update(label=texts.export_feedback), shown: feedback_export(texts)}

    return PagePart((tab, shown), speak)


def _finder(texts: Texts) -> str:
    """Opens the conversation search, from every room; see search.js."""
    return HTML("finder", texts=texts)


def _account(session: Session, texts: Texts) -> str:
    """Sign-out, for a reader who has signed in."""
    return HTML("account", user=session.user, texts=texts) if session.user else ""


def _title(texts: Texts) -> str:
    return HTML("title", texts=texts)
