"""Which documents are answered from: what a reader can choose, what was chosen, and its names in both languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path, PurePosixPath

from rag.index import Index
from rag.index.topics import topic_title, topic_titles
from rag.language.language import Language
from rag.ui.texts import TEXTS, Texts

# Documents of the conversation that are offered.
OFFERED = 12


@dataclass(frozen=True, slots=True)
class Material:
    """The titles of the documents of one generation, and those of its topics by their folders ("alignment/")."""

    documents: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, Mapping[Language, str]] = field(default_factory=dict)

    def title(self, name: str, language: Language) -> str:
        if name in self.topics:
            return self.topics[name][language]
        return self.documents.get(name) or name.rstrip("/")


def read_material(index: Index) -> Material:
    titles = topic_titles(Path(root.path) for root in index.manifest.roots)
    summaries = index.storage.summaries()
    folders = sorted({str(PurePosixPath(each.relative).parent) for each in summaries} - {"."})
    return Material(
        {each.name: each.title for each in summaries},
        {f"{folder}/": {name: topic_title(folder, titles, name) for name in Language} for folder in folders},
    )


def render_chips(only: Sequence[str], material: Material, language: Language) -> str:
    """What was chosen, each with the way to take it back, as HTML; empty where all is answered from."""
    texts = TEXTS[language]
    chips = "".join(_chip(name, material.title(name, language), texts) for name in only)
    return f'<p class="scope-chips"><span>{escape(texts.scope_only)}</span>{chips}</p>' if only else ""


def render_chooser(only: Sequence[str], cited: Sequence[str], material: Material, language: Language) -> str:
    """Topics, and documents that the conversation cites, as HTML."""
    texts = TEXTS[language]
    topics = sorted(material.topics, key=lambda name: material.title(name, language))
    groups = ((texts.scope_topics, topics), (texts.scope_cited, [*dict.fromkeys(cited)][:OFFERED]))
    lists = "".join(
        f"<h3>{escape(heading)}</h3>{''.join(_choice(name, only, material, language) for name in names)}"
        for heading, names in groups
        if names
    )
    library = f'<a href="#room-library">{escape(texts.scope_library)}</a>'
    summary = escape(texts.scope if not only else texts.scope_chosen.format(count=len(only)))
    return f'<details class="menu scope"><summary>{summary}</summary><div>{lists}{library}</div></details>'


def _chip(name: str, title: str, texts: Texts) -> str:
    away = escape(texts.scope_remove.format(name=title))
    return (
        f'<span class="scope-chip" title="{escape(name)}">{escape(title)}<button type="button" class="do-unscope-0"'
        f' data-rest="{escape(name)}" title="{away}" aria-label="{away}">×</button></span>'
    )


def _choice(name: str, only: Sequence[str], material: Material, language: Language) -> str:
    chosen = name in only
    action = "unscope" if chosen else "scope"
    return (
        f'<button type="button" class="do-{action}-0" data-rest="{escape(name)}" aria-pressed="{str(chosen).lower()}">'
        f"{escape(material.title(name, language))}</button>"
    )
