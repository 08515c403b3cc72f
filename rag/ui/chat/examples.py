"""Example questions, taken from the material itself."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from rag.index.storage import StoredDocument
from rag.language.language import has_chinese
from rag.ui.texts import Language

COUNT = 6
# A longer question does not fit on a button.
MAX_CHARACTERS = {Language.ZH: 40, Language.EN: 80}


def example_questions(documents: Iterable[StoredDocument], language: Language) -> list[str]:
    """Questions that documents have as title or alternative name, alternating between topics (folders); deterministic.

    If the material has none in the language, those in the other one.
    """
    documents = sorted(documents, key=lambda document: document.name)
    other = Language.EN if language is Language.ZH else Language.ZH
    return (_spread(documents, language) or _spread(documents, other))[:COUNT]


def _spread(documents: Sequence[StoredDocument], language: Language) -> list[str]:
    topics: dict[str, dict[str, None]] = {}
    for document in documents:
        question = _question(document, language)
        if question:
            topics.setdefault(document.name.rpartition("/")[0], {})[question] = None
    rounds = zip_longest(*topics.values())
    return [question for questions in rounds for question in questions if question]


def _question(document: StoredDocument, language: Language) -> str | None:
    for text in (document.title, *document.asked_as):
        written_in = Language.ZH if has_chinese(text) else Language.EN
        if text.endswith(("？", "?")) and written_in is language and len(text) <= MAX_CHARACTERS[language]:
            return text
    return None
