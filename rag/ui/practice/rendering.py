"""Renders the practice room as HTML: its navigation, the current view, and the part of the view that changes while the
reader stays in it."""

from datetime import datetime

from rag.practice.bank import Bank, Question
from rag.practice.grading import Grade
from rag.practice.rounds import Round, next_follow_up
from rag.practice.schedule import due_cards, forecast, progress, streak
from rag.ui.practice.actions import ALL
from rag.ui.practice.bank_view import bank_part, bank_shell, names_in, rows_of
from rag.ui.practice.elements import HTML as ELEMENTS
from rag.ui.practice.elements import day, view
from rag.ui.practice.exercise_views import (
    card_part,
    card_shell,
    done_shell,
    interview_setup,
    recall_setup,
    result_shell,
    round_shell,
    rounds_part,
    statement_part,
    statement_shell,
    statements_setup,
)
from rag.ui.practice.exports_view import exports_shell
from rag.ui.practice.grade_view import Graded, grade_part
from rag.ui.practice.practising import Practising, user_of
from rag.ui.practice.question_view import QuestionWithProgress, question_shell
from rag.ui.practice.report_view import report_as_markdown, report_part, report_shell
from rag.ui.practice.resources import CardsAndJottings, PracticeResources
from rag.ui.practice.today_view import Glance, progress_part, progress_shell, today_part, today_shell
from rag.ui.session.practice import View
from rag.ui.session.session import Session
from rag.ui.texts import PRACTICE_TEXTS, Texts

ShellAndPart = tuple[str, str]


