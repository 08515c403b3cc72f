"""Event handlers of the settings; each returns the updates of the components that it changes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr
from gradio.blocks import Block

from rag.answer.assistant import Assistant
from rag.answer.choices import Caution, Choices, StyleName
from rag.chat_models.select import Answerers
from rag.errors import RagError
from rag.settings import ChatModelName
from rag.ui.chat.exchange import writer_of
from rag.ui.elements import done, hint, introduction, problem, under_way
from rag.ui.preferences.models import (
    HTML,
    answerer,
    failure,
    places,
    problem_of,
    states_html,
    try_model,
    way_out,
)
from rag.ui.preferences.stored import from_store, to_store
from rag.ui.session.part import UNCHANGED, Updates
from rag.ui.session.session import Session
from rag.ui.texts import PREFERENCES_TEXTS, Language, Texts

THEMES = ("system", "light", "dark")


@dataclass(frozen=True, slots=True)
class PreferencesComponents:
    """`kept` is the browser's copy of the settings."""

    tab: gr.Tab
    storage: gr.BrowserState
    heading: gr.HTML
    who: gr.Accordion
    llm: gr.Radio
    states: gr.HTML
    notice: gr.HTML
    test: gr.Button
    test_hint: gr.HTML
    tested: gr.HTML
    answers: gr.Accordion
    style: gr.Radio
    caution: gr.Radio
    more: gr.Accordion
    only: gr.Checkbox
    top_k: gr.Slider
    looks: gr.Accordion
    theme: gr.Radio
    language: gr.HTML
    reset: gr.Button
    where: gr.HTML

    @property
    def fields(self) -> list[Any]:
        """As `PreferencesHandlers.choose` takes them."""
        return [self.llm, self.style, self.caution, self.only, self.top_k]

    @property
    def folds(self) -> tuple[gr.Accordion, ...]:
        return (self.who, self.answers, self.more, self.looks)

    @property
    def with_texts(self) -> tuple[Any, ...]:
        """The components with texts."""
        others = (*self.folds, self.theme, self.language, self.test, self.test_hint, self.reset, self.where)
        return (self.tab, self.heading, self.states, *self.fields, *others)


