"""Sentences of corpus/ count as supported by themselves, reworded too; changed in what they say, they do not.

The opposites that `mutations.DIRECTIONS` exchanges are words, and `claims.POLES` knows the characters of nearly all of
them: the rate for directions says how well listed opposites are found in real sentences, not how well any would be.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from rag.answer.written.claims import EvidenceSentence, evidence_sentences, supporting
from rag.index import Index, open_index
from tests.conftest import HashEmbedder
from tests.paths import ROOT
from tests.rag.answer.written import mutations
from tests.rag.library import ingest, library_settings

# Every eighth page, in the order of their names.
PAGES = sorted((ROOT / "corpus").glob("*/*.md"))[::8]
# Of their sentences that can be changed so, the least that are.
SAMPLE = 400
# Shorter ones say too little, and blocks are quoted, not said.
SHORTEST = 12
BLOCKS = ("```", "~~~", "|", "$$")
CAUGHT, FALSE_ALARMS = 0.95, 0.05

Changed = Sequence[tuple[EvidenceSentence, str]]


@dataclass(frozen=True)
class Supported:
    """Sentences of the pages, all that can be quoted by page, and the names that stand in the pages."""

    index: Index
    sentences: Sequence[EvidenceSentence]
    pages: Mapping[str, Sequence[EvidenceSentence]]
    names: Sequence[str]

    def changed(self, change: Callable[[str], str | None]) -> Changed:
        """Some of the sentences that can be so changed, each with what it becomes."""
        pairs = ((sentence, change(sentence.citation.quote)) for sentence in self.sentences)
        changed = [(sentence, text) for sentence, text in pairs if text is not None]
        return changed[:: max(1, len(changed) // SAMPLE)]

    def flagged(self, changed: Changed, evidence: str = "sentence") -> list[bool]:
        """Whether each is taken for unsupported by what it was, or by its page."""
        return [
            not supporting(
                text, self.pages[sentence.citation.document] if evidence == "page" else [sentence], self.index
            )
            for sentence, text in changed
        ]


@pytest.fixture(scope="module")
def supported(tmp_path_factory: pytest.TempPathFactory, hash_embedder: HashEmbedder) -> Iterator[Supported]:
    folder = tmp_path_factory.mktemp("pages")
    sources = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    ingest(folder, hash_embedder, sources, with_tokens=False)  # claims are held against words
    index = open_index(library_settings(folder).index)
    passages = index.storage.passages(list(range(index.manifest.passages)))
    found = evidence_sentences(passages, {p.document: index.storage.source(p.document) or "" for p in passages})
    sentences = [
        sentence
        for sentence in found
        if len(sentence.citation.quote) >= SHORTEST and not sentence.citation.quote.startswith(BLOCKS)
    ]
    pages = {name: [sentence for sentence in found if sentence.citation.document == name] for name in sources}
    yield Supported(index, sentences, pages, mutations.names_in(sources.values()))
    index.close()


def test_what_the_pages_say_is_supported(supported: Supported) -> None:
    flagged = supported.flagged(supported.changed(lambda sentence: sentence))
    assert len(flagged) >= 300
    assert share(flagged) <= FALSE_ALARMS


@pytest.mark.parametrize("reword", [mutations.reword, mutations.traditional])
def test_reworded_it_still_is(reword: Callable[[str], str | None], supported: Supported) -> None:
    flagged = supported.flagged(supported.changed(reword))
    assert len(flagged) >= 100
    assert share(flagged) <= FALSE_ALARMS


@pytest.fixture(scope="module", params=mutations.MUTATIONS)
def mutated(request: pytest.FixtureRequest, supported: Supported) -> Changed:
    mutate = mutations.MUTATIONS[request.param]
    return supported.changed(lambda sentence: mutate(sentence, supported.names))


@pytest.mark.parametrize("evidence", ["sentence", "page"])
def test_changed_it_is_not(evidence: str, mutated: Changed, supported: Supported) -> None:
    flagged = supported.flagged(mutated, evidence)
    assert len(flagged) >= 100
    assert share(flagged) >= CAUGHT


def share(flagged: Sequence[bool]) -> float:
    return sum(flagged) / len(flagged)
