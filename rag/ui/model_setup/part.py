"""The chat model setup in the settings: its components, and the handlers of their events."""

from collections.abc import Callable
from typing import Any

import gradio as gr

from rag.models import ModelState
from rag.ui.assets import read_asset
from rag.ui.model_setup.handlers import ModelSetupComponents, ModelSetupHandlers, heading, presets
from rag.ui.model_setup.setup import ModelSetup
from rag.ui.session.part import AT_ONCE, PagePart, in_turn
from rag.ui.texts import MODEL_SETUP_TEXTS, Language, Texts

# Seconds between two refreshes during a download.
LOOK_SECONDS = 0.7
# One endpoint is asked at a time.
ASKING = in_turn("set up")


def build_model_setup(
    setup: ModelSetup,
    session: gr.State,
    storage: gr.BrowserState,
    tab: gr.Tab,
    first: Language,
    on_change: Callable[[Any], None],
) -> PagePart:
    """Build the chat model setup. Only for readers who may change everyone's chat model, which the caller has
    checked."""
    parts = _components(setup, storage, MODEL_SETUP_TEXTS[first])
    handlers = ModelSetupHandlers(setup, parts)
    for event in _wire(parts, handlers, session, tab):
        on_change(event)
    return PagePart(parts.with_texts, handlers.speak)


def _components(setup: ModelSetup, storage: gr.BrowserState, texts: Texts) -> ModelSetupComponents:
    free = not setup.fixed_by
    small: dict[str, Any] = {"size": "sm", "scale": 0, "min_width": 120, "interactive": free}
    with gr.Column(elem_id="model-setup"):
        head = gr.HTML(heading(texts))
        status = gr.HTML(elem_id="model-status")
        preset = gr.Radio(presets(texts), label=texts.preset, elem_id="model-preset", interactive=free)
        url = gr.Textbox(label=texts.url, elem_id="model-url", max_lines=1, max_length=2_000, interactive=free)
        key = gr.Textbox(
            label=texts.key, info=texts.key_hint, placeholder=texts.key_needed, type="password", elem_id="model-key",
            max_lines=1, interactive=free, html_attributes=gr.InputHTMLAttributes(spellcheck=False),
        )  # fmt: skip
        with gr.Row():
            look = gr.Button(texts.look, elem_id="model-look", **small)
        model = gr.Dropdown(
            [], label=texts.model, info=texts.model_hint, allow_custom_value=True, value=None, elem_id="model-name",
            interactive=free,
        )  # fmt: skip
        notice = gr.HTML(elem_id="model-told", js_on_load=read_asset("model_setup/key_box.js"))
        with gr.Row():
            test = gr.Button(texts.try_it, elem_id="model-test", **small)
            use = gr.Button(texts.use, variant="primary", elem_id="model-use", **small)
            forget_key = gr.Button(texts.forget_key, elem_id="model-forget-key", **small)
            forget = gr.Button(texts.forget, elem_id="model-forget", **small)
        local = gr.HTML(elem_id="model-local")
        with gr.Row():
            download = gr.Button(elem_id="model-download", size="sm", scale=0, min_width=160)
            cancel = gr.Button(texts.cancel, elem_id="model-cancel", size="sm", scale=0, min_width=120, visible=False)
        arrived = gr.State(setup.download.status().state is ModelState.PRESENT)
    return ModelSetupComponents(
        storage=storage,
        heading=head,
        status=status,
        preset=preset,
        url=url,
        key=key,
        look=look,
        model=model,
        test=test,
        use=use,
        forget_key=forget_key,
        forget=forget,
        notice=notice,
        local=local,
        download=download,
        cancel=cancel,
        clock=gr.Timer(LOOK_SECONDS, active=False),
        arrived=arrived,
    )


def _wire(parts: ModelSetupComponents, handlers: ModelSetupHandlers, session: gr.State, tab: gr.Tab) -> list[Any]:
    """Attach the handlers. Returns the events after which the writer may have changed, so that the rest of the page can
    refresh."""
    entered = [session, parts.url, parts.key]
    opened = [parts.status, parts.preset, parts.url, parts.model, *parts.local_view]
    tab.select(handlers.open, [session, parts.url], opened, **AT_ONCE)
    chosen = [parts.url, parts.key, parts.model, parts.notice]
    parts.preset.input(handlers.choose_preset, [session, parts.preset, parts.url], chosen, **AT_ONCE)
    parts.look.click(handlers.look, entered, [parts.notice, parts.model], **ASKING)
    parts.test.click(handlers.try_it, [*entered, parts.model], parts.notice, **ASKING)

    outputs = [parts.notice, parts.status, parts.key]
    used = parts.use.click(handlers.use, [*entered, parts.model], [*outputs, parts.storage], **AT_ONCE)
    without_key = parts.forget_key.click(handlers.forget_key, [session, parts.url], outputs, **AT_ONCE)
    without = parts.forget.click(handlers.forget, [session, parts.url], outputs, **AT_ONCE)

    parts.download.click(handlers.start, session, parts.local_view, **AT_ONCE)
    parts.cancel.click(handlers.cancel, session, parts.local_view, **AT_ONCE)
    parts.clock.tick(handlers.local, session, parts.local_view, **AT_ONCE)
    arrived = parts.arrived.change(lambda: None, None, None, **AT_ONCE)
    return [used, without_key, without, arrived]
