"""The library's event handlers: each returns the updates of the components that it changes."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from ingest.library import Library
from rag.answer.assistant import Assistant
from rag.errors import UsageError
from rag.index.part import page_of
from rag.index.topics import topic_title, topic_titles
from rag.ui.elements import hint, introduction, problem
from rag.ui.library.adding import add_files
from rag.ui.library.listing import (
    DocumentRow,
    Unread,
    about_topic,
    in_language,
    matching,
    reader,
    rows_of,
    table,
    undo,
    unread_list,
    unread_of,
)
from rag.ui.library.report import run_report, too_large
from rag.ui.problems import tell
from rag.ui.session.part import Updates
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import LIBRARY_TEXTS, TEXTS, Texts

HTML = macros_of("library/handlers.html")
ALL = ""


@dataclass(frozen=True, slots=True)
class LibraryComponents:
    tab: gr.Tab
    heading: gr.HTML
    files: gr.File
    replace: gr.Checkbox
    refresh: gr.Button
    limits: gr.HTML
    run: gr.HTML
    notice: gr.HTML
    words: gr.Textbox
    kind: gr.Dropdown
    topic: gr.Dropdown
    listing: gr.HTML
    clock: gr.Timer

    @property
    def filters(self) -> list[Any]:
        return [self.words, self.kind, self.topic]

    @property
    def view(self) -> list[Any]:
        return [self.heading, self.run, self.clock, self.kind, self.topic, self.listing]

    @property
    def with_texts(self) -> tuple[Any, ...]:
        """The components with texts."""
        return (self.tab, self.files, self.replace, self.refresh, self.limits, self.words, *self.view)


class LibraryHandlers:
    """Handlers over an assistant's index; `library` holds the documents that readers add."""

    def __init__(self, assistant: Assistant, library: Library, parts: LibraryComponents) -> None:
        self._assistant = assistant
        self._library = library
        self._parts = parts
        self._rows: dict[str, list[DocumentRow]] = {}

    def rows(self) -> list[DocumentRow]:
        """The rows of the live generation, read once."""
        index = self._assistant.index
        found = self._rows.get(index.manifest_sha256)
        if found is None:
            found = rows_of(index, self._library.owns)
            self._rows.clear()
            self._rows[index.manifest_sha256] = found
        return found

    def unread(self) -> list[Unread]:
        report = self._assistant.index.manifest.report
        return unread_of(self._library, self.rows(), report, self._library.run().report)

    def render_list(self, state: Session, words: str, kind: str, topic: str) -> str:
        every = in_language(self.rows(), state.language)
        texts, may_remove = LIBRARY_TEXTS[state.language], self._library.may_change
        # A topic's value has a mark in front, so that "no topic" is not "all topics".
        found = matching(every, words or "", kind or ALL, topic[1:] if topic else None)
        about = about_topic(topic[1:], self.topics(state)[topic[1:]], texts) if topic and topic[1:] and found else ""
        return (
            unread_list(self.unread(), texts, may_remove=may_remove)
            + about
            + table(found, texts, any_at_all=bool(every), may_remove=may_remove)
        )

    def topics(self, state: Session) -> dict[str, str]:
        """The topics' names, by folder."""
        roots = self._assistant.index.manifest.roots
        titles, top = topic_titles(Path(root.path) for root in roots), LIBRARY_TEXTS[state.language].top
        return {row.topic: topic_title(row.topic, titles, state.language) or top for row in self.rows()}

    def tell_run(self, state: Session) -> Updates:
        """A run's report, and whether to look again."""
        under_way = self._library.run()
        html = run_report(
            under_way, self._assistant.index.manifest.report, LIBRARY_TEXTS[state.language], TEXTS[state.language],
            listed_below=self._library.folder.expanduser().resolve(),
        )  # fmt: skip
        return {self._parts.run: html, self._parts.clock: gr.Timer(active=under_way.under_way)}

    def look(self, state: Session, *chosen: str) -> Updates:
        if self._library.run().under_way:
            return self.tell_run(state)
        return self.open(state, *chosen)

    def open(self, state: Session, *chosen: str) -> Updates:
        texts, every = LIBRARY_TEXTS[state.language], self.rows()
        kinds = sorted({row.kind for row in every})
        topics = self.topics(state)
        return self.tell_run(state) | {
            self._parts.heading: introduction(texts.heading, _summary(self._assistant, every, texts)),
            self._parts.kind: gr.update(
                choices=[(texts.all_kinds, ALL), *((name, name) for name in kinds)], label=texts.kind
            ),
            self._parts.topic: gr.update(
                choices=[(texts.all_topics, ALL), *((title, f"/{name}") for name, title in sorted(topics.items()))],
                label=texts.topic,
            ),
            self._parts.listing: self.render_list(state, *chosen),
        }

    def add(self, state: Session, paths: list[str] | None, may_replace: bool) -> Updates:
        add_files(paths or [], self._assistant, self._library, state.language, replace=may_replace)
        return self.tell_run(state) | {self._parts.files: None}

    def refuse(self, state: Session, event: gr.EventData) -> None:
        """Report a file that the browser did not send."""
        texts = LIBRARY_TEXTS[state.language]
        name, size = str(event._data["name"]), float(event._data["size"])
        gr.Warning(escape(too_large(name, size, self._library, texts)), title=texts.heading)

    def read_all(self, state: Session) -> Updates:
        if self._library.may_change:
            self._library.sync(all_roots=True)
        return self.tell_run(state)

    def act(self, state: Session, words: str, kind: str, topic: str, event: gr.EventData) -> Updates:
        """Show a document in place of the list, remove it or restore it; updates the list, the message above it, and
        the run."""
        texts = LIBRARY_TEXTS[state.language]
        action, name = str(event._data["action"]), str(event._data["name"])
        row = next((row for row in self.rows() if row.name == name), None)
        if action == "read":
            row = row and in_language([row], state.language)[0]
            return {self._parts.listing: reader(name, row, page_of(self._assistant.index, name), texts)}
        try:
            if action == "remove" and row is not None and row.own:
                return self._removed(state, row.relative)
            if action == "discard" and name in {file.relative for file in self.unread()}:
                return self._removed(state, name)
            if action == "restore":
                self._library.restore(name)
                self._library.sync()
                return self.tell_run(state) | {self._parts.notice: ""}
        except UsageError as error:
            return {self._parts.notice: problem(tell(error, TEXTS[state.language]))}
        return {self._parts.listing: self.render_list(state, words, kind, topic)}

    def _removed(self, state: Session, relative: str) -> Updates:
        self._library.remove(relative)
        self._library.sync()
        return self.tell_run(state) | {self._parts.notice: undo(relative, LIBRARY_TEXTS[state.language])}

    def speak(self, state: Session) -> Updates:
        """Everything in the reader's language."""
        texts = LIBRARY_TEXTS[state.language]
        return self.open(state, "", ALL, ALL) | {
            self._parts.tab: gr.update(label=texts.tab),
            self._parts.files: gr.update(label=texts.add_files),
            self._parts.replace: gr.update(label=texts.replace),
            self._parts.refresh: gr.update(value=texts.refresh),
            self._parts.limits: limits(self._library, texts),
            self._parts.words: gr.update(label=texts.search, placeholder=texts.search_hint),
        }


def limits(library: Library, texts: Texts) -> str:
    if not library.may_change:
        return hint(texts.not_allowed)
    notice = texts.limits.format(megabytes=library.max_megabytes, suffixes=" ".join(library.suffixes))
    return HTML("limits", megabytes=library.max_megabytes, notice=notice)


def _summary(assistant: Assistant, rows: list[DocumentRow], texts: Texts) -> str:
    manifest = assistant.index.manifest
    return texts.summary.format(
        documents=f"{len(rows):,}",
        passages=f"{manifest.passages:,}",
        characters=f"{sum(row.characters for row in rows):,}",
    )
