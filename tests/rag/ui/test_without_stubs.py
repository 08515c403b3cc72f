"""Gradio is imported without writing type stubs."""

import inspect
from importlib import import_module

from rag.ui.without_stubs import WRITER, WRITES


def test_what_writes_them_is_still_called_so_and_does_nothing() -> None:
    """The tests import Gradio as the program does."""
    writer = import_module(WRITER)
    assert f"{WRITES}(component_class" in inspect.getsource(writer.ComponentMeta)
    assert getattr(writer, WRITES).__module__ == "rag.ui.without_stubs"
