"""Event handlers of the chat model setup; each returns the updates of the components that it changes. An API key that
was entered is never sent back."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import gradio as gr

from rag.chat_models.endpoint import is_key, is_loopback, openai_client
from rag.chat_models.listing import check_address, list_models
from rag.chat_models.local_server import is_installed
from rag.chat_models.model import ChatModel
from rag.chat_models.stored_endpoint import LONGEST_MODEL_NAME
from rag.errors import RagError, SettingsError
from rag.models import ModelState
from rag.models.fetch import missing_space
from rag.settings import ChatModelName
from rag.ui.elements import done, hint, problem, under_way
from rag.ui.model_setup.download import DownloadStatus
from rag.ui.model_setup.setup import OTHER, PRESETS, ModelSetup, preset_of
from rag.ui.preferences.models import failure, install_command, try_model
from rag.ui.preferences.stored import to_store
from rag.ui.session.part import UNCHANGED, Updates
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import MODEL_SETUP_TEXTS, PREFERENCES_TEXTS, Texts

HTML = macros_of("model_setup/handlers.html")
MEGABYTE = 1_000_000
# Seconds allowed for the answer to a tiny question.
LONGEST_TRIAL = 30.0


@dataclass(frozen=True, slots=True)
class Entered:
    url: str
    key: str
    model: str


@dataclass(frozen=True, slots=True)
class ModelSetupComponents:
    """`kept` is the browser's copy of the reader's settings."""

    storage: gr.BrowserState
    heading: gr.HTML
    status: gr.HTML
    preset: gr.Radio
    url: gr.Textbox
    key: gr.Textbox
    look: gr.Button
    model: gr.Dropdown
    test: gr.Button
    use: gr.Button
    forget_key: gr.Button
    forget: gr.Button
    notice: gr.HTML
    local: gr.HTML
    download: gr.Button
    cancel: gr.Button
    clock: gr.Timer
    arrived: gr.State

    @property
    def local_view(self) -> list[Any]:
        return [self.local, self.download, self.cancel, self.clock, self.arrived]

    @property
    def with_texts(self) -> tuple[Any, ...]:
        """The components with texts."""
        asked = (self.heading, self.status, self.preset, self.url, self.key, self.look, self.model, self.test, self.use)
        return (*asked, self.forget_key, self.forget, self.local, self.download, self.cancel)


class _Refused(Exception):  # noqa: N818 - the reader is told what is missing
    """Input that cannot be used; the message is in the reader's language."""


