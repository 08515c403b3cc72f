"""The interface of the compared systems: what they search, what they return, and how that is read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from rag.answer.assistant import Assistant
from rag.evaluation.retrieval.embedding_cache import CachedEmbedder
from rag.types import Passage

# Documents and characters that the measures look at.
DOCUMENTS = 10
CHARACTERS = 3_000


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A retrieved passage: its text, and the ids of the documents that contain it, its own before those that repeat
    it."""

    text: str
    documents: tuple[str, ...]


@dataclass(frozen=True)
class SystemInputs:
    """What a system is built from. `texts` maps document ids to their texts as ingested; `names` maps document names in
    the index to ids."""

    assistant: Assistant
    embedder: CachedEmbedder
    texts: Mapping[str, str]
    names: Mapping[str, str]

    def with_documents(self, passages: Iterable[Passage]) -> list[RetrievedPassage]:
        """Passages of our index with the ids of their documents."""
        return [
            RetrievedPassage(
                p.text, tuple(dict.fromkeys(self.names[n] for n in (p.document, *(q.document for q in p.also_in))))
            )
            for p in passages
        ]


System = Callable[[str, int], Sequence[RetrievedPassage]]
"""A question and the number of passages wanted -> the passages, best first; fewer only if there are no more."""
Builder = Callable[[SystemInputs], System]


def document_ranking(passages: Iterable[RetrievedPassage]) -> list[str]:
    """Documents in the order of their first passage."""
    return list(dict.fromkeys(chain.from_iterable(passage.documents for passage in passages)))


def retrieve(system: System, question: str, *, first: int, characters: int = 0) -> list[RetrievedPassage]:
    """The passages for a question, enough for DOCUMENTS documents and `characters` characters, if there are as many.

    They begin with those that a user gets who asks for `first`; a longer search may rank differently, so it only adds.
    """
    asked = first
    found = list(system(question, asked))
    last = len(found)
    while last >= asked and (
        len(document_ranking(found)) < DOCUMENTS or sum(len(passage.text) for passage in found) < characters
    ):
        asked *= 4
        more = system(question, asked)
        last = len(more)
        known = set(found)
        found += [passage for passage in more if passage not in known]
    return found
