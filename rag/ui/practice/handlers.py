"""Event handlers of the practice room; each returns the updates of the components that it changes. Errors are shown
where the reader looks, and typed text stays in its box."""

import base64
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import gradio as gr

from rag.answer.assistant import Assistant
from rag.errors import RagError, UsageError
from rag.practice.exports import ExportAs, export
from rag.ui.browser_input import member_of
from rag.ui.chat.whole_source import open_whole
from rag.ui.elements import parcel
from rag.ui.practice.actions import PracticeAction, PracticeActionName
from rag.ui.practice.bank_view import rows_of
from rag.ui.practice.elements import HTML as ELEMENTS
from rag.ui.practice.exports_view import ENDINGS, read_backup
from rag.ui.practice.practising import Practising, user_of
from rag.ui.practice.rendering import Rendering
from rag.ui.practice.resources import PracticeResources
from rag.ui.problems import tell
from rag.ui.session.part import UNCHANGED, Updates
from rag.ui.session.practice import View
from rag.ui.session.session import Session
from rag.ui.texts import PRACTICE_TEXTS, TEXTS

logger = logging.getLogger(__name__)

# After these actions the view stays, with the text typed in it, and only its part is drawn again.
WITHIN = frozenset({
    PracticeActionName.PLAN, PracticeActionName.FILTER, PracticeActionName.MORE, PracticeActionName.REVEAL,
    PracticeActionName.JUDGE, PracticeActionName.OVERRIDE, PracticeActionName.GRADE,
})  # fmt: skip
Do = Callable[[Session, PracticeAction, datetime], str]


@dataclass(frozen=True, slots=True)
class PracticeComponents:
    tab: gr.Tab
    navigation: gr.HTML
    shell: gr.HTML
    part: gr.HTML
    notice: gr.HTML
    saved: gr.HTML
    whole: gr.HTML
    parcel: gr.HTML

    @property
    def view(self) -> list[Any]:
        return [self.navigation, self.shell, self.part, self.notice]


