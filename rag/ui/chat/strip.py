"""The strip above the question box: the documents chosen to answer from, and that a question is being edited or a
conversation is missing, or a feedback form. And what chooses these documents: a menu, and what `#` offers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rag.index import Index
from rag.index.topics import topic_title, topic_titles
from rag.language.language import Language
from rag.language.terms import fold
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import TEXTS

HTML = macros_of("chat/strip.html")

# Documents offered: of the conversation, and of all, topics included, while the reader types a name in the box.
OFFERED, NAMED = 12, 40


@dataclass(frozen=True, slots=True)
class MaterialTitles:
    """One generation's document titles, English titles where there are any, and topic titles by folder
    ("alignment/")."""

    documents: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, Mapping[Language, str]] = field(default_factory=dict)
    english: Mapping[str, str] = field(default_factory=dict)

    def title(self, name: str, language: Language) -> str:
        if name in self.topics:
            return self.topics[name][language]
        english = self.english.get(name) if language is Language.EN else ""
        return english or self.documents.get(name) or name.rstrip("/")

    def matching(self, words: str) -> list[str]:
        """The topics, then the documents, whose name or title, in either language, contains all the words."""
        wanted = fold(words).split()
        every = [(name, *self.topics[name].values()) for name in self.topics]
        every += [(name, title, self.english.get(name, "")) for name, title in self.documents.items()]
        return [known[0] for known in every if all(word in fold(" ".join(known)) for word in wanted)]


def read_material(index: Index) -> MaterialTitles:
    titles = topic_titles(Path(root.path) for root in index.manifest.roots)
    summaries = index.storage.summaries()
    folders = sorted({str(PurePosixPath(each.relative).parent) for each in summaries} - {"."})
    return MaterialTitles(
        {each.name: each.title for each in summaries},
        {f"{folder}/": {name: topic_title(folder, titles, name) for name in Language} for folder in folders},
        {each.name: each.english for each in summaries},
    )


def render_chips(only: Sequence[str], material: MaterialTitles, language: Language) -> str:
    """The choices, each with a button to remove it, as HTML; empty if all documents are in scope."""
    chosen = [(name, material.title(name, language)) for name in only]
    return HTML("chips", chosen=chosen, texts=TEXTS[language]) if only else ""


def render_offers(words: str, material: MaterialTitles, language: Language) -> str:
    """Matches for the text typed after a `#`, as HTML."""
    names = material.matching(words)[:NAMED]
    offered = [(name, material.title(name, language), name in material.topics) for name in names]
    return HTML("offers", words=words, offered=offered, texts=TEXTS[language])


def render_chooser(only: Sequence[str], cited: Sequence[str], material: MaterialTitles, language: Language) -> str:
    """Topics, and documents that the conversation cites, as HTML."""
    texts = TEXTS[language]
    topics = sorted(((name, material.title(name, language)) for name in material.topics), key=lambda topic: topic[1])
    documents = [(name, material.title(name, language)) for name in [*dict.fromkeys(cited)][:OFFERED]]
    groups = ((texts.scope_topics, topics), (texts.scope_cited, documents))
    summary = texts.scope_chosen.format(count=len(only)) if only else texts.scope
    return HTML("chooser", groups=groups, only=only, summary=summary, texts=texts)


REASONS = {True: ("accurate", "complete", "clear"), False: ("wrong", "incomplete", "off_topic", "unsupported")}
NOTE_CHARACTERS = 2_000


def render_strip(session: Session, material: MaterialTitles | None = None) -> str:
    """HTML; empty if there is nothing to say. The chosen documents come first."""
    chips = render_chips(session.only, material or MaterialTitles(), session.language)
    return chips + _said(session)


def _said(session: Session) -> str:
    texts = TEXTS[session.language]
    if session.editing:
        notice = texts.editing.format(number=session.place_of(session.editing))
        return HTML("editing", notice=notice, texts=texts)
    if session.is_answering:
        return HTML("status", kind="busy", notice=texts.busy)
    judged = session.find(session.judging)
    if judged is not None and judged.liked is not None:
        return HTML("opinion", judged=judged, reasons=REASONS[judged.liked], longest=NOTE_CHARACTERS, texts=texts)
    return HTML("status", kind="missing", notice=texts.conversation_missing) if session.missing else ""
