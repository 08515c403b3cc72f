"""What the tools work with, opened when it is first needed: assistant, question bank, grader, and the reader's log."""

import logging
import random
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime

from rag.answer.assistant import Assistant
from rag.answer.choices import Choices, StyleName
from rag.errors import RagError, UsageError
from rag.index.scope import check_names
from rag.language.injection import is_injection
from rag.practice.bank import Bank, Question, read_bank
from rag.practice.graders import open_grader
from rag.practice.grading import Grade, Grader
from rag.practice.rubric import rubric_of
from rag.practice.schedule import due_cards, review_of
from rag.practice.store import PracticeStore
from rag.settings import Settings

logger = logging.getLogger(__name__)


class Library:
    """Safe to use from several threads. Nothing is opened before it is needed, so that a client is never kept waiting
    while it connects; what cannot be opened is tried again at the next call.

    Practice is read from and kept in the reader's log only with `allow_writes`.
    """

    def __init__(
        self,
        settings: Settings,
        open_assistant: Callable[[Settings], Assistant] = Assistant.open,
        *,
        allow_writes: bool = False,
    ) -> None:
        self.settings = settings
        self._open_assistant = open_assistant
        self.allow_writes = allow_writes
        self._opening = threading.RLock()
        self._assistant: Assistant | None = None
        self._practice: tuple[str, Bank, Grader] | None = None

    def warm_up(self) -> None:
        """Do now what the first call would wait for."""
        try:
            self.assistant().warm_up()
        except RagError as error:
            logger.warning("%s (%s)", error.message, error.hint)

    def assistant(self, style: StyleName = StyleName.STANDARD, only: Sequence[str] = ()) -> Assistant:
        """It answers a model: sentences that give orders to one are left out. Raises RagError where index or model
        cannot be opened, or `only` names a document or folder that is not there."""
        with self._opening:
            if self._assistant is None:
                self._assistant = self._open_assistant(self.settings)
            assistant = self._assistant
        check_names(assistant.index, only)
        return assistant.choosing(Choices(style=style, for_model=True, only=tuple(only)))

    def source(self, document: str) -> str:
        """The source text of a document, by its name in the index; no file is opened. Raises UsageError."""
        source = self.assistant().source(document)
        if source is None:
            raise UsageError(
                f"there is no document {document[:200]!r}",
                hint="names are those that `search` and `ask` give, and the resource interview-rag://documents lists",
            )
        return source

    def next_question(self, topic: str | None, without: Sequence[str]) -> tuple[Question, bool]:
        """A question to practise and whether it is due: what is due, else a new one, else any. Raises UsageError."""
        bank = self._practising()[0]
        asked = [question for question in bank.select(topic=topic or None) if not is_injection(question.text)]
        ids = [question.id for question in asked if question.id not in set(without)]
        if not ids:
            raise UsageError(
                "there is no question left to ask", hint="name fewer ids under `without`, or another topic"
            )
        if not self.allow_writes:
            return bank.find(random.choice(ids)), False
        with closing(PracticeStore(self.settings.data)) as store:
            cards = store.cards("")
        due = [card.question_id for card in due_cards(bank, cards, datetime.now(UTC)) if card.question_id in set(ids)]
        return bank.find(due[0] if due else random.choice([one for one in ids if one not in cards] or ids)), bool(due)

    def topics(self) -> dict[str, int]:
        """How many questions each topic has."""
        return self._practising()[0].topics()

    def grade(self, question_id: str, answer: str) -> tuple[Question, Grade, bool]:
        """The grade of an answer, and whether it is kept, with the day of the next one: where writing is allowed and
        something was answered. Raises UsageError."""
        bank, grader = self._practising()
        question = bank.find(question_id)
        grade = grader.grade(answer, rubric_of(bank, question))
        review = review_of(question, grade, datetime.now(UTC))
        if not self.allow_writes or review is None:
            return question, grade, False
        with closing(PracticeStore(self.settings.data)) as store:
            store.review("", review)
        return question, grade, True

    def _practising(self) -> tuple[Bank, Grader]:
        """The questions of the live generation and who grades, read once a generation."""
        assistant = self.assistant()
        with self._opening:
            index = assistant.index
            if self._practice is None or self._practice[0] != index.manifest_sha256:
                self._practice = (index.manifest_sha256, read_bank(index), open_grader(assistant))
            bank, grader = self._practice[1:]
        if not bank.questions:
            raise UsageError("the material asks no questions", hint="ingest pages whose headings are questions")
        return bank, grader
