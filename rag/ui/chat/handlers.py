"""The chat's event handlers: each returns the updates of the components that it changes."""

from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from datetime import datetime
from functools import partial
from html import escape
from typing import Any
from urllib.parse import urlparse

import gradio as gr

from ingest.library import Library
from ingest.updates.auto_update import AutoUpdate, AutoUpdateStatus
from rag.answer.assistant import Assistant
from rag.chat_models.local import LOCAL_MODEL
from rag.chat_models.select import Answerers, leaves_the_machine
from rag.errors import UsageError, UserDataError
from rag.index.part import page_of
from rag.settings import ChatModelName
from rag.ui.chat import actions
from rag.ui.chat import exchange as chat
from rag.ui.chat.actions import ALONE, GO_ON, IN_TALK, ChatAction, ChatActionName
from rag.ui.chat.auto_update import auto_update_text, under_way_text
from rag.ui.chat.components import ChatComponents
from rag.ui.chat.documents import Documents
from rag.ui.chat.examples import example_questions
from rag.ui.chat.messages import messages, panel, question_problem
from rag.ui.chat.strip import HTML as STRIP
from rag.ui.chat.strip import MaterialTitles, read_material, render_chooser, render_offers, render_strip
from rag.ui.conversations.import_conversation import PackedFile, read_packed
from rag.ui.conversations.keeper import Keeper
from rag.ui.conversations.listing import render_list
from rag.ui.library.report import too_large
from rag.ui.session.part import Updates
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import LIBRARY_TEXTS, TEXTS, Language, Texts

HTML = macros_of("chat/handlers.html")


