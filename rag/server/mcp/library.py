"""What the tools use, opened when first needed: assistant, question bank, grader, and the reader's log."""

import logging
import random
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime

from rag.answer.assistant import Assistant
from rag.answer.choices import Choices, StyleName
from rag.errors import RagError, UsageError
from rag.index.part import check_names
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
    """Safe to use from several threads. Opens nothing before it is needed, so that no client waits while it connects;
    a failed opening is retried at the next call.

    Reads and writes the reader's practice log only with `allow_writes`.
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
        """Do now what would delay the first call."""
        try:
            self.assistant().warm_up()
        except RagError as error:
            logger.warning("%s (%s)", error.message, error.hint)

    def assistant(self, style: StyleName = StyleName.STANDARD, only: Sequence[str] = ()) -> Assistant:
        """An assistant whose reader is a model: it omits sentences that give orders to one. Raises RagError if index or
        model cannot be opened, or `only` names an unknown document or folder."""
        with self._opening:
            if self._assistant is None:
                self._assistant = self._open_assistant(self.settings)
            assistant = self._assistant
        check_names(assistant.index, only)
        return assistant.choosing(Choices(style=style, for_model=True, only=tuple(only)))

    def source(self, document: str) -> str:
        """A document's source text, by its name in the index; opens no file. Raises UsageError."""
        source = self.assistant().source(document)
        if source is None:
            raise UsageError(
                f"there is no document {document[:200]!r}",
                hint="use a name that `search` or `ask` returns, or that the resource interview-rag://documents lists",
            )
        return source

    def next_question(self, topic: str | None, without: Sequence[str]) -> tuple[Question, bool]:
        """A question to practise and whether it is due: a due one, else a new one, else any. Raises UsageError."""
        bank = self._practising()[0]
        asked = [question for question in bank.select(topic=topic or None) if not is_injection(question.text)]
        ids = [question.id for question in asked if question.id not in set(without)]
        if not ids:
            raise UsageError("there is no question left to ask", hint="pass fewer ids as `without`, or another topic")
        if not self.allow_writes:
            return bank.find(random.choice(ids)), False
        with closing(PracticeStore(self.settings.data)) as store:
            cards = store.cards("")
        due = [card.question_id for card in due_cards(bank, cards, datetime.now(UTC)) if card.question_id in set(ids)]
        return bank.find(due[0] if due else random.choice([one for one in ids if one not in cards] or ids)), bool(due)

    def topics(self) -> dict[str, int]:
        """The number of questions per topic."""
        return self._practising()[0].topics()

    def grade(self, question_id: str, answer: str) -> tuple[Question, Grade, bool]:
        """The grade of an answer, and whether the log keeps it and schedules the next: only if writing is allowed and
        the answer is not empty. Raises UsageError."""
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
        """The live generation's questions and the grader, read once per generation."""
        assistant = self.assistant()
        with self._opening:
            index = assistant.index
            if self._practice is None or self._practice[0] != index.manifest_sha256:
                self._practice = (index.manifest_sha256, read_bank(index), open_grader(assistant))
            bank, grader = self._practice[1:]
        if not bank.questions:
            raise UsageError("the material has no questions", hint="ingest pages whose headings are questions")
        return bank, grader
