"""What of Gradio itself is switched off."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from importlib.resources import files

from ingest.library import Library
from ingest.updates.auto_update import AutoUpdate
from rag.answer.assistant import Assistant
from rag.ui.app.lean_gradio import WRITER, WRITES
from rag.ui.app.page import Rooms
from rag.ui.app.policy import CLOCK
from rag.ui.model_setup.setup import ModelSetup
from tests.rag.ui.rooms import built


def test_what_writes_them_is_still_called_so_and_does_nothing() -> None:
    """The tests import Gradio as the program does."""
    writer = import_module(WRITER)
    assert f"{WRITES}(component_class" in inspect.getsource(writer.ComponentMeta)
    assert getattr(writer, WRITES).__module__ == "rag.ui.app.lean_gradio"


def test_what_its_server_is_made_of_is_not_loaded_with_it_and_can_be_afterwards() -> None:
    code = "import sys; from rag.ui.app.lean_gradio import lighten_gradio; lighten_gradio();"
    code += "import gradio; print('mcp' in sys.modules); import mcp; print(mcp.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["False", "mcp"]


def test_the_clock_that_the_page_stops_is_the_one_of_what_gradio_waits_for() -> None:
    """By its source, which another version may write differently; nothing else that Gradio's scripts do is stopped."""
    scripts = files("gradio").joinpath("templates/frontend/assets").iterdir()
    clock = re.compile(CLOCK.removeprefix("^"))
    with_it = {file.name for file in scripts if file.name.endswith(".js") and clock.search(file.read_text("utf-8"))}
    assert [name.partition("-")[0] for name in with_it] == ["statustracker"]


def test_no_event_shows_how_long_it_takes(assistant: Assistant) -> None:
    """Its frame and its seconds would flash over whatever the event changes."""
    library = Library(assistant.settings, assistant.embedder, may_change=True)
    auto_update = AutoUpdate(assistant.settings, assistant.embedder)
    page = built(assistant, Rooms(auto_update, library, setup=ModelSetup(assistant, assistant.settings)))
    assert len(page.fns) > 50
    assert [call.name for call in page.fns.values() if call.show_progress != "hidden"] == []
