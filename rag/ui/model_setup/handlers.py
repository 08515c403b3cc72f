"""Event handlers of the chat model setup; each returns the updates of the components that it changes. An API key that
was entered is never sent back."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import gradio as gr

from rag.chat_models.endpoint import is_key, is_loopback, openai_client
from rag.chat_models.kept import LONGEST_MODEL_NAME
from rag.chat_models.listing import check_address, list_models
from rag.chat_models.local_server import is_installed
from rag.chat_models.model import ChatModel
from rag.errors import RagError, SettingsError
from rag.models import ModelState
from rag.models.fetch import missing_space
from rag.settings import ChatModelName
from rag.ui.elements import done, hint, problem, under_way
from rag.ui.model_setup.download import DownloadStatus
from rag.ui.model_setup.presets import OTHER, PRESETS, preset_of
from rag.ui.model_setup.setup import ModelSetup
from rag.ui.model_setup.texts import TEXTS
from rag.ui.part import Updates
from rag.ui.preferences import texts as preferences_texts
from rag.ui.preferences.models import failure, try_model
from rag.ui.preferences.states import install_command
from rag.ui.preferences.stored import to_store
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("model_setup/handlers.html")
MEGABYTE = 1_000_000
# Seconds allowed for the answer to a tiny question.
LONGEST_TRIAL = 30.0


@dataclass(frozen=True, slots=True)
class Entered:
    url: str
    key: str
    model: str


class _Refused(Exception):  # noqa: N818 - the reader is told what is missing
    """Input that cannot be used; the message is in the reader's language."""


