"""Errors -> messages in the reader's language, with the way out."""

from rag.answer.written.writer import OF_THE_REPLY
from rag.errors import ChatModelProblem, ModelError, RagError, as_called
from rag.ui.browser_input import member_of
from rag.ui.texts import Texts

INGEST = "python -m ingest"
REBUILD = f"{INGEST} --rebuild"
# The sentence for a code of rag.errors, and the command that it names.
SENTENCES = {
    "index_missing": ("index_missing", INGEST),
    "index_corrupt": ("index_damaged", REBUILD),
    "index_mismatch": ("index_damaged", REBUILD),
    "index_locked": ("index_locked", ""),
    "model": ("model_missing", "python -m rag models list"),
    "chat_model": ("model_failed", ""),
    "ingest": ("ingest_failed", ""),
    "user_data": ("data_unkept", ""),
}
# What a reader can check in the settings.
OF_THE_CONNECTION = frozenset(ChatModelProblem) - OF_THE_REPLY


def tell(error: RagError, texts: Texts) -> str:
    """One paragraph of plain text, with the error's own message at its end."""
    if error.code not in SENTENCES:
        return f"{error.message}. {error.hint}" if error.hint else error.message
    sentence, command = sentence_of(error, texts)
    return sentence.format(command=command) + texts.details.format(details=error.message)


def sentence_of(error: RagError, texts: Texts) -> tuple[str, str]:
    """The reader's message for an error whose code is in SENTENCES, and the command for its {command}."""
    field, command = SENTENCES[error.code]
    fetch = error.fetch if isinstance(error, ModelError) else ""
    return str(getattr(texts, field)), as_called(fetch or command)


def tell_fallback(code: str, texts: Texts) -> str:
    """Why quotes replaced a chat model's answer; `code` is `Answer.fallback`."""
    known = member_of(ChatModelProblem, code) or ChatModelProblem.FAILED
    why = getattr(texts, "fallback_" + known)
    return str(texts.fallback).format(why=why) + (texts.fallback_settings if known in OF_THE_CONNECTION else "")
