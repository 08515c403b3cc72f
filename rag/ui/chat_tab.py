"""The chat: its components, and what happens when one is used."""

from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import urlparse

import gradio as gr

from rag.assistant import Assistant
from rag.following import Following, FollowingStatus
from rag.llm import LOCAL_MODEL, leaves_the_machine
from rag.settings import ChatModelName
from rag.ui import chat
from rag.ui.assets import read_asset
from rag.ui.examples import example_questions
from rag.ui.follow import follow_text
from rag.ui.markdown import LATEX_DELIMITERS
from rag.ui.messages import messages, panel, question_problem
from rag.ui.part import AT_ONCE, Part, Updates
from rag.ui.session import Session
from rag.ui.texts import TEXTS, Language, Texts

# Questions answered at the same time.
ANSWERS_AT_ONCE = 4
# Seconds between two looks at what follows the documents, while it is on.
FOLLOW_SECONDS = 2.0


def build_chat(assistant: Assistant, session: gr.State, following: Following | None, first: Language) -> Part:
    """The chat over an assistant, first shown in a language; without `following` nobody can have the documents
    followed."""
    documents = assistant.index.storage.documents()
    examples = {name: example_questions(documents, name) for name in Language}
    del documents
    texts = TEXTS[first]

    with gr.Row(elem_id="columns"):
        with gr.Column(elem_id="chat-column"):
            conversation = gr.Chatbot(
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
                placeholder=escape(texts.welcome),
                examples=_examples(examples[first]),
            )
            with gr.Row(elem_id="ask"):
                question = gr.Textbox(
                    elem_id="question",
                    label=texts.question_label,
                    show_label=False,
                    container=False,
                    placeholder=texts.question_placeholder,
                    lines=1,
                    max_lines=8,
                    autofocus=True,
                )
                send = gr.Button(texts.send, variant="primary", elem_id="send")
                stop = gr.Button(texts.stop, elem_id="stop", visible=False)
            with gr.Row(elem_id="foot"):
                retry = gr.Button(texts.retry, elem_id="retry", size="sm", interactive=False)
                clear = gr.Button(texts.clear, elem_id="clear", size="sm", interactive=False)
                follow = gr.Checkbox(
                    label=texts.follow, elem_id="follow", container=False, visible=following is not None
                )
                followed = gr.HTML(elem_id="followed", visible=following is not None)
                privacy = gr.HTML(_privacy(assistant, texts), elem_id="privacy")
        sources = gr.HTML(panel(Session(language=first)), elem_id="sources", js_on_load=read_asset("behaviour.js"))

    clock = gr.Timer(FOLLOW_SECONDS, active=False)

    view = [conversation, sources, send, stop, retry, clear]
    followed_view = [follow, followed, clock]

    def show(state: Session) -> Updates:
        texts = TEXTS[state.language]
        has_some = bool(state.exchanges)
        return (
            messages(state),
            panel(state),
            gr.update(visible=not state.busy, value=texts.send),
            gr.update(visible=state.busy, value=texts.stop),
            gr.update(interactive=has_some and not state.busy, value=texts.retry),
            gr.update(interactive=has_some, value=texts.clear),
        )

    def ask(state: Session, text: str) -> Iterator[Updates]:
        """The question box empties once its question is taken; a question that cannot be asked stays in it."""
        texts = TEXTS[state.language]
        problem = question_problem(text or "", texts)
        if problem is not None or state.busy:
            if problem is not None:
                gr.Warning(problem, title=texts.title)
            yield (gr.skip(), *show(state))
            return
        for _ in chat.answer(assistant, state, text.strip()):
            yield ("", *show(state))

    def ask_example(state: Session, event: gr.EventData) -> Iterator[Updates]:
        yield from ask(state, event._data["value"]["text"])

    def ask_suggestion(state: Session, event: gr.EventData) -> Iterator[Updates]:
        exchange = state.find(int(event._data["turn"]))
        number = int(event._data["number"])
        refusal = exchange.answer.refusal if exchange is not None and exchange.answer is not None else None
        if refusal is not None and 0 <= number < len(refusal.suggestions):
            yield from ask(state, refusal.suggestions[number])

    def ask_again(state: Session) -> Iterator[Updates]:
        if state.exchanges and not state.busy:
            *state.exchanges, last = state.exchanges
            yield from ask(state, last.question)

    def halt(state: Session) -> None:
        state.stop()

    def forget(state: Session) -> Updates:
        state.clear()
        return show(state)

    def pick(state: Session, event: gr.EventData) -> str:
        number = int(event._data["turn"])
        if state.find(number) is not None:
            state.show(number, int(event._data["number"]))
        return panel(state)

    def speak(state: Session) -> Updates:
        texts = TEXTS[state.language]
        conversation_update, *others = show(state)
        return (
            gr.update(placeholder=texts.question_placeholder, label=texts.question_label),
            _privacy(assistant.choosing(state.preferences), texts),
            *look(state),
            gr.update(
                value=conversation_update,
                placeholder=escape(texts.welcome),
                examples=_examples(examples[state.language]),
                label=texts.chat_label,
            ),
            *others,
        )

    def look(state: Session) -> Updates:
        texts = TEXTS[state.language]
        status = following.status() if following is not None else FollowingStatus()
        return (
            gr.update(value=status.on, label=texts.follow),
            follow_text(status, texts),
            gr.Timer(active=status.on),
        )

    def turn(state: Session, on: bool) -> Updates:
        if following is not None:
            (following.start if on else following.stop)()
        return look(state)

    answering: dict[str, Any] = {
        "outputs": [question, *view],
        "concurrency_limit": ANSWERS_AT_ONCE,
        "concurrency_id": "answers",
        "show_progress": "hidden",
        "api_visibility": "private",
    }
    gr.on([question.submit, send.click], ask, [session, question], **answering)
    conversation.example_select(ask_example, session, **answering)
    sources.submit(ask_suggestion, session, **answering)
    retry.click(ask_again, session, **answering)
    stop.click(halt, session, **AT_ONCE)
    gr.on([clear.click, conversation.clear], forget, session, view, **AT_ONCE)
    sources.select(pick, session, sources, **AT_ONCE)
    follow.input(turn, [session, follow], followed_view, **AT_ONCE)
    clock.tick(look, session, followed_view, **AT_ONCE)
    return Part((question, privacy, *followed_view, *view), speak)


def _examples(questions: list[str]) -> list[Any]:
    return [{"text": question} for question in questions]


def _privacy(assistant: Assistant, texts: Texts) -> str:
    """Who writes the answers, and what leaves the machine for it."""
    settings = assistant.settings
    if assistant.llm == ChatModelName.EXTRACTIVE:
        return escape(texts.footer_extractive)
    model = LOCAL_MODEL if assistant.llm == ChatModelName.LOCAL else settings.endpoint_model or assistant.llm
    if leaves_the_machine(settings):
        return escape(texts.footer_remote.format(model=model, host=urlparse(settings.endpoint_url).hostname))
    return escape(texts.footer_model.format(model=model))