class PreferencesHandlers:
    def __init__(self, assistant: Assistant, parts: PreferencesComponents, *, may_change: bool) -> None:
        self._assistant = assistant
        self._parts = parts
        self._may_change = may_change
        self._answerers = Answerers(lambda: assistant.settings)

    def choose(self, state: Session, llm: str, style: str, caution: str, only: bool, top_k: float) -> Updates:
        """Apply the chosen settings. A chat model that cannot be used is reported, and the previous one stays."""
        wanted, _ = from_store({"llm": llm, "style": style, "caution": caution, "only_supported": only, "top_k": top_k})
        if wanted.top_k == self._assistant.settings.top_k:
            wanted = replace(wanted, top_k=None)
        texts, notice = PREFERENCES_TEXTS[state.language], ""
        error = problem_of(self._assistant, wanted.llm)
        if error is not None:
            notice = self._refusal(texts, ChatModelName(llm), error)
            wanted = replace(wanted, llm=state.preferences.llm)
        state.preferences = wanted
        return {
            self._parts.storage: to_store(wanted, state.language),
            self._parts.llm: str(wanted.llm or ChatModelName.AUTO),
            self._parts.notice: notice,
            self._parts.where: _where(writer_of(self._assistant, wanted), texts),
            self._parts.tested: "",
        }

    def write_with(self, state: Session, event: gr.EventData) -> Updates:
        """Apply the writer chosen beside the question, if it can be used."""
        data: Any = event._data
        wanted, _ = from_store({"llm": data.get("name") if isinstance(data, dict) else None})
        if wanted.llm is None or problem_of(self._assistant, wanted.llm) is not None:
            return UNCHANGED
        state.preferences = replace(state.preferences, llm=wanted.llm)
        return {
            self._parts.storage: to_store(state.preferences, state.language),
            self._parts.llm: str(wanted.llm),
            self._parts.where: _where(writer_of(self._assistant, state.preferences), PREFERENCES_TEXTS[state.language]),
        }

    def forget(self, state: Session) -> Updates:
        state.preferences = Choices()
        return self.values(state) | {
            self._parts.storage: to_store(Choices(), state.language),
            self._parts.notice: "",
            self._parts.where: _where(self._assistant, PREFERENCES_TEXTS[state.language]),
        }

    def values(self, state: Session) -> Updates:
        """Of the fields."""
        chosen = state.preferences
        return {
            self._parts.llm: str(chosen.llm or ChatModelName.AUTO),
            self._parts.style: str(chosen.style),
            self._parts.caution: str(chosen.caution),
            self._parts.only: chosen.only_supported,
            self._parts.top_k: chosen.top_k or self._assistant.settings.top_k,
        }

    def try_it(self, state: Session) -> Iterator[str]:
        texts = PREFERENCES_TEXTS[state.language]
        yield under_way(texts.testing)
        try:
            chosen = self._assistant.choosing(state.preferences)
            model = chosen.resources.chat_model
            if model is None:
                yield hint(texts.test_nothing)
                return
            seconds = try_model(model)
        except RagError as error:
            notice = texts.test_failed.format(problem=failure(error, texts))
            yield problem(notice, details=error.message, summary=texts.test_details)
            return
        yield done(texts.test_done.format(model=answerer(chosen).model, seconds=f"{seconds:.1f}"))

    def states(self, state: Session) -> str:
        """The writers that can be used now, and why others cannot, as HTML."""
        texts, settings = PREFERENCES_TEXTS[state.language], self._assistant.settings
        return states_html(settings, self._answerers.usable(), texts, may_change=self._may_change)

    def speak(self, state: Session) -> Updates:
        """All texts in the reader's language."""
        texts, parts = PREFERENCES_TEXTS[state.language], self._parts
        words: dict[Block, dict[str, Any]] = {
            parts.llm: {"label": texts.llm, "choices": models(texts)},
            parts.style: {"label": texts.style, "choices": choices_of(texts, "style", StyleName)},
            parts.caution: {
                "label": texts.caution, "choices": choices_of(texts, "caution", Caution), "info": texts.caution_hint,
            },
            parts.only: {"label": texts.only_supported},
            parts.top_k: {"label": texts.top_k, "info": texts.top_k_hint},
        }  # fmt: skip
        return {
            **{field: gr.update(value=value, **words[field]) for field, value in self.values(state).items()},
            parts.tab: gr.update(label=texts.tab),
            parts.heading: introduction(texts.heading, texts.intro),
            parts.states: self.states(state),
            parts.who: gr.update(label=texts.who),
            parts.answers: gr.update(label=texts.answers),
            parts.more: gr.update(label=texts.more),
            parts.looks: gr.update(label=texts.looks),
            parts.theme: gr.update(label=texts.theme, choices=themes(texts)),
            parts.language: hint(texts.language_hint),
            parts.test: gr.update(value=texts.test),
            parts.test_hint: hint(texts.test_hint),
            parts.reset: gr.update(value=texts.reset),
            parts.where: _where(writer_of(self._assistant, state.preferences), texts),
        }

    def _refusal(self, texts: Texts, llm: ChatModelName, error: RagError) -> str:
        way = way_out(llm, texts, may_change=self._may_change)
        return problem(
            texts.unusable.format(name=getattr(texts, f"llm_{llm}"), way=way, problem=error.message),
        )


def take(assistant: Assistant, state: Session, stored: object) -> Language | None:
    """Load the choices that the browser stored into a session. Returns the chosen language; None if none was chosen. A
    chat model that can no longer be used counts as not chosen."""
    choices, language = from_store(stored)
    if problem_of(assistant, choices.llm) is not None:
        choices = replace(choices, llm=None)
    state.preferences = choices
    return language


def models(texts: Texts) -> list[tuple[str, str]]:
    return [(getattr(texts, f"llm_{name}"), str(name)) for name in ChatModelName]


def choices_of(texts: Texts, field: str, names: Any) -> list[tuple[str, str]]:
    return [(getattr(texts, f"{field}_{name}"), str(name)) for name in names]


def themes(texts: Texts) -> list[tuple[str, str]]:
    return [(getattr(texts, f"theme_{name}"), name) for name in THEMES]


def _where(assistant: Assistant, texts: Texts) -> str:
    return HTML("where", places=places(assistant, texts), texts=texts)
