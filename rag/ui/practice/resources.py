"""The practice room's resources: the live generation's questions, a grader, and the reader's practice data."""

import contextlib
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rag.answer.assistant import Assistant
from rag.answer.choices import Choices
from rag.errors import RagError, UserDataError
from rag.index.topics import JobRole, Titles, roles_of, topic_title, topic_titles
from rag.language.language import Language
from rag.practice.bank import Bank, Question, read_bank
from rag.practice.graders import open_grader
from rag.practice.grading import EmbedderGrader, Grader, Method
from rag.practice.rubric import rubric_of
from rag.practice.schedule import Card, Knowledge, knowledge_of
from rag.practice.store import Jotting, PracticeStore
from rag.settings import Settings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PracticeMaterial:
    """The question bank of one generation, the titles of its topics, and the roles that ask about them."""

    bank: Bank
    titles: Titles
    roles: Mapping[str, JobRole] = field(default_factory=dict)

    def topic(self, topic: str, language: Language, top: str) -> str:
        """The name of a topic; `top` is the name for documents in no folder. With several roots, a topic begins with
        the name of its root."""
        for name in (topic, topic.partition("/")[2]):
            if name in self.titles:
                return topic_title(name, self.titles, language)
        return topic or top

    def topics_of(self, role: str) -> frozenset[str] | None:
        """The topics that a role asks about; None for all topics, also if the role is unknown."""
        if role not in self.roles:
            return None
        wanted = self.roles[role].topics
        return frozenset(topic for topic in self.bank.topics() if {topic, topic.partition("/")[2]} & wanted)


@dataclass(frozen=True, slots=True)
class CardsAndJottings:
    """A reader's stored cards and jottings, by question id."""

    cards: Mapping[str, Card]
    jottings: Mapping[str, Jotting]

    def knowledge(self, question: Question) -> Knowledge:
        return knowledge_of(self.cards.get(question.id))

    def jotting(self, question_id: str) -> Jotting:
        return self.jottings.get(question_id, Jotting())


class PracticeResources:
    """`problem` says why nothing can be stored; None if it can."""

    def __init__(self, assistant: Assistant) -> None:
        self.assistant = assistant
        self.problem: UserDataError | None = None
        self._reading = threading.Lock()
        self._ahead = ""  # the question whose rubric was read ahead last
        self._read: tuple[str, PracticeMaterial] | None = None
        self._graders: dict[tuple[str, Choices, Settings], Grader] = {}
        try:
            self.store = PracticeStore(assistant.settings.data)
        except UserDataError as error:
            logger.warning("%s; practice is forgotten when the program ends (%s)", error.message, error.hint)
            self.problem = error
            self.store = PracticeStore(None)

    @property
    def set_aside(self) -> Path | None:
        return self.store.database.set_aside

    def material(self) -> PracticeMaterial:
        """The material of the live generation, read once for all callers."""
        with self._reading:
            index = self.assistant.index
            if self._read is None or self._read[0] != index.manifest_sha256:
                roots = [Path(root.path) for root in index.manifest.roots]
                material = PracticeMaterial(read_bank(index), topic_titles(roots), roles_of(roots))
                self._read = (index.manifest_sha256, material)
            return self._read[1]

    def progress_of(self, user: str) -> CardsAndJottings:
        return CardsAndJottings(self.store.cards(user), self.store.jottings(user))

    def grader(self, choices: Choices) -> Grader:
        """A grader that uses the chat model chosen for answers. If there is none, it cannot be used, or it is small
        (small models grade far worse than the embedder, see docs/results), the best grader without a chat model."""
        key = (self.assistant.index.manifest_sha256, choices, self.assistant.settings)
        if key not in self._graders:
            current = self._graders.items()
            self._graders = {known: grader for known, grader in current if known[::2] == key[::2]}
            self._graders[key] = self._open_grader(choices)
        return self._graders[key]

    def read_ahead(self, question_id: str, choices: Choices) -> None:
        """Read a question's rubric in the background while its answer is typed. An error is reported only when the
        rubric is needed."""
        with contextlib.suppress(RagError):
            grader, bank = self.grader(choices), self.material().bank
            if question_id != self._ahead and isinstance(grader, EmbedderGrader):
                self._ahead = question_id
                rubric = rubric_of(bank, bank.find(question_id))
                threading.Thread(target=grader.read_ahead, args=(rubric,), daemon=True).start()

    def _open_grader(self, choices: Choices) -> Grader:
        try:
            chosen = self.assistant.choosing(choices)
            if chosen.resources.chat_model is not None and not chosen.resources.is_small:
                return open_grader(chosen, Method.CHAT_MODEL)
        except RagError as error:
            logger.warning("%s; no chat model grades (%s)", error.message, error.hint)
        return open_grader(self.assistant)