class Rendering:
    def __init__(self, resources: PracticeResources, practising: Practising) -> None:
        self._resources = resources
        self._practising = practising

    def navigation(self, session: Session) -> str:
        """The list of views, and the notes that are shown in all of them."""
        texts, practice = PRACTICE_TEXTS[session.language], session.practice
        notes = [texts.unkept] if self._resources.problem is not None else []
        if (file := self._resources.set_aside) is not None:
            notes.append(texts.set_aside.format(file=file.name))
        return ELEMENTS(
            "navigation",
            views=[one for one in View if one is not View.QUESTION],
            here=practice.back if practice.view is View.QUESTION else practice.view,
            notes=notes,
            texts=texts,
        )

    def draw(self, session: Session, now: datetime) -> ShellAndPart:
        """The current view and its part."""
        shell, part = self._view(session, now)
        return view(session.practice, shell), part

    def _view(self, session: Session, now: datetime) -> ShellAndPart:
        texts = PRACTICE_TEXTS[session.language]
        kept = self._resources.progress_of(user_of(session))
        match session.practice.view:
            case View.TODAY:
                return self._today(session, kept, now, texts)
            case View.QUESTION:
                return self._question(session, kept, now, texts)
            case View.RECALL:
                return self._recall(session, kept, now, texts)
            case View.STATEMENTS:
                return self._statements(session, texts)
            case View.INTERVIEW:
                return self._interview(session, kept, now, texts)
            case View.PROGRESS:
                return self._progress(session, kept, now, texts)
            case View.EXPORTS:
                return exports_shell(self._topics(session, texts), texts), ""
            case _:
                return self._bank(session, kept, now, texts)

    def _today(self, session: Session, kept: CardsAndJottings, now: datetime, texts: Texts) -> ShellAndPart:
        material, plan = self._resources.material(), self._resources.store.plan(user_of(session))
        if not material.bank.questions:
            return ELEMENTS("empty", title=texts.view_today, notice=texts.bank_empty), ""
        shell = today_shell(plan, material.roles, session.practice.today(now), texts, session.language)
        return shell, self.today_part(session, kept, now)

    def today_part(self, session: Session, kept: CardsAndJottings, now: datetime) -> str:
        texts, practice, store = PRACTICE_TEXTS[session.language], session.practice, self._resources.store
        material, user = self._resources.material(), user_of(session)
        days = streak(store.reviews(user), now, practice.time_zone)
        glance = Glance(days, progress(material.bank, kept.cards, now))
        left = next(iter(store.rounds(user, unfinished=True)), None)
        day = self._practising.today(session, now)
        return today_part(day, glance, left, material, practice.today(now), texts, session.language)

    def _bank(self, session: Session, kept: CardsAndJottings, now: datetime, texts: Texts) -> ShellAndPart:
        shell = bank_shell(self._resources.material(), session.practice.filter, texts, session.language)
        return shell, self.bank_part(session, kept, now)

    def bank_part(self, session: Session, kept: CardsAndJottings, now: datetime) -> str:
        bank, wanted = self._resources.material().bank, session.practice.filter
        if not bank.questions:
            return ""
        return bank_part(
            rows_of(bank, wanted, kept, now), wanted, kept, now, PRACTICE_TEXTS[session.language], session.language
        )

    def _question(self, session: Session, kept: CardsAndJottings, now: datetime, texts: Texts) -> ShellAndPart:
        practice, material = session.practice, self._resources.material()
        question = material.bank.questions.get(practice.question)
        if question is None:  # its page vanished while it was open
            return ELEMENTS("gone", texts=texts), ""
        reviews = self._resources.store.reviews(user_of(session), question.id)
        topic = material.topic(question.topic, session.language, texts.top)
        asked = QuestionWithProgress(question, topic, kept, reviews, now, names_in(material.bank, session.language))
        return question_shell(asked, practice, texts, session.language), self.grade_part(session, kept, now)

    def grade_part(self, session: Session, kept: CardsAndJottings, now: datetime) -> str:
        """The grade of the open question; empty if it was not graded."""
        practice, texts, bank = session.practice, PRACTICE_TEXTS[session.language], self._resources.material().bank
        question = bank.questions.get(practice.question)
        if practice.grade is None or question is None:
            return ""
        grade = self._practising.with_overrides(session, practice.grade)
        own = self._resources.store.overrides(user_of(session), grade.question_id, grade.attempt)
        card = kept.cards.get(question.id)
        due = texts.next_due.format(when=day(card.due, now, practice, texts)) if card is not None else ""
        follow_ups = _follow_ups(bank, question, grade)
        has_next = 0 < practice.place(question) < len(practice.queue)
        names = names_in(bank, session.language)
        graded = Graded(grade, own, due, follow_ups, has_next, practice.grades, names)
        return grade_part(graded, texts, session.language)

    def _recall(self, session: Session, kept: CardsAndJottings, now: datetime, texts: Texts) -> ShellAndPart:
        practice, material = session.practice, self._resources.material()
        if not practice.dealt:
            due = len(due_cards(material.bank, kept.cards, now))
            return recall_setup(self._topics(session, texts), due, texts), ""
        question = next((material.bank.questions[n] for n in practice.deck if n in material.bank.questions), None)
        if question is None:
            return done_shell(practice, texts), ""
        topic = material.topic(question.topic, session.language, texts.top)
        return (
            card_shell(question, topic, practice, texts, session.language),
            card_part(question, kept, names_in(material.bank, session.language), now, practice, texts),
        )

    def _statements(self, session: Session, texts: Texts) -> ShellAndPart:
        practice, names = session.practice, names_in(self._resources.material().bank, session.language)
        if not practice.statements:
            return statements_setup(self._topics(session, texts), texts), ""
        if len(practice.judged) == len(practice.statements) and not practice.is_told:
            return result_shell(practice, names, texts), ""
        return statement_shell(practice, texts), statement_part(practice, names, texts)

    def _interview(self, session: Session, kept: CardsAndJottings, now: datetime, texts: Texts) -> ShellAndPart:
        practice = session.practice
        round = self._practising.round(session)
        if round is None:
            every = self._resources.store.rounds(user_of(session))
            return (
                interview_setup(self._topics(session, texts), texts),
                rounds_part(every, self._names(session, texts), now, practice, texts),
            )
        bank = self._resources.material().bank
        question = bank.questions.get(round.current or "")
        if round.is_finished or question is None:
            topic = self._names(session, texts).get(round.topic, round.topic or "")
            part = report_part(bank, round, kept.cards, topic, now, practice, texts, session.language)
            return report_shell(round, texts), part
        return round_shell(round, question, kept.jotting(question.id).draft, texts, session.language), ""

    def report(self, session: Session, round: Round) -> str:
        """The report of a round, as a Markdown file."""
        cards = self._resources.progress_of(user_of(session)).cards
        texts = PRACTICE_TEXTS[session.language]
        topic = self._names(session, texts).get(round.topic, round.topic or "")
        bank, zone = self._resources.material().bank, session.practice.time_zone
        return report_as_markdown(bank, round, cards, texts, topic=topic, zone=zone)

    def _progress(self, session: Session, kept: CardsAndJottings, now: datetime, texts: Texts) -> ShellAndPart:
        practice, bank = session.practice, self._resources.material().bank
        due = [bank.questions[card.question_id] for card in due_cards(bank, kept.cards, now)]
        days = streak(self._resources.store.reviews(user_of(session)), now, practice.time_zone)
        known = [card for card in kept.cards.values() if card.question_id in bank.questions]
        ahead = forecast(known, now, practice.time_zone)
        shell = progress_shell(days, len(due), ahead, texts)
        names = self._names(session, texts)
        return shell, progress_part(progress(bank, kept.cards, now), names, due, texts, session.language)

    def _names(self, session: Session, texts: Texts) -> dict[str | None, str]:
        """The names of the topics; the key None stands for all topics."""
        material = self._resources.material()
        topics = material.bank.topics()
        return {None: texts.all_topics} | {t: material.topic(t, session.language, texts.top) for t in topics}

    def _topics(self, session: Session, texts: Texts) -> list[tuple[str, str]]:
        """The topics as choices of a field: pairs of name and value."""
        names = self._names(session, texts)
        return [(name, ALL if topic is None else f"/{topic}") for topic, name in names.items()]


def _follow_ups(bank: Bank, question: Question, grade: Grade) -> list[Question]:
    """The follow-ups of the question's page, starting with the one that asks about what was missed."""
    page = bank.questions.get(question.parent or "", question)
    left = [bank.questions[name] for name in page.follow_ups if name in bank.questions and name != question.id]
    first = next_follow_up(bank, page, grade, [question.id])
    return sorted(left, key=lambda one: one != first)
