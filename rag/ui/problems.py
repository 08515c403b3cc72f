"""What went wrong -> what a reader is told, in the reader's language, with the way out."""

from rag.errors import RagError
from rag.ui.texts import Texts

INGEST = "python -m ingest"
REBUILD = f"{INGEST} --rebuild"
# The sentence for a code of rag.errors, and the command that it names.
SENTENCES = {
    "index_missing": ("index_missing", INGEST),
    "index_corrupt": ("index_damaged", REBUILD),
    "index_mismatch": ("index_damaged", REBUILD),
    "index_locked": ("index_locked", ""),
    "model": ("model_missing", "python -m rag models fetch"),
    "chat_model": ("model_failed", ""),
    "ingest": ("ingest_failed", ""),
    "user_data": ("data_unkept", ""),
}


def tell(error: RagError, texts: Texts) -> str:
    """One paragraph of plain text; what only the error knows stands at its end, as the error says it."""
    return tell_parts(error.code, error.message, error.hint, texts)


def tell_parts(code: str, message: str, hint: str, texts: Texts) -> str:
    """The same, of an error that was kept as its parts."""
    if code not in SENTENCES:
        return f"{message}. {hint}" if hint else message
    field, command = SENTENCES[code]
    sentence = str(getattr(texts, field)).format(command=command)
    return sentence + texts.details.format(details=message)
