"""The components of the chat that its handlers update."""

from dataclasses import dataclass
from typing import Any

import gradio as gr


@dataclass(frozen=True, slots=True)
class ChatComponents:
    new: gr.Button
    sought: gr.Textbox
    listing: gr.HTML
    conversation: gr.Chatbot
    strip: gr.HTML
    bar: gr.HTML
    attach: gr.UploadButton
    attached: gr.HTML
    offers: gr.HTML
    reading: gr.Timer
    question: gr.Textbox
    send: gr.Button
    stop: gr.Button
    switch: gr.Checkbox
    updating: gr.HTML
    updates: gr.HTML
    clock: gr.Timer
    privacy: gr.HTML
    scope: gr.HTML
    sources: gr.HTML
    whole: gr.HTML
    parcel: gr.HTML

    @property
    def view(self) -> list[Any]:
        """The conversation, and what may change with it."""
        return [
            self.conversation,
            self.sources,
            self.send,
            self.stop,
            self.strip,
            self.listing,
            self.privacy,
            self.scope,
        ]

    @property
    def with_texts(self) -> tuple[Any, ...]:
        """The components with texts."""
        labels = (self.question, self.new, self.sought, self.bar, self.attach, self.attached, self.reading)
        return (*labels, self.switch, self.updating, self.updates, self.clock, *self.view)
