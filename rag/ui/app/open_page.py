"""Opens the web UI: `python app.py`, and `interview-rag chat`. First makes whatever is missing."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rag.cli import add_llm, add_paths, settings_from
from rag.errors import RagError, SettingsError, UsageError
from rag.paths import PROGRAM
from rag.settings import Settings

if TYPE_CHECKING:
    from ingest.workers import File
    from rag.answer.assistant import Assistant
    from rag.embedding import Embedder
    from rag.ui.guide.preparing import Preparation, PreparationStep

# Documents read before the chat opens, with ready vectors and without: some seconds, half a minute on a laptop.
FIRST_READY, FIRST_DOCUMENTS = 32, 24


DESCRIPTION = "Open the chat in the browser. What is missing is made first: embedder, index of corpus/."


def add_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "--config", "--index")
    parser.add_argument("--host", help="address to bind to (default: 127.0.0.1, this machine only)")
    parser.add_argument("--port", type=int, help="first port to try (default: 7860)")
    add_llm(parser)
    parser.add_argument(
        "--lang", choices=["auto", "zh", "en"], default="auto", help="interface language (default: the browser's)"
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="update the index whenever documents change; the page has a switch for it too",
    )
    parser.add_argument(
        "--auth-file",
        type=Path,
        metavar="FILE",
        help="who may sign in, lines user:password; needed beyond this machine",
    )


def open_page(options: argparse.Namespace) -> int:
    from rag.server.address import LOOPBACK
    from rag.ui.app.launch import Door, check_host, private_environment, serve, serve_guide, serve_preparing
    from rag.ui.texts import Language

    settings = settings_from(options, host=options.host, port=options.port, llm=options.llm)
    if settings.gold is not None and not settings.gold.is_file():
        raise SettingsError(f"setting 'gold' names no file: {settings.gold}", hint="correct the path, or leave it out")
    users = check_host(settings.host, options.auth_file)
    door = Door(settings.host, settings.port, users, None if options.lang == "auto" else Language(options.lang))
    with private_environment():
        while True:
            try:
                assistant = serve_preparing(partial(_make, settings), door) if _is_first(settings) else _open(settings)
                break
            except (SettingsError, UsageError):
                raise
            except RagError as error:
                sys.stderr.write(f"error: {error.message}\n" + (f"hint: {error.hint}\n" if error.hint else ""))
                serve_guide(error, settings, door)
        from ingest.library import Library
        from ingest.updates.auto_update import AutoUpdate
        from ingest.updates.first_reading import UNFINISHED_FILE
        from rag.ui.app.page import Rooms
        from rag.ui.model_setup.setup import ModelSetup

        setup = ModelSetup(assistant, settings)
        settings, embedder = assistant.settings, assistant.embedder
        uploads = settings.uploads if settings.uploads is not None else settings.host in LOOPBACK
        with AutoUpdate(settings, embedder) as auto_update, setup:
            if options.watch:
                auto_update.start()
            elif (unfinished := settings.index / UNFINISHED_FILE).exists():
                auto_update.run_once(then=partial(unfinished.unlink, missing_ok=True))
            rooms = Rooms(
                auto_update,
                Library(settings, embedder, may_change=uploads),
                settings.results or PROGRAM / "docs" / "results",
                settings.gold or _if_there(PROGRAM / "rag" / "evaluation" / "data" / "gold.jsonl"),
                setup,
            )
            serve(assistant, door, rooms)
    return 0


def _is_first(settings: Settings) -> bool:
    """Whether something slow must be made first."""
    from rag.index.stores import open_store

    return not open_store(settings).is_there() or _is_to_fetch(settings)


def _is_to_fetch(settings: Settings) -> bool:
    from rag.models import ModelState, list_models

    states = {status.model.name: status.state for status in list_models(settings.models)}
    return states.get(settings.embedder, ModelState.PRESENT) is not ModelState.PRESENT


def _open(settings: Settings) -> "Assistant":
    """The assistant that the settings name; reports a damaged index before loading anything heavy."""
    from rag.answer.assistant import Assistant
    from rag.chat_models.stored_endpoint import open_kept
    from rag.embedding import load_embedder
    from rag.index.stores import open_store

    open_store(settings).open().close()
    settings, chat_model = open_kept(settings)
    return Assistant(settings, load_embedder(settings), chat_model=chat_model)


def _make(settings: Settings, preparation: "Preparation") -> "Assistant":
    """The assistant, after making what is missing: the embedder, and an index of the first documents."""
    from rag.answer.assistant import Assistant
    from rag.chat_models.stored_endpoint import open_kept
    from rag.embedding import load_embedder
    from rag.index.stores import open_store
    from rag.models.fetch import fetch_with_bar
    from rag.ui.guide.preparing import PreparationStep

    settings, chat_model = open_kept(settings)
    if _is_to_fetch(settings):
        fetch_with_bar(settings, settings.embedder, tell=partial(preparation.tell, PreparationStep.FETCH))
    preparation.tell(PreparationStep.LOAD)
    embedder = load_embedder(settings)
    if not open_store(settings).is_there():
        index_the_first(settings, embedder, preparation.tell)
    return Assistant(settings, embedder, chat_model=chat_model)


def index_the_first(
    settings: Settings, embedder: "Embedder", tell: "Callable[[PreparationStep, int, int], None]"
) -> None:
    """Index the first documents; the others follow while readers ask."""
    from ingest.progress import Bars
    from ingest.ready_vectors import ready_vectors
    from ingest.sources import default_root
    from ingest.sync import Stage, sync
    from ingest.updates.first_reading import UNFINISHED_FILE, spread
    from rag.ui.guide.preparing import PreparationStep

    settings.index.mkdir(parents=True, exist_ok=True)
    (settings.index / UNFINISHED_FILE).touch()
    sys.stderr.write(f"making an index of {default_root()} at {settings.index}; this happens once\n")
    with Bars() as bars:
        vectors = ready_vectors(embedder.identity, settings.passage_tokens)

        def some(new: "Sequence[File]", known: "Sequence[File]") -> "Sequence[File]":
            ready = [file for file in new if vectors.hold(file.path)]
            return spread(ready, FIRST_READY) if ready else spread(new, FIRST_DOCUMENTS)

        def progress(stage: Stage, done: int, total: int) -> None:
            bars.update(stage, done, total)
            tell(PreparationStep(stage), done, total)

        report = sync(
            settings, lambda: embedder, identity=embedder.identity, choose=some, complete=False, progress=progress
        )
    sys.stderr.write(report.as_text())


def _if_there(file: Path) -> Path | None:
    return file if file.is_file() else None