class Handlers:
    def __init__(self, setup: ModelSetup) -> None:
        self._setup = setup

    def open(self, state: Session, url: str) -> Updates:
        """Status, preset, address, model, and the local model. Typed text stays."""
        kept = self._setup.kept()
        if url.strip() or kept is None:
            return (self.status(state), gr.skip(), gr.skip(), gr.skip(), *self.local(state))
        model = gr.update(value=kept.model, choices=[kept.model])
        return (self.status(state), preset_of(kept.url), kept.url, model, *self.local(state))

    def choose_preset(self, state: Session, name: str, entered: str) -> Updates:
        """The preset's address, and key and model emptied: a typed key belongs to the previous address. If the preset
        has no address and the reader has entered their own, everything stays."""
        url = PRESETS[name].url if name in PRESETS else ""
        if not url and preset_of(entered) == OTHER:
            return (gr.skip(),) * 4
        return (url, self._key_box(state, url), gr.update(value=None, choices=[]), "")

    def look(self, state: Session, url: str, key: str) -> Iterator[Updates]:
        """The message, and the models to choose from."""
        texts = TEXTS[state.language]
        yield under_way(texts.looking), gr.skip()
        try:
            entered = self._entered(texts, url, key)
            names = list_models(entered.url, entered.key)
        except _Refused as refusal:
            yield problem(str(refusal)), gr.skip()
        except RagError as error:
            yield _failed(texts.look_failed, error, state), gr.skip()
        else:
            told = texts.found.format(count=f"{len(names):,}") if names else texts.found_none
            yield (
                done(told) + _warning(entered.url, texts),
                gr.update(choices=names, value=names[0] if len(names) == 1 else None),
            )

    def try_it(self, state: Session, url: str, key: str, model: str | None) -> Iterator[str]:
        texts = TEXTS[state.language]
        yield under_way(texts.trying)
        try:
            entered = self._entered(texts, url, key, model, with_model=True)
            seconds = try_model(self._open(entered), within_seconds=LONGEST_TRIAL)
        except _Refused as refusal:
            yield problem(str(refusal))
        except RagError as error:
            yield _failed(texts.failed, error, state)
        else:
            told = texts.works.format(model=entered.model, seconds=f"{seconds:.1f}")
            yield done(told) + _warning(entered.url, texts)

    def use(self, state: Session, url: str, key: str, model: str | None) -> Updates:
        """The message, the status, the key box, and the choices for the browser: whoever sets up a model wants its
        answers."""
        texts = TEXTS[state.language]
        try:
            entered = self._entered(texts, url, key, model, with_model=True)
            self._open(entered)
            self._setup.use(entered.url, entered.model, entered.key)
        except _Refused as refusal:
            return (problem(str(refusal)), gr.skip(), gr.skip(), gr.skip())
        except RagError as error:
            told = texts.not_kept.format(problem=failure(error, preferences_texts.TEXTS[state.language]))
            return (problem(told, details=error.message, summary=texts.details), gr.skip(), gr.skip(), gr.skip())
        llm = ChatModelName.ENDPOINT if self._setup.writer_fixed_by else None
        state.preferences = replace(state.preferences, llm=llm)
        told = done(texts.used.format(model=entered.model)) + _warning(entered.url, texts)
        return (
            told,
            self.status(state),
            self._key_box(state, entered.url),
            to_store(state.preferences, state.language),
        )

    def forget_key(self, state: Session, url: str) -> Updates:
        return self._forget(state, url, key_only=True)

    def forget(self, state: Session, url: str) -> Updates:
        return self._forget(state, url, key_only=False)

    def _forget(self, state: Session, url: str, *, key_only: bool) -> Updates:
        """The message, the status, and the key box."""
        texts = TEXTS[state.language]
        try:
            (self._setup.forget_key if key_only else self._setup.forget)()
        except RagError as error:
            return (problem(error.message), self.status(state), gr.skip())
        told = texts.key_forgotten if key_only else texts.forgotten
        return (done(told), self.status(state), self._key_box(state, url))

    def status(self, state: Session) -> str:
        """The endpoint that is set up, and the settings that override it, as HTML."""
        texts, kept = TEXTS[state.language], self._setup.kept()
        if self._setup.fixed_by:
            return problem(texts.fixed.format(where=self._setup.fixed_by))
        if kept is None:
            told = hint(texts.nothing)
        else:
            host = urlsplit(kept.url).netloc
            key = texts.with_key if kept.key_file else texts.without_key
            told = done(texts.in_use.format(host=host, model=kept.model, key=key))
        if self._setup.writer_fixed_by:
            told += hint(texts.writer_fixed.format(where=self._setup.writer_fixed_by))
        return told

    def start(self, state: Session) -> Updates:
        if not self._local_problem(TEXTS[state.language]):
            self._setup.download.start()
        return self.local(state)

    def cancel(self, state: Session) -> Updates:
        self._setup.download.cancel()
        return self.local(state)

    def local(self, state: Session) -> Updates:
        """The local model, the buttons that start and cancel its download, the timer that refreshes it, and whether the
        model is present."""
        texts, status = TEXTS[state.language], self._setup.download.status()
        size = _megabytes(self._setup.download.model.size)
        missing = "" if status.under_way or status.state is ModelState.PRESENT else self._local_problem(texts)
        label = texts.resume if status.state is ModelState.INTERRUPTED else texts.download.format(size=size)
        idle = not status.under_way and status.state is not ModelState.PRESENT
        return (
            self._local_html(status, texts, missing),
            gr.update(value=label, visible=idle, interactive=not missing),
            gr.update(value=texts.cancel, visible=status.under_way, interactive=not status.cancelled),
            gr.Timer(active=status.under_way),
            status.state is ModelState.PRESENT,
        )

    def speak(self, state: Session) -> Updates:
        """All texts in the reader's language, in the order of `ModelSetupComponents.spoken`."""
        texts = TEXTS[state.language]
        return (
            heading(texts),
            self.status(state),
            gr.update(label=texts.preset, choices=presets(texts)),
            gr.update(label=texts.url),
            gr.update(label=texts.key, info=texts.key_hint, placeholder=texts.key_needed),
            gr.update(value=texts.look),
            gr.update(label=texts.model, info=texts.model_hint),
            gr.update(value=texts.try_it),
            gr.update(value=texts.use),
            gr.update(value=texts.forget_key),
            gr.update(value=texts.forget),
            *self.local(state)[:3],
        )

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
        texts = TEXTS[state.language]
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
            told = HTML("progress", said=said, status=status)
        elif status.state is ModelState.PRESENT:
            told = done(texts.local_present)
        elif status.state is ModelState.INTERRUPTED:
            told = hint(texts.local_interrupted.format(**values))
        else:
            told = hint(texts.local_missing)
        if status.problem is not None:
            told += problem(texts.local_problem.format(problem=status.problem.message), details=status.problem.hint,
                            summary=texts.details)  # fmt: skip
        if missing:
            told += problem(missing)
        return HTML("section", heading=texts.local, about=about, told=told)


def heading(texts: Texts) -> str:
    return HTML("section", heading=texts.heading, about=texts.intro)


def presets(texts: Texts) -> list[tuple[str, str]]:
    return [(texts.preset_other if name == OTHER else preset.name, name) for name, preset in PRESETS.items()]


def _failed(text: str, error: RagError, state: Session) -> str:
    """A failure in the reader's language, with the client's message as details."""
    told = text.format(problem=failure(error, preferences_texts.TEXTS[state.language]))
    return problem(told, details=error.message, summary=TEXTS[state.language].details)


def _warning(url: str, texts: Texts) -> str:
    return hint(texts.plain_http) if url.startswith("http:") and not is_loopback(url) else ""


def _megabytes(count: int) -> str:
    return f"{count / MEGABYTE:,.0f} MB"
