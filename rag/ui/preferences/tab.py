"""A reader's settings (who writes, how much, how strictly, and how the page looks): their components, and the handlers
of their events."""

from collections.abc import Callable
from typing import Any

import gradio as gr

from rag.answer.assistant import Assistant
from rag.answer.choices import Caution, StyleName
from rag.settings import ChatModelName
from rag.ui.elements import hint, introduction
from rag.ui.preferences.handlers import PreferencesComponents, PreferencesHandlers, choices_of, models, themes
from rag.ui.preferences.stored import limits
from rag.ui.session.part import AT_ONCE, EACH, PagePart, in_turn
from rag.ui.texts import PREFERENCES_TEXTS, Language, Texts

# One model is tested at a time.
TRYING = in_turn("tests")

# A moment after a room appears, Gradio resets its components to their initial values. That would close a fold opened in
# the meantime, unless Gradio knows that it is open.
KNOWN = "() => ({{ __type__: 'update', open: {} }})"


def build_preferences(
    assistant: Assistant,
    session: gr.State,
    storage: gr.BrowserState,
    writer: gr.HTML,
    tab: gr.Tab,
    first: Language,
    on_change: Callable[[Any], None],
    model_setup: Callable[[], PagePart] | None,
) -> list[PagePart]:
    """Build the settings in their tab. `storage` is the browser's copy of them; `writer` sends the writer chosen beside
    the question; `on_change` is called with every event that changes a setting, so that the rest of the page can
    refresh. `model_setup` builds the setup of a chat model; None for readers who may not set one up."""
    more: list[PagePart] = []

    def set_up() -> None:
        if model_setup is not None:
            more.append(model_setup())

    parts = _components(PREFERENCES_TEXTS[first], assistant.settings.top_k, tab, storage, set_up)
    handlers = PreferencesHandlers(assistant, parts, may_change=model_setup is not None)
    for event in _wire(parts, handlers, session, writer):
        on_change(event)
    settled = tuple(parts.fields[1:])  # setting up a model also changes who writes
    return [PagePart(parts.with_texts, handlers.speak, settled=settled), *more]


def _components(
    texts: Texts, default_k: int, tab: gr.Tab, storage: gr.BrowserState, set_up: Callable[[], None]
) -> PreferencesComponents:
    """`set_up` builds the components that come first."""
    with gr.Column(elem_classes="room"):
        head = gr.HTML(introduction(texts.heading, texts.intro))
        set_up()
        with gr.Accordion(texts.who, open=False, elem_id="preferences-who") as who:
            llm = gr.Radio(models(texts), value=str(ChatModelName.AUTO), label=texts.llm, elem_id="preferences-llm")
            states = gr.HTML(elem_id="preferences-states")
            notice = gr.HTML(elem_id="preferences-notice")
            with gr.Row():
                test = gr.Button(texts.test, size="sm", scale=0, min_width=140, elem_id="preferences-test")
                test_hint = gr.HTML(hint(texts.test_hint))
            tested = gr.HTML(elem_id="preferences-tested")
        with gr.Accordion(texts.answers, open=False, elem_id="preferences-answers") as answers:
            style = gr.Radio(
                choices_of(texts, "style", StyleName), value="standard", label=texts.style, elem_id="preferences-style"
            )
            caution = gr.Radio(
                choices_of(texts, "caution", Caution), value="balanced", label=texts.caution, info=texts.caution_hint,
                elem_id="preferences-caution",
            )  # fmt: skip
        with gr.Accordion(texts.more, open=False, elem_id="preferences-more") as more:
            only = gr.Checkbox(label=texts.only_supported, elem_id="preferences-only")
            top_k = gr.Slider(
                *limits("top_k"), value=default_k, step=1, label=texts.top_k, info=texts.top_k_hint,
                elem_id="preferences-top-k",
            )  # fmt: skip
        with gr.Accordion(texts.looks, open=False, elem_id="preferences-looks") as looks:
            theme = gr.Radio(themes(texts), value="system", label=texts.theme, elem_id="preferences-theme")
            language = gr.HTML(hint(texts.language_hint))
        with gr.Row():
            reset = gr.Button(texts.reset, size="sm", scale=0, min_width=160, elem_id="preferences-reset")
        where = gr.HTML(elem_id="preferences-where")
    return PreferencesComponents(
        tab=tab,
        storage=storage,
        heading=head,
        who=who,
        llm=llm,
        states=states,
        notice=notice,
        test=test,
        test_hint=test_hint,
        tested=tested,
        answers=answers,
        style=style,
        caution=caution,
        more=more,
        only=only,
        top_k=top_k,
        looks=looks,
        theme=theme,
        language=language,
        reset=reset,
        where=where,
    )


def _wire(parts: PreferencesComponents, handlers: PreferencesHandlers, session: gr.State, writer: gr.HTML) -> list[Any]:
    """Attach the handlers. Returns the events that change a setting, except the theme, which the browser handles itself
    (theme.js)."""
    inputs = [parts.llm.input, parts.style.input, parts.caution.input, parts.only.input, parts.top_k.release]
    chosen = [parts.storage, parts.llm, parts.notice, parts.where, parts.tested]
    changed = gr.on(inputs, handlers.choose, [session, *parts.fields], chosen, **EACH)
    written = writer.input(handlers.write_with, session, [parts.storage, parts.llm, parts.where], **EACH)
    emptied = [parts.storage, parts.notice, *parts.fields, parts.where]
    forgotten = parts.reset.click(handlers.forget, session, emptied, **AT_ONCE)

    for fold in parts.folds:
        fold.expand(None, None, fold, js=KNOWN.format("true"), **AT_ONCE)
        fold.collapse(None, None, fold, js=KNOWN.format("false"), **AT_ONCE)
    theme = parts.theme
    parts.reset.click(None, None, theme, js="() => { window.chooseTheme('system'); return 'system'; }", **AT_ONCE)
    theme.input(None, theme, None, js="(name) => { window.chooseTheme(name); }", **AT_ONCE)
    parts.tab.select(None, None, theme, js="() => window.chosenTheme()", **AT_ONCE)
    parts.tab.select(handlers.states, session, parts.states, **AT_ONCE)
    parts.test.click(handlers.try_it, session, parts.tested, **TRYING)
    return [changed, written, forgotten]