class ModelSetupHandlers:
    def __init__(self, setup: ModelSetup, parts: ModelSetupComponents) -> None:
        self._setup = setup
        self._parts = parts

    def open(self, state: Session, url: str) -> Updates:
        """Status, preset, address, model, and the local model. Typed text stays."""
        kept, parts = self._setup.stored_endpoint(), self._parts
        shown = self.local(state) | {parts.status: self.status(state)}
        if url.strip() or kept is None:
            return shown
        model = gr.update(value=kept.model, choices=[kept.model])
        return shown | {parts.preset: preset_of(kept.url), parts.url: kept.url, parts.model: model}

    def choose_preset(self, state: Session, name: str, entered: str) -> Updates:
        """The preset's address, and key and model emptied: a typed key belongs to the previous address. If the preset
        has no address and the reader has entered their own, everything stays."""
        url = PRESETS[name].url if name in PRESETS else ""
        if not url and preset_of(entered) == OTHER:
            return UNCHANGED
        return {
            self._parts.url: url,
            self._parts.key: self._key_box(state, url),
            self._parts.model: gr.update(value=None, choices=[]),
            self._parts.notice: "",
        }

    def look(self, state: Session, url: str, key: str) -> Iterator[Updates]:
        """The message, and the models to choose from."""
        texts, parts = MODEL_SETUP_TEXTS[state.language], self._parts
        yield {parts.notice: under_way(texts.looking)}
        try:
            entered = self._entered(texts, url, key)
            names = list_models(entered.url, entered.key)
        except _Refused as refusal:
            yield {parts.notice: problem(str(refusal))}
        except RagError as error:
            yield {parts.notice: _failed(texts.look_failed, error, state)}
        else:
            notice = texts.found.format(count=f"{len(names):,}") if names else texts.found_none
            yield {
                parts.notice: done(notice) + _warning(entered.url, texts),
                parts.model: gr.update(choices=names, value=names[0] if len(names) == 1 else None),
            }

    def try_it(self, state: Session, url: str, key: str, model: str | None) -> Iterator[str]:
        texts = MODEL_SETUP_TEXTS[state.language]
        yield under_way(texts.trying)
        try:
            entered = self._entered(texts, url, key, model, with_model=True)
            seconds = try_model(self._open(entered), within_seconds=LONGEST_TRIAL)
        except _Refused as refusal:
            yield problem(str(refusal))
        except RagError as error:
            yield _failed(texts.failed, error, state)
        else:
            notice = texts.works.format(model=entered.model, seconds=f"{seconds:.1f}")
            yield done(notice) + _warning(entered.url, texts)

    def use(self, state: Session, url: str, key: str, model: str | None) -> Updates:
        """The message, the status, the key box, and the choices for the browser: whoever sets up a model wants its
        answers."""
        texts, parts = MODEL_SETUP_TEXTS[state.language], self._parts
        try:
            entered = self._entered(texts, url, key, model, with_model=True)
            self._open(entered)
            self._setup.use(entered.url, entered.model, entered.key)
        except _Refused as refusal:
            return {parts.notice: problem(str(refusal))}
        except RagError as error:
            notice = texts.not_kept.format(problem=failure(error, PREFERENCES_TEXTS[state.language]))
            return {parts.notice: problem(notice, details=error.message, summary=texts.details)}
        llm = ChatModelName.ENDPOINT if self._setup.writer_fixed_by else None
        state.preferences = replace(state.preferences, llm=llm)
        return {
            parts.notice: done(texts.used.format(model=entered.model)) + _warning(entered.url, texts),
            parts.status: self.status(state),
            parts.key: self._key_box(state, entered.url),
            parts.storage: to_store(state.preferences, state.language),
        }

    def forget_key(self, state: Session, url: str) -> Updates:
        return self._forget(state, url, key_only=True)

    def forget(self, state: Session, url: str) -> Updates:
        return self._forget(state, url, key_only=False)

    def _forget(self, state: Session, url: str, *, key_only: bool) -> Updates:
        """The message, the status, and the key box."""
        texts, parts = MODEL_SETUP_TEXTS[state.language], self._parts
        try:
            (self._setup.forget_key if key_only else self._setup.forget)()
        except RagError as error:
            return {parts.notice: problem(error.message), parts.status: self.status(state)}
        notice = done(texts.key_forgotten if key_only else texts.forgotten)
        return {parts.notice: notice, parts.status: self.status(state), parts.key: self._key_box(state, url)}

    def status(self, state: Session) -> str:
        """The endpoint that is set up, and the settings that override it, as HTML."""
        texts, kept = MODEL_SETUP_TEXTS[state.language], self._setup.stored_endpoint()
        if self._setup.fixed_by:
            return problem(texts.fixed.format(where=self._setup.fixed_by))
        if kept is None:
            notice = hint(texts.nothing)
        else:
            host = urlsplit(kept.url).netloc
            key = texts.with_key if kept.key_file else texts.without_key
            notice = done(texts.in_use.format(host=host, model=kept.model, key=key))
        if self._setup.writer_fixed_by:
            notice += hint(texts.writer_fixed.format(where=self._setup.writer_fixed_by))
        return notice

    def start(self, state: Session) -> Updates:
        if not self._local_problem(MODEL_SETUP_TEXTS[state.language]):
            self._setup.download.start()
        return self.local(state)

    def cancel(self, state: Session) -> Updates:
        self._setup.download.cancel()
        return self.local(state)

    def local(self, state: Session) -> Updates:
        """The local model, the buttons that start and cancel its download, the timer that refreshes it, and whether the
        model is present."""
        status = self._setup.download.status()
        return self._local_shown(state, status) | {
            self._parts.clock: gr.Timer(active=status.under_way),
            self._parts.arrived: status.state is ModelState.PRESENT,
        }

    def _local_shown(self, state: Session, status: DownloadStatus) -> Updates:
        texts = MODEL_SETUP_TEXTS[state.language]
        size = _megabytes(self._setup.download.model.size)
        missing = "" if status.under_way or status.state is ModelState.PRESENT else self._local_problem(texts)
        label = texts.resume if status.state is ModelState.INTERRUPTED else texts.download.format(size=size)
        idle = not status.under_way and status.state is not ModelState.PRESENT
        return {
            self._parts.local: self._local_html(status, texts, missing),
            self._parts.download: gr.update(value=label, visible=idle, interactive=not missing),
            self._parts.cancel: gr.update(
                value=texts.cancel, visible=status.under_way, interactive=not status.cancelled
            ),
        }

    def speak(self, state: Session) -> Updates:
        """All texts in the reader's language."""
        texts, parts = MODEL_SETUP_TEXTS[state.language], self._parts
        return self._local_shown(state, self._setup.download.status()) | {
            parts.heading: heading(texts),
            parts.status: self.status(state),
            parts.preset: gr.update(label=texts.preset, choices=presets(texts)),
            parts.url: gr.update(label=texts.url),
            parts.key: gr.update(label=texts.key, info=texts.key_hint, placeholder=texts.key_needed),
            parts.look: gr.update(value=texts.look),
            parts.model: gr.update(label=texts.model, info=texts.model_hint),
            parts.test: gr.update(value=texts.try_it),
            parts.use: gr.update(value=texts.use),
            parts.forget_key: gr.update(value=texts.forget_key),
            parts.forget: gr.update(value=texts.forget),
        }

    def _entered(
        self, texts: Texts, url: str, key: str, model: str | None = None, *, with_model: bool = False
    ) -> Entered:
        """The checked input, with the stored key if none was typed. Raises _Refused."""
        if self._setup.fixed_by:
            raise _Refused(texts.fixed.format(where=self._setup.fixed_by))
        try:
            address = check_address(url)
        except SettingsError:
            raise _Refused(texts.address_first) from None
        name = (model or "").strip()
        if with_model and not (0 < len(name) <= LONGEST_MODEL_NAME and name.isprintable()):
            raise _Refused(texts.model_first)
        if key.strip() and not is_key(key.strip()):
            raise _Refused(texts.key_bad)
        return Entered(address, self._setup.key_for(address, key), name)

    def _open(self, entered: Entered) -> ChatModel:
        """The chat model at the entered endpoint. Raises SettingsError for a proxy that cannot be used."""
        seconds = min(LONGEST_TRIAL, self._setup.stated.endpoint_timeout)
        client = openai_client(entered.url, entered.model, entered.key, seconds)
        return ChatModel(ChatModelName.ENDPOINT, entered.model, client)

    def _key_box(self, state: Session, url: str) -> Any:
        """The emptied key box, whose placeholder says whether a key is stored for this address."""
        texts = MODEL_SETUP_TEXTS[state.language]
        try:
            kept = bool(url.strip() and self._setup.key_for(url, ""))
        except SettingsError:
            kept = False
        return gr.update(value="", placeholder=texts.key_kept if kept else texts.key_needed)

    def _local_problem(self, texts: Texts) -> str:
        """Why the local model cannot be fetched or run here; empty if it can."""
        if not is_installed():
            return texts.local_package.format(command=install_command())
        space = missing_space(self._setup.download.name, self._setup.download.folder)
        return texts.local_space.format(space=_megabytes(space)) if space else ""

    def _local_html(self, status: DownloadStatus, texts: Texts, missing: str) -> str:
        model = self._setup.download.model
        about = texts.local_about.format(name=model.name, size=_megabytes(model.size), licence=model.licence)
        values = {"done": _megabytes(status.done), "total": _megabytes(status.total)}
        if status.under_way:
            said = (texts.local_cancelling if status.cancelled else texts.local_running).format(**values)
            notice = HTML("progress", said=said, status=status)
        elif status.state is ModelState.PRESENT:
            notice = done(texts.local_present)
        elif status.state is ModelState.INTERRUPTED:
            notice = hint(texts.local_interrupted.format(**values))
        else:
            notice = hint(texts.local_missing)
        if status.problem is not None:
            notice += problem(texts.local_problem.format(problem=status.problem.message), details=status.problem.hint,
                            summary=texts.details)  # fmt: skip
        if missing:
            notice += problem(missing)
        return HTML("section", heading=texts.local, about=about, notice=notice)


def heading(texts: Texts) -> str:
    return HTML("section", heading=texts.heading, about=texts.intro)


def presets(texts: Texts) -> list[tuple[str, str]]:
    return [(texts.preset_other if name == OTHER else preset.name, name) for name, preset in PRESETS.items()]


def _failed(text: str, error: RagError, state: Session) -> str:
    """A failure in the reader's language, with the client's message as details."""
    notice = text.format(problem=failure(error, PREFERENCES_TEXTS[state.language]))
    return problem(notice, details=error.message, summary=MODEL_SETUP_TEXTS[state.language].details)


def _warning(url: str, texts: Texts) -> str:
    return hint(texts.plain_http) if url.startswith("http:") and not is_loopback(url) else ""


def _megabytes(count: int) -> str:
    return f"{count / MEGABYTE:,.0f} MB"
