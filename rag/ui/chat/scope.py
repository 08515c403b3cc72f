"""Which documents are answered from: what a reader can choose, what was chosen, and its names in both languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rag.index import Index
from rag.index.topics import topic_title, topic_titles
from rag.language.language import Language
from rag.language.terms import fold
from rag.ui.english import english_title
from rag.ui.templates import macros_of
from rag.ui.texts import TEXTS

# Documents of the conversation that are offered, and of all, topics included, while one is being named in the box.
OFFERED, NAMED = 12, 40
HTML = macros_of("chat/scope.html")


@dataclass(frozen=True, slots=True)
class Material:
    """The titles of the documents of one generation, those in English where they have one, and those of its topics by
    their folders ("alignment/")."""

    documents: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, Mapping[Language, str]] = field(default_factory=dict)
    english: Mapping[str, str] = field(default_factory=dict)

    def title(self, name: str, language: Language) -> str:
        if name in self.topics:
            return self.topics[name][language]
        english = self.english.get(name) if language is Language.EN else ""
        return english or self.documents.get(name) or name.rstrip("/")

    def named(self, words: str) -> list[str]:
        """The topics, then the documents, whose name or title, in either language, holds all of the words."""
        wanted = fold(words).split()
        every = [(name, *self.topics[name].values()) for name in self.topics]
        every += [(name, title, self.english.get(name, "")) for name, title in self.documents.items()]
        return [known[0] for known in every if all(word in fold(" ".join(known)) for word in wanted)]


def read_material(index: Index) -> Material:
    titles = topic_titles(Path(root.path) for root in index.manifest.roots)
    summaries = index.storage.summaries()
    folders = sorted({str(PurePosixPath(each.relative).parent) for each in summaries} - {"."})
    return Material(
        {each.name: each.title for each in summaries},
        {f"{folder}/": {name: topic_title(folder, titles, name) for name in Language} for folder in folders},
        {document.name: english_title(document.source) for document in index.storage.documents()},
    )


def render_chips(only: Sequence[str], material: Material, language: Language) -> str:
    """What was chosen, each with the way to take it back, as HTML; empty where all is answered from."""
    chosen = [(name, material.title(name, language)) for name in only]
    return HTML("chips", chosen=chosen, texts=TEXTS[language]) if only else ""


def render_offers(words: str, material: Material, language: Language) -> str:
    """What could be meant by what was typed behind a `#`, as HTML."""
    names = material.named(words)[:NAMED]
    offered = [(name, material.title(name, language), name in material.topics) for name in names]
    return HTML("offers", words=words, offered=offered, texts=TEXTS[language])


def render_chooser(only: Sequence[str], cited: Sequence[str], material: Material, language: Language) -> str:
    """Topics, and documents that the conversation cites, as HTML."""
    texts = TEXTS[language]
    topics = sorted(((name, material.title(name, language)) for name in material.topics), key=lambda topic: topic[1])
    documents = [(name, material.title(name, language)) for name in [*dict.fromkeys(cited)][:OFFERED]]
    groups = ((texts.scope_topics, topics), (texts.scope_cited, documents))
    summary = texts.scope_chosen.format(count=len(only)) if only else texts.scope
    return HTML("chooser", groups=groups, only=only, summary=summary, texts=texts)
