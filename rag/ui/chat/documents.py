"""Documents given to the chat: they go into the library, and then answer the conversation."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ingest.library import Library, LibraryRun
from ingest.report import Stage
from rag.answer.assistant import Assistant
from rag.ui.browser_input import names_of
from rag.ui.library.adding import add_files
from rag.ui.library.report import failures_of, why_unread
from rag.ui.problems import tell
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import LIBRARY_TEXTS, TEXTS

HTML = macros_of("chat/documents.html")


class Documents:
    """`Session.adding` has those on their way, by their names in the library."""

    def __init__(self, assistant: Assistant, library: Library) -> None:
        self._assistant = assistant
        self._library = library

    def add(self, state: Session, paths: Sequence[str]) -> None:
        state.adding += add_files(paths, self._assistant, self._library, state.language)
        state.unread = ()
        state.action_count += not state.adding

    def settle(self, state: Session) -> bool:
        """Once all files were tried, answer from those read. Returns whether anything changed."""
        run = self._library.run()
        index = self._assistant.index
        # Another question may be opening the new generation.
        if not state.adding or run.under_way or index.manifest.generation < run.report.get("generation", 0):
            return False
        own = {root.number for root in index.manifest.roots if self._library.owns(root.path)}
        names = {entry.relative: entry.name for entry in index.storage.entries() if entry.root in own}
        state.only = names_of([*(names[file] for file in state.adding if file in names), *state.only])
        why = self._why(state, run)
        state.unread = tuple(f"{file}: {why.get(file, '')}" for file in state.adding if file not in names)
        state.adding = ()
        state.action_count += 1
        return True

    def render(self, state: Session) -> str:
        """The files being read, or that failed, as HTML; attaching.js reads the attributes."""
        texts, run = TEXTS[state.language], self._library.run()
        reading = texts.attach_reading.format(names=texts.list_separator.join(state.adding)) if state.adding else ""
        return HTML(
            "documents",
            megabytes=self._library.max_megabytes,
            reading=reading,
            done=run.done,
            total=run.total if run.stage is Stage.PASSAGES else 0,
            unread=state.unread,
            texts=texts,
        )

    def _why(self, state: Session, run: LibraryRun) -> Mapping[str, str]:
        """Why files could not be read, by name."""
        if run.problem is not None:
            return dict.fromkeys(state.adding, tell(run.problem, TEXTS[state.language]))
        texts = LIBRARY_TEXTS[state.language]
        return {Path(each.path).name: why_unread(each.reason, texts) for each in failures_of(run.report)}