class PracticeHandlers:
    """Handlers over an assistant's index. Practice data is stored in the folder that the settings name."""

    def __init__(self, assistant: Assistant, parts: PracticeComponents) -> None:
        self._assistant = assistant
        self._parts = parts
        self._resources = PracticeResources(assistant)
        self._practising = Practising(self._resources)
        self._rendering = Rendering(self._resources, self._practising)

    def prepare(self) -> None:
        """Read the questions before anyone enters: this takes most of the time of a first visit."""
        try:
            self._resources.material()
        except RagError as error:  # shown to whoever enters
            logger.warning("%s (%s)", error.message, error.hint)

    def open(self, state: Session, sent: object) -> Updates:
        """The whole room. The page sends the place that its address names; without one the room is as it was left."""
        self.prepare()
        action = PracticeAction.read(sent)
        if state.practice.has_acted and not state.practice.is_open:  # whoever clicks at once is not led elsewhere
            action = replace(action, name=PracticeActionName.SHOW, rest="")
        state.practice.is_open = True
        return self._do(state, action, self._practising.do)

    def act(self, state: Session, event: gr.EventData) -> Updates:
        state.practice.has_acted = True
        return self._do(state, PracticeAction.read(event._data), self._practising.do)

    def grade(self, state: Session, event: gr.EventData) -> Updates:
        """Grade an attempt at a question, or an answer in an interview."""
        action = PracticeAction.read(event._data)
        do = self._practising.answer if action.name is PracticeActionName.ANSWER else self._practising.grade
        return self._do(state, action, do)

    def keep(self, state: Session, event: gr.EventData) -> str:
        """Store typed text. The response names the box and the edition, so that practice.js knows what is stored."""
        action = PracticeAction.read(event._data)
        field, question = action.text("field"), action.text("question")
        try:
            self._practising.keep(state, field, question, action.text("text"), action.edition)
        except RagError as error:
            return _alert(tell(error, TEXTS[state.language]))
        saved = {"key": f"{field}:{question}", "edition": action.edition}
        return ELEMENTS("saved", **saved, moment=_moment(), texts=PRACTICE_TEXTS[state.language])

    def source(self, state: Session, event: gr.EventData) -> Updates:
        """A dialog over the page that shows a document at a quote, and the message."""
        citation = PracticeAction.read(event._data).citation
        if citation is None:
            return UNCHANGED
        try:
            if self._assistant.source(citation.document) is None:
                return self._alert(PRACTICE_TEXTS[state.language].source_gone.format(document=citation.document))
            whole = open_whole(self._assistant, [citation], citation, TEXTS[state.language], _moment())
        except RagError as error:
            return self._problem(state, error)
        return {self._parts.whole: whole}

    def give(self, state: Session, event: gr.EventData) -> Updates:
        """A file for the reader to save, and the message."""
        action, now = PracticeAction.read(event._data), _now()
        try:
            match action.name:
                case PracticeActionName.EXPORT:
                    return self._export(state, action, now)
                case PracticeActionName.BACKUP:
                    text = json.dumps(self._resources.store.export(user_of(state)), ensure_ascii=False, indent=1)
                    name = f"practice-{state.practice.today(now):%Y-%m-%d}.json"
                    return self._parcel(name, "application/json", text.encode())
                case PracticeActionName.SAVE_REPORT if (round := self._practising.round(state)) is not None:
                    name = f"interview-{state.practice.today(round.begun):%Y-%m-%d-%H%M}.md"
                    return self._parcel(name, "text/markdown", self._rendering.report(state, round).encode())
        except RagError as error:
            return self._problem(state, error)
        return UNCHANGED

    def restore(self, state: Session, event: gr.EventData) -> Updates:
        action = PracticeAction.read(event._data)

        def restored(session: Session, action: PracticeAction, now: datetime) -> str:
            texts, name = PRACTICE_TEXTS[session.language], action.fields.get("name", "")
            if "packed" not in action.fields:
                raise UsageError(texts.restore_large.format(name=name))
            try:
                added = self._resources.store.restore(user_of(session), read_backup(action.fields["packed"]))
            except UsageError as error:
                raise UsageError(texts.restore_bad.format(name=name, problem=error.message)) from error
            return texts.restored.format(count=added)

        return self._do(state, action, restored)

    def speak(self, state: Session) -> Updates:
        """The whole room in the reader's language; the tab alone before anyone enters."""
        tab: Updates = {self._parts.tab: gr.update(label=PRACTICE_TEXTS[state.language].tab)}
        return tab | self._all(state) if state.practice.is_open else tab

    def _do(self, state: Session, action: PracticeAction, do: Do) -> Updates:
        now = _now()
        if action.zone:
            state.practice.zone = action.zone
        try:
            said = do(state, action, now)
            # The browser shows it at once; but a list of bookmarks may have been requested before this one was stored.
            if action.name is PracticeActionName.BOOKMARK and not self._lists_bookmarks(state):
                return self._status(state, said)
            within = action.name in WITHIN or action.name is PracticeActionName.BOOKMARK
            graded = self._graded(state, action)
            return (self._part if within else self._all)(state, said, graded, action.edition)
        except RagError as error:
            logger.warning("%s (%s)", error.message, error.hint)
            return self._problem(state, error)

    def _lists_bookmarks(self, state: Session) -> bool:
        return state.practice.view is View.BANK and state.practice.filter.bookmarked

    def _graded(self, state: Session, action: PracticeAction) -> str:
        """The key of the graded attempt if this edition of it, or a later one, is stored; else empty."""
        question = action.text("question")
        if action.name not in (PracticeActionName.GRADE, PracticeActionName.ANSWER):
            return ""
        return f"attempt:{question}" if self._practising.has_edition(state, "attempt", question, action.edition) else ""

    def _all(self, state: Session, said: str = "", graded: str = "", edition: int = 0) -> Updates:
        state.practice.renders += 1
        try:
            shell, part = self._rendering.draw(state, _now())
        except RagError as error:
            shell, part, notice = "", "", self._problem(state, error)
        else:
            notice = self._status(state, said, graded, edition)
        navigation = self._rendering.navigation(state)
        return notice | {self._parts.navigation: navigation, self._parts.shell: shell, self._parts.part: part}

    def _part(self, state: Session, said: str, graded: str, edition: int) -> Updates:
        kept, now = self._resources.progress_of(user_of(state)), _now()
        match state.practice.view:
            case View.TODAY:
                part = self._rendering.today_part(state, kept, now)
            case View.BANK:
                part = self._rendering.bank_part(state, kept, now)
            case View.QUESTION:
                part = self._rendering.grade_part(state, kept, now)
            case _:
                _, part = self._rendering.draw(state, now)
        return self._status(state, said, graded, edition) | {self._parts.part: part}

    def _export(self, state: Session, action: PracticeAction, now: datetime) -> Updates:
        file_type = member_of(ExportAs, action.fields.get("format")) or ExportAs.ANKI
        bank, kept = self._resources.material().bank, self._resources.progress_of(user_of(state))
        rows = rows_of(bank, action.filter, kept, now)
        questions = [question for row in rows for question in (row.question, *row.follow_ups)]
        if not questions:
            return self._alert(PRACTICE_TEXTS[state.language].export_nothing)
        ending, media_type = ENDINGS[file_type]
        data = export(bank, questions, kept.jottings, file_type)
        return self._parcel(f"interview-questions.{ending}", media_type, data)

    def _status(self, state: Session, text: str, graded: str = "", edition: int = 0) -> Updates:
        """What was done, new every time: practice.js waits for it, writes the place into the address, and may forget
        the text of that edition of an attempt that was `graded`."""
        at = {"place": self._practising.place(state), "renders": state.practice.renders}
        status = ELEMENTS("status", text=text, graded=graded, edition=edition, moment=_moment(), **at)
        return {self._parts.notice: status}

    def _problem(self, state: Session, error: RagError) -> Updates:
        return self._alert(tell(error, TEXTS[state.language]))

    def _alert(self, text: str) -> Updates:
        return {self._parts.notice: _alert(text)}

    def _parcel(self, name: str, media_type: str, data: bytes) -> Updates:
        """A file as HTML, for copying.js to save."""
        file = {"name": name, "type": media_type, "base64": base64.b64encode(data).decode()}
        return {self._parts.parcel: parcel(_moment(), file), self._parts.notice: ""}


def _alert(text: str) -> str:
    return ELEMENTS("alert", text=text, moment=_moment())


def _now() -> datetime:
    return datetime.now(UTC)


def _moment() -> str:
    return f"{_now():%H%M%S%f}"