class ChatHandlers:
    """Over an assistant; keeps conversations in the folder that the settings name. Only readers who may change the
    documents can switch automatic updates; all are told of them."""

    def __init__(
        self,
        assistant: Assistant,
        parts: ChatComponents,
        auto_update: AutoUpdate | None = None,
        library: Library | None = None,
    ) -> None:
        self._assistant = assistant
        self._parts = parts
        self._updates = auto_update
        self._library = library if library is not None and library.may_change else None
        self._auto_update = auto_update if self._library is not None else None
        self._documents = Documents(assistant, self._library) if self._library is not None else None
        self._keeper = Keeper(assistant.settings.data)
        self._material = ("", MaterialTitles())
        self._answerers = Answerers(lambda: assistant.settings)
        self._examples = examples(assistant)

    def show(self, state: Session, *, whole: bool = True, begins: bool = False) -> Updates:
        """Messages, sources, and the rest. Without `whole`, only what changes while an answer is written, since every
        update costs time. `begins`: the stop button takes the place of the send button."""
        texts, parts = TEXTS[state.language], self._parts
        names = [] if state.is_answering else _names(self._answerers, self._assistant, texts)
        others: Updates = {}
        if whole:
            others = self._buttons(state, begins=begins) | {
                parts.strip: render_strip(state, self.material()),
                parts.listing: self.list(state),
                parts.privacy: self.writer(state),
                parts.scope: self.chooser(state),
            }
        state.sees_reading = self._is_reading
        said = messages(state, names, is_reading=state.sees_reading)
        return others | {parts.conversation: said, parts.sources: panel(state)}

    def _buttons(self, state: Session, *, begins: bool) -> Updates:
        """The send and the stop button. Only the answer itself changes which one is there while it is written: any
        other update may reach the page after the answer has ended."""
        texts, send, stop, answering = TEXTS[state.language], self._parts.send, self._parts.stop, state.is_answering
        if answering and not begins:
            return {send: gr.update(value=texts.send), stop: gr.update(value=texts.stop)}
        return {
            send: gr.update(value=texts.send, visible=not answering),
            stop: gr.update(value=texts.stop, visible=answering),
        }

    @property
    def _is_reading(self) -> bool:
        """Whether documents are being read for the first time."""
        return self._updates is not None and self._updates.status().is_unfinished

    def writer(self, state: Session) -> str:
        texts = TEXTS[state.language]
        names = _names(self._answerers, self._assistant, texts)
        return render_writer(
            chat.writer_of(self._assistant, state.preferences), names, texts, may_add=self._library is not None
        )

    def material(self) -> MaterialTitles:
        """The live generation's, read once."""
        index = self._assistant.index
        if self._material[0] != index.manifest_sha256:
            self._material = (index.manifest_sha256, read_material(index))
        return self._material[1]

    def chooser(self, state: Session) -> str:
        answers = [exchange.answer for exchange in reversed(state.exchanges) if exchange.answer is not None]
        cited = [citation.document for answer in answers for citation in answer.citations]
        return render_chooser(state.only, cited, self.material(), state.language)

    def list(self, state: Session) -> str:
        return render_list(
            self._keeper.list(state),
            state,
            datetime.now().astimezone(),
            tags=self._keeper.tags(state),
            unkept=self._keeper.problem is not None,
            set_aside=[file.name for file in self._keeper.set_aside],
        )

    def ask(self, state: Session, event: gr.EventData) -> Iterator[Updates]:
        """Answer the typed text, an answer's suggestion, or its question again."""
        action = ChatAction.read(event._data)
        if action.name == ChatActionName.SEND:  # in place of the question that is being edited, or after the last one
            edited = state.find(state.editing)
            yield from self._answer(state, action.rest, parent=edited.parent if edited is not None else state.tip)
            return
        if action.name == ChatActionName.LOOK_ON:
            with closing(chat.look_on(state, self._keeper)) as steps:
                for at, _ in enumerate(steps):
                    yield self.show(state, whole=not at, begins=not at)
            yield self.show(state)
            return
        exchange = state.find(action.number)
        if exchange is None:
            return
        if action.name == ChatActionName.RETRY:
            follows = {ALONE: False, IN_TALK: True}.get(action.rest)
            llm, begun = (action.rest if follows is None else ""), ""
            if action.rest == GO_ON and exchange.answer is not None:
                llm, begun = exchange.answer.llm, exchange.answer.text
            yield from self._answer(
                state, exchange.question, llm=llm, follows=follows, begun=begun, parent=exchange.parent
            )
        elif action.rest.isdecimal() and int(action.rest) < len(exchange.suggestions):
            yield from self._answer(state, exchange.suggestions[int(action.rest)], parent=state.tip)

    def ask_example(self, state: Session, event: gr.EventData) -> Iterator[Updates]:
        yield from self._answer(state, event._data["value"]["text"], parent=state.tip)

    def _answer(
        self,
        state: Session,
        text: str,
        *,
        llm: str = "",
        follows: bool | None = None,
        begun: str = "",
        parent: int | None,
    ) -> Iterator[Updates]:
        """Warns about a question that cannot be asked; asking.js puts it back into its box."""
        texts = TEXTS[state.language]
        asked = False
        problem = question_problem(text, texts)
        if problem is None:
            early = self._is_reading
            steps = chat.answer_after(
                self._assistant, state, text.strip(), parent, self._keeper, llm=self._answerers.named(llm),
                follows=follows, begun=begun, early=early,
                reading=self._updates.reading if self._updates is not None else None,
            )  # fmt: skip
            with closing(steps), self._updates.resting() if self._updates is not None else nullcontext():
                for _ in steps:
                    yield self.show(state, whole=not asked or not state.busy, begins=not asked)
                    asked = True
        if not asked:
            gr.Warning(problem or texts.busy, title=texts.toast_warning)
            yield self.show(state)

    def do(self, state: Session, action: ChatAction) -> Updates:
        state.action_count += 1
        actions.act(state, action, self._keeper)
        edited, shown = state.find(state.editing), self.show(state)
        if action.name == ChatActionName.EDIT and edited is not None:
            shown[self._parts.question] = edited.question
        elif action.name == ChatActionName.UNEDIT:
            shown[self._parts.question] = ""
        return shown

    def do_event(self, state: Session, event: gr.EventData) -> Updates:
        return self.do(state, ChatAction.read(event._data))

    def begin_anew(self, state: Session) -> Updates:
        return self.do(state, ChatAction(ChatActionName.NEW))

    def halt(self, state: Session) -> None:
        state.stop()

    def pick(self, state: Session, event: gr.EventData) -> str:
        action = ChatAction.read(event._data)
        state.action_count += 1
        if state.find(action.number) is not None and action.rest.isdecimal():
            state.show(action.number, int(action.rest))
        return panel(state)

    def open_whole(self, state: Session, event: gr.EventData) -> str:
        return actions.whole_source(state, ChatAction.read(event._data), self._assistant, _moment())

    def offer(self, state: Session, event: gr.EventData) -> str:
        """Documents and topics that the reader may be typing in the box."""
        return render_offers(ChatAction.read(event._data).rest, self.material(), state.language)

    def seek(self, state: Session, words: str) -> str:
        state.search_words = words
        return self.list(state)

    def hand_out(self, state: Session, event: gr.EventData) -> str:
        texts = TEXTS[state.language]
        try:
            file = actions.download(state, ChatAction.read(event._data), self._keeper, datetime.now().astimezone())
        except UserDataError:
            gr.Warning(texts.failed, title=texts.toast_warning)
            return ""
        if file is None:
            gr.Info(texts.feedback_none, title=texts.toast_info)
        return actions.as_parcel(file, _moment())

    def import_conversation(self, state: Session, event: gr.EventData) -> Updates:
        """Import a conversation from a file as a new one."""
        texts, sent = TEXTS[state.language], PackedFile.read(event._data)
        state.action_count += 1
        try:
            self._keeper.import_conversation(state, read_packed(sent, partial(page_of, self._assistant.index), texts))
        except UsageError as error:
            gr.Warning(escape(error.message), title=texts.toast_warning)
        except UserDataError:
            notice = texts.import_failed.format(name=sent.name, problem=texts.import_unkept)
            gr.Warning(escape(notice), title=texts.toast_warning)
        return self.show(state)

    def attach(self, state: Session, paths: Sequence[str] | None) -> Updates:
        if self._documents is not None:
            self._documents.add(state, paths or [])
        return self._adding(state) | self.show(state) | {self._parts.attach: None}

    def look_at_documents(self, state: Session) -> Updates:
        """The status of documents that are being added, and the whole view once all were tried."""
        changed = self._documents is not None and self._documents.settle(state)
        return self._adding(state) | (self.show(state) if changed else {})

    def _adding(self, state: Session) -> Updates:
        html = self._documents.render(state) if self._documents is not None else ""
        return {self._parts.attached: html, self._parts.reading: gr.Timer(active=bool(state.adding))}

    def refuse_file(self, state: Session, event: gr.EventData) -> None:
        """Report a file that the browser did not send."""
        action = ChatAction.read(event._data)
        if self._library is not None:
            texts = LIBRARY_TEXTS[state.language]
            gr.Warning(escape(too_large(action.rest, action.number, self._library, texts)), title=texts.heading)

    def look(self, state: Session) -> Updates:
        """The switch of automatic updates, their text here and in the library, and the polling clock."""
        texts, parts = TEXTS[state.language], self._parts
        status = self._updates.status() if self._updates is not None else AutoUpdateStatus()
        details = self._auto_update is not None
        # Who may not switch them waits for the first reading only, not for each later change.
        active = status.is_changing and (details or status.is_unfinished or status.fills)
        return {
            parts.switch: gr.update(value=status.on, label=texts.auto_update),
            parts.updating: under_way_text(status, texts, details=details),
            parts.updates: auto_update_text(status, texts, details=details),
            parts.clock: gr.Timer(active=active),
        }

    def look_again(self, state: Session) -> Updates:
        """The same, and the whole view once the first reading has ended: early answers can be repeated."""
        has_ended = state.sees_reading and not self._is_reading and not state.busy
        return self.look(state) | (self.show(state) if has_ended else {})

    def turn(self, state: Session, on: bool) -> Updates:
        if self._auto_update is not None:
            (self._auto_update.start if on else self._auto_update.stop)()
        return self.look(state)

    def speak(self, state: Session) -> Updates:
        """Everything in the reader's language."""
        texts, parts, shown = TEXTS[state.language], self._parts, self.show(state)
        conversation = gr.update(
            value=shown[parts.conversation],
            placeholder=welcome(texts),
            examples=self._examples[state.language],
            label=texts.chat_label,
        )
        return {
            **shown,
            **self._adding(state),
            **self.look(state),
            parts.question: gr.update(placeholder=texts.question_placeholder, label=texts.question_label),
            parts.new: gr.update(value=texts.new_conversation),
            parts.sought: gr.update(placeholder=texts.search_keys, label=texts.search_conversations),
            parts.bar: bar(texts),
            parts.attach: gr.update(label=texts.attach),
            parts.conversation: conversation,
        }


