"""The chat: its components, and the handlers of their events."""

from typing import Any

import gradio as gr

from ingest.library import Library
from ingest.updates.auto_update import AutoUpdate
from rag.answer.assistant import Assistant
from rag.ui.assets import behaviour
from rag.ui.chat.components import ChatComponents
from rag.ui.chat.handlers import ChatHandlers, bar, examples, render_writer, welcome
from rag.ui.chat.messages import panel
from rag.ui.markdown import LATEX_DELIMITERS
from rag.ui.session.part import AT_ONCE, EACH, QUEUED, Overlays, PagePart, in_turn
from rag.ui.session.session import Session
from rag.ui.texts import TEXTS, Language, Texts

# Questions answered at the same time by any writer; see exchange.py for answers by quotes.
ANSWERED_AT_ONCE = 8
# Seconds between checks of the automatic updates, while they are on.
LOOK_SECONDS = 2.0
# And of documents being read.
READING_SECONDS = 0.7
# Answered in order, a few at once, with progress shown in the answer itself. A second question reaches the handler
# during the first, and the handler reports that it is busy; Gradio would drop it silently.
ANSWERING = in_turn("answers", ANSWERED_AT_ONCE) | {"trigger_mode": "multiple"}


def build_chat(
    assistant: Assistant,
    session: gr.State,
    auto_update: AutoUpdate | None,
    library: Library | None,
    overlays: Overlays,
    first: Language,
) -> PagePart:
    """The chat over an assistant, first shown in `first`."""
    may_add = library is not None and library.may_change
    parts = _components(assistant, overlays, first, may_add=may_add, has_updates=auto_update is not None)
    handlers = ChatHandlers(assistant, parts, auto_update, library)
    _wire(parts, handlers, session)
    return PagePart(parts.with_texts, handlers.speak)


def _components(
    assistant: Assistant, overlays: Overlays, first: Language, *, may_add: bool, has_updates: bool
) -> ChatComponents:
    texts = TEXTS[first]
    with gr.Row(elem_id="columns"):
        with gr.Column(elem_id="list-column"):
            new = gr.Button(texts.new_conversation, elem_id="clear")
            sought = _search_box(texts)
            listing = gr.HTML(elem_id="conversations")
        with gr.Column(elem_id="chat-column"):
            conversation = _chatbot(texts, examples(assistant)[first])
            strip = gr.HTML(elem_id="strip")
            attached = gr.HTML(elem_id="attached", visible=may_add)
            offers = gr.HTML(elem_id="offers")
            with gr.Row(elem_id="ask"):
                open_list = gr.HTML(bar(texts), elem_id="bar")
                attach = gr.UploadButton(
                    texts.attach, file_count="multiple", elem_id="attach", visible=may_add
                )  # without `file_types`: we refuse other files in the reader's language
                question = gr.Textbox(
                    elem_id="question",
                    label=texts.question_label,
                    show_label=False,
                    container=False,
                    placeholder=texts.question_placeholder,
                    lines=1,
                    max_lines=8,
                    autofocus=True,
                    interactive=True,  # only asking.js reads it
                )
                send = gr.Button(texts.send, variant="primary", elem_id="send")
                stop = gr.Button(texts.stop, elem_id="stop", visible=False)
            with gr.Row(elem_id="foot"):
                scope = gr.HTML(elem_id="scope")
                updating = gr.HTML(elem_id="updating", visible=has_updates)
                privacy = gr.HTML(render_writer(assistant, (), texts), elem_id="privacy")
        sources = gr.HTML(panel(Session(language=first)), elem_id="sources", js_on_load=behaviour())
    return ChatComponents(
        new=new,
        sought=sought,
        listing=listing,
        conversation=conversation,
        strip=strip,
        bar=open_list,
        attach=attach,
        attached=attached,
        offers=offers,
        reading=gr.Timer(READING_SECONDS, active=False),
        question=question,
        send=send,
        stop=stop,
        switch=overlays.auto_update,
        updating=updating,
        updates=overlays.updates,
        clock=gr.Timer(LOOK_SECONDS, active=False),
        privacy=privacy,
        scope=scope,
        sources=sources,
        whole=overlays.whole,
        parcel=overlays.parcel,
    )


def _search_box(texts: Texts) -> gr.Textbox:
    return gr.Textbox(
        elem_id="sought",
        label=texts.search_conversations,
        show_label=False,
        container=False,
        placeholder=texts.search_keys,
        max_lines=1,
        max_length=200,
    )


def _chatbot(texts: Texts, offered: list[Any]) -> gr.Chatbot:
    return gr.Chatbot(
        elem_id="chat",
        label=texts.chat_label,
        show_label=False,
        container=False,
        autoscroll=False,
        height="100%",
        layout="bubble",
        buttons=["copy"],
        latex_delimiters=LATEX_DELIMITERS,
        sanitize_html=True,
        allow_tags=False,
        feedback_options=None,
        placeholder=welcome(texts),
        examples=offered,
    )


def _wire(parts: ChatComponents, handlers: ChatHandlers, session: gr.State) -> None:
    """The browser's scripts send the reader's actions as events of the sources panel; see basics.js."""
    parts.sources.submit(handlers.ask, session, parts.view, **ANSWERING)
    parts.conversation.example_select(handlers.ask_example, session, parts.view, **ANSWERING)
    parts.stop.click(handlers.halt, session, **AT_ONCE)

    done = [parts.question, *parts.view]
    gr.on([parts.new.click, parts.conversation.clear], handlers.begin_anew, session, done, **AT_ONCE)
    parts.sources.input(handlers.do_event, session, done, **EACH)
    parts.sources.select(handlers.pick, session, parts.sources, **AT_ONCE)
    parts.sources.key_up(handlers.offer, session, parts.offers, **AT_ONCE)
    parts.sources.expand(handlers.open_whole, session, parts.whole, **AT_ONCE)
    parts.sources.download(handlers.hand_out, session, parts.parcel, **QUEUED)
    parts.sources.upload(handlers.import_conversation, session, done, **QUEUED)
    parts.sources.apply(handlers.refuse_file, session, **QUEUED)
    outputs = [parts.attached, parts.reading, *parts.view]
    parts.attach.upload(handlers.attach, [session, parts.attach], [parts.attach, *outputs], **QUEUED)
    parts.reading.tick(handlers.look_at_documents, session, outputs, **AT_ONCE)
    parts.sought.change(handlers.seek, [session, parts.sought], parts.listing, **AT_ONCE)

    updates = [parts.switch, parts.updating, parts.updates, parts.clock]
    parts.switch.input(handlers.turn, [session, parts.switch], updates, **AT_ONCE)
    parts.clock.tick(handlers.look_again, session, [*updates, *parts.view], **AT_ONCE)
