"""Opens the web UI: `python app.py`, and `interview-rag chat`. What is missing is made first."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rag.commands.command_line import settings_from
from rag.errors import RagError, SettingsError, UsageError
from rag.paths import PROGRAM
from rag.settings import ChatModelName, Settings

if TYPE_CHECKING:
    from rag.answer.assistant import Assistant
    from rag.embedding import Embedder


DESCRIPTION = "Open the chat in the browser. What is missing is made first: embedder, index of corpus/."


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--index", type=Path, metavar="DIR", help="folder of the index (default: .interview-rag/index)")
    parser.add_argument("--host", help="address to bind to (default: 127.0.0.1, this machine only)")
    parser.add_argument("--port", type=int, help="first port to try (default: 7860)")
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings file (default: interview-rag.toml, if it is there)"
    )
    parser.add_argument(
        "--llm", choices=[str(name) for name in ChatModelName], help="who writes the answer (default: auto)"
    )
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
    from rag.ui.launch import LOOPBACK, check_host, private_environment, serve, serve_guide
    from rag.ui.texts import Language

    settings = settings_from(options, host=options.host, port=options.port, llm=options.llm)
    if settings.gold is not None and not settings.gold.is_file():
        raise SettingsError(f"setting 'gold' names no file: {settings.gold}", hint="correct the path, or leave it out")
    users = check_host(settings.host, options.auth_file)
    language = None if options.lang == "auto" else Language(options.lang)
    with private_environment():
        while True:
            try:
                assistant = _prepare(settings)
                break
            except (SettingsError, UsageError):
                raise
            except RagError as error:
                sys.stderr.write(f"error: {error.message}\n" + (f"hint: {error.hint}\n" if error.hint else ""))
                serve_guide(error, settings, host=settings.host, port=settings.port, users=users, language=language)
        from ingest.auto_update import AutoUpdate
        from ingest.library import Library
        from rag.ui.rooms import Rooms

        settings, embedder = assistant.settings, assistant.embedder
        uploads = settings.uploads if settings.uploads is not None else settings.host in LOOPBACK
        with AutoUpdate(settings, embedder) as auto_update:
            if options.watch:
                auto_update.start()
            rooms = Rooms(
                auto_update,
                Library(settings, embedder, may_change=uploads),
                settings.results or PROGRAM / "docs" / "results",
                settings.gold or _if_there(PROGRAM / "rag" / "evaluation" / "data" / "gold.jsonl"),
            )
            serve(assistant, host=settings.host, port=settings.port, users=users, rooms=rooms, language=language)
    return 0


def _prepare(settings: Settings) -> "Assistant":
    """The assistant that the settings name; what is missing is made first."""
    from rag.answer.assistant import Assistant
    from rag.chat_models.select import open_chat_model
    from rag.index import current_generation, open_index

    missing = current_generation(settings.index) is None
    if not missing:
        open_index(settings.index).close()  # a damaged one is told of before anything heavy is loaded
    chat_model = open_chat_model(settings)
    embedder = _embedder(settings)
    if missing:
        _ingest(settings, embedder)
    return Assistant(settings, embedder, chat_model=chat_model)


def _if_there(file: Path) -> Path | None:
    return file if file.is_file() else None


def _embedder(settings: Settings) -> "Embedder":
    """The embedder that the settings name; a pinned one that is missing is fetched."""
    from rag.commands.models import fetch_with_bar
    from rag.embedding import load_embedder
    from rag.models import MODELS, ModelState, list_models

    missing = {status.model.name for status in list_models(settings.models) if status.state is not ModelState.PRESENT}
    if settings.embedder in MODELS and settings.embedder in missing:
        fetch_with_bar(settings, settings.embedder)
    return load_embedder(settings)


def _ingest(settings: Settings, embedder: "Embedder") -> None:
    from ingest.progress import Bars
    from ingest.sources import default_root
    from ingest.sync import sync

    sys.stderr.write(f"making an index of {default_root()} at {settings.index}; this happens once\n")
    with Bars() as bars:
        report = sync(settings, lambda: embedder, identity=embedder.identity, progress=bars.update)
    sys.stderr.write(report.as_text())
