"""What the tests of the rooms beside the chat share."""

import asyncio
from dataclasses import fields
from typing import Any, TypeVar

from rag.answer.assistant import Assistant
from rag.ui.app.page import Rooms, build_page

NASTY = '<img src=x onerror="window.ran = 1">'

Components = TypeVar("Components")


def named(components: type[Components]) -> Components:
    """A room's components without a page: in the place of each stands its name, so that updates are told apart."""
    return components(**{field.name: field.name for field in fields(components)})  # type: ignore[arg-type]


def built(assistant: Assistant, rooms: Rooms | None = None) -> Any:
    """The page; Gradio makes an event loop of its own, and leaves it open, where none is running."""

    async def build() -> Any:
        return build_page(assistant, rooms=rooms)

    return asyncio.run(build())