def examples(assistant: Assistant) -> dict[Language, list[Any]]:
    """Questions that an empty conversation offers."""
    documents = assistant.index.storage.documents()
    return {name: [{"text": question} for question in example_questions(documents, name)] for name in Language}


def _moment() -> str:
    return f"{datetime.now().astimezone():%H%M%S%f}"


def welcome(texts: Texts) -> str:
    """The text of an empty conversation, with a link to the practice room."""
    return HTML("welcome", texts=texts)


def bar(texts: Texts) -> str:
    """Opens the list of conversations on narrow screens."""
    return HTML("bar", texts=texts)


def _names(answerers: Answerers, assistant: Assistant, texts: Texts) -> list[tuple[str, str]]:
    """Every writer that could answer now, with its display name."""
    settings = assistant.settings
    endpoint = f"{settings.endpoint_model} · {urlparse(settings.endpoint_url).hostname}"
    names = {
        ChatModelName.EXTRACTIVE: texts.answerer_extractive,
        ChatModelName.LOCAL: texts.answerer_local.format(model=LOCAL_MODEL),
        ChatModelName.OLLAMA: texts.answerer_ollama,
        ChatModelName.ENDPOINT: texts.answerer_endpoint.format(model=endpoint),
    }
    return [(str(name), names[name]) for name in answerers.usable()]


def render_writer(
    assistant: Assistant, names: Sequence[tuple[str, str]], texts: Texts, *, may_add: bool = False
) -> str:
    """The writer of answers, its alternatives, and what leaves the machine for it. HTML."""
    settings, model = assistant.settings, chat.model_of(assistant)
    is_quoting, is_remote = assistant.llm == ChatModelName.EXTRACTIVE, leaves_the_machine(assistant.settings)
    if is_quoting:
        notice = texts.footer_extractive
    elif is_remote:
        notice = texts.footer_remote.format(model=model, host=urlparse(settings.endpoint_url).hostname)
    else:
        notice = texts.footer_model.format(model=model)
    return STRIP(
        "writer",
        names=names,
        current=str(assistant.llm),
        label=texts.answerer_extractive if is_quoting else model or str(assistant.llm),
        notice=notice,
        is_remote=is_remote and not is_quoting,
        may_add=may_add and len(names) < 2,
        texts=texts,
    )
