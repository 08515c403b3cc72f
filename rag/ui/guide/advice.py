"""What is missing at the start -> a message for the reader, and the command that makes it."""

from dataclasses import dataclass

from rag.errors import (
    ChatModelError,
    IndexCorruptError,
    IndexLockedError,
    IndexMismatchError,
    IndexMissingError,
    IngestError,
    ModelError,
    RagError,
    as_called,
)
from rag.settings import Settings
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("guide/advice.html")
REBUILD = "python -m ingest --rebuild"


@dataclass(frozen=True, slots=True)
class Advice:
    """`what` names the field of Texts that says what is missing; `command` makes it, if a single one does."""

    what: str
    command: str


def advise(problem: RagError, settings: Settings) -> Advice:
    match problem:
        case ModelError():
            return Advice("embedder_missing", f"python -m rag models fetch {settings.embedder}")
        case IndexMissingError():
            return Advice("index_missing", "python -m ingest")
        case IndexCorruptError():
            return Advice("index_damaged", REBUILD)
        case IndexMismatchError():
            return Advice("index_mismatch", REBUILD)
        case IndexLockedError():
            return Advice("index_locked", "")
        case IngestError():
            return Advice("ingest_failed", "python -m ingest")
        case ChatModelError():
            return Advice("model_missing", "make llm")
        case _:
            return Advice("other", "")


def guide_html(problem: RagError, settings: Settings, texts: Texts) -> str:
    advice = advise(problem, settings)
    place = "" if settings.index == Settings.model_fields["index"].default else f" --index {settings.index}"
    command = advice.command + (place if advice.command.startswith("python -m ingest") else "")
    told = getattr(texts, advice.what)
    return HTML("advice", told=told, command=as_called(command) if command else "", problem=problem, texts=texts)
