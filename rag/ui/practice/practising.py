"""The reader's actions in the practice room: moving between views, and storing results. Independent of Gradio and HTML.

The browser names questions by id: for an id that the material no longer has, actions raise UsageError and change
nothing.
"""

import random
import secrets
import threading
from dataclasses import replace
from datetime import datetime

from rag.errors import UsageError
from rag.practice.attempt import MOST_CHARACTERS
from rag.practice.bank import Question
from rag.practice.grading import Grade, Verdict, overridden
from rag.practice.plan import Today, today
from rag.practice.rounds import Level, Round, answer, begin_round, skip_vanished, statements
from rag.practice.rubric import rubric_of
from rag.practice.schedule import CardReview, Rating, due_cards, rating_of, review_of
from rag.practice.store import Jotting
from rag.ui.browser_input import member_of
from rag.ui.practice.actions import PracticeAction, PracticeActionName
from rag.ui.practice.bank_view import rows_of
from rag.ui.practice.elements import day, percent
from rag.ui.practice.grade_view import GIVEN
from rag.ui.practice.places import Places
from rag.ui.practice.resources import PracticeResources
from rag.ui.session.practice import MORE, Filter, Practice, Reveal, View
from rag.ui.session.session import Session
from rag.ui.texts import PRACTICE_TEXTS

# Seeds for shuffling are below this.
SEEDS = 1 << 31
MOST_CARDS, MOST_STATEMENTS = 40, 20
FEWEST_ASKED, MOST_ASKED = 5, 8
# Seconds; longer than anyone looks at one card.
LONGEST = 3_600
BOXES = ("draft", "note", "version")
INTERVIEW = (PracticeActionName.BEGIN, PracticeActionName.CONTINUE, PracticeActionName.END, PracticeActionName.REPORT)


class Practising:
    """The actions over the room's resources. They return a message for the reader, which may be empty."""

    def __init__(self, resources: PracticeResources) -> None:
        self._resources = resources
        self._places = Places()
        # A question's jotting is read, changed and written; two boxes may be written at once.
        self._jotting = threading.Lock()

    def do(self, session: Session, action: PracticeAction, now: datetime) -> str:
        """Carry out an action other than grading."""
        practice = session.practice
        match action.name:
            case PracticeActionName.PLACE if action.rest:
                return self._return(session, action.rest, now)
            case PracticeActionName.GO if action.rest in list(View):
                self._go(session, View(action.rest), now)
            case PracticeActionName.PLAN:
                self._resources.store.save_plan(user_of(session), action.plan)
            case PracticeActionName.TONIGHT:
                self._take(session, self.today(session, now).questions, action.rest)
            case PracticeActionName.FILTER:
                practice.filter = replace(action.filter, seed=practice.filter.seed)
            case PracticeActionName.MORE:
                practice.filter = replace(practice.filter, most=practice.filter.most + MORE)
            case PracticeActionName.TOPIC:
                topic = action.rest.removeprefix("/")
                practice.view, practice.filter = View.BANK, Filter(topic=topic)
            case PracticeActionName.SHUFFLE:
                seed = random.randrange(1, SEEDS) if action.rest == "on" else 0
                practice.filter = replace(action.filter, seed=seed)
            case PracticeActionName.OPEN:
                self._open(session, action.rest, now)
            case PracticeActionName.NEXT:
                self._next(session, now)
            case PracticeActionName.DUE:
                self._take_due(session, action.rest, now)
            case PracticeActionName.BOOKMARK:
                self._bookmark(session, action.rest)
            case PracticeActionName.OVERRIDE:
                return self._override(session, action.rest, now)
            case PracticeActionName.DEAL | PracticeActionName.REVEAL | PracticeActionName.RATE:
                return self._recall(session, action, now)
            case PracticeActionName.STATE | PracticeActionName.JUDGE | PracticeActionName.ONWARD:
                return self._judge(session, action)
            case name if name in INTERVIEW:
                return self._interview(session, action, now)
        return ""

    def place(self, session: Session) -> str:
        """Where the reader is, which is remembered."""
        return self._places.remember(user_of(session), session.practice)

    def find(self, session: Session, question_id: str) -> Question:
        """The question with an id. Raises UsageError, in the reader's language, if the material no longer has it."""
        try:
            return self._resources.material().bank.find(question_id)
        except UsageError as error:
            raise UsageError(PRACTICE_TEXTS[session.language].question_gone) from error

    def keep(self, session: Session, field: str, question_id: str, text: str, edition: int) -> None:
        """Store a box's text as it is typed. An edition older than the last one stored changes nothing."""
        name = _box(field)
        if name not in BOXES or not question_id:
            return
        with self._jotting:
            editions, box = session.practice.editions, (name, question_id)
            if edition < editions.get(box, 0):
                return
            editions[box] = edition
            jotting = self._resources.progress_of(user_of(session)).jotting(question_id)
            texts = {"note": jotting.note, "version": jotting.version, "draft": jotting.draft, name: text}
            self._resources.store.jot(user_of(session), question_id, Jotting(jotting.bookmarked, **texts))
        if name == "draft" and text:
            self._resources.read_ahead(question_id, session.preferences)

    def has_edition(self, session: Session, field: str, question_id: str, edition: int) -> bool:
        """Whether this edition of a box, or a later one, was stored."""
        return session.practice.editions.get((_box(field), question_id), -1) >= edition

    def grade(self, session: Session, action: PracticeAction, now: datetime) -> str:
        """Grade an attempt, and reschedule its card."""
        practice, question = session.practice, self.find(session, action.text("question"))
        grade = self._graded(session, question, action.text("attempt"))
        practice.question, practice.grade = question.id, grade
        practice.grades += 1
        if self._review(session, question, self.with_overrides(session, grade), now):
            self._end_draft(session, question, action)
        return ""

    def answer(self, session: Session, action: PracticeAction, now: datetime) -> str:
        """Answer the question that the open round asks."""
        bank, round = self._resources.material().bank, self.round(session)
        question = self.find(session, action.text("question"))
        if round is None or round.current != question.id:  # answered in another tab
            return ""
        grade = self._graded(session, question, action.text("attempt"))
        self._resources.store.save_round(user_of(session), answer(bank, round, grade))
        self._review(session, question, grade, now)
        self._end_draft(session, question, action)
        return ""

    def round(self, session: Session) -> Round | None:
        """The open round, as stored; None if no round is open."""
        rounds = self._resources.store.rounds(user_of(session))
        return next((round for round in rounds if round.id == session.practice.round_id), None)

    def today(self, session: Session, now: datetime) -> Today:
        """What is left to practise today."""
        material, store, user = self._resources.material(), self._resources.store, user_of(session)
        plan = store.plan(user)
        topics, zone = material.topics_of(plan.role), session.practice.time_zone
        return today(material.bank, plan, topics, store.cards(user), store.reviews(user), now, zone)

    def with_overrides(self, session: Session, grade: Grade) -> Grade:
        """A grade with the reader's own verdicts applied."""
        own = self._resources.store.overrides(user_of(session), grade.question_id, grade.attempt)
        return overridden(grade, dict(own)) if own else grade

    def _graded(self, session: Session, question: Question, attempt: str) -> Grade:
        if len(attempt) > MOST_CHARACTERS:
            notice = PRACTICE_TEXTS[session.language].too_long
            raise UsageError(notice.format(count=f"{len(attempt):,}", most=f"{MOST_CHARACTERS:,}"))
        rubric = rubric_of(self._resources.material().bank, question)
        return self._resources.grader(session.preferences).grade(attempt, rubric)

    def _review(self, session: Session, question: Question, grade: Grade, now: datetime) -> bool:
        """Store an attempt with its score. Returns whether there was anything to store."""
        review = review_of(question, grade, now)
        if review is not None:
            self._resources.store.review(user_of(session), review)
        return review is not None

    def _end_draft(self, session: Session, question: Question, action: PracticeAction) -> None:
        """Clear the draft that was graded; text typed in the meantime stays a draft."""
        self.keep(session, "attempt", question.id, "", action.edition)

    def _return(self, session: Session, place: str, now: datetime) -> str:
        """To a place where the reader was, perhaps before the page was loaded. An interview is as it is kept."""
        practice = session.practice
        self._places.return_to(user_of(session), place, practice)
        if practice.view is View.INTERVIEW and practice.round_id:
            return self._interview(session, PracticeAction(PracticeActionName.CONTINUE, practice.round_id), now)
        return ""

    def _go(self, session: Session, view: View, now: datetime) -> None:
        """Go to a view. An open interview is left, and can be continued."""
        practice = session.practice
        practice.view, practice.deck, practice.dealt, practice.round_id = view, (), 0, ""
        practice.statements, practice.judged, practice.is_told = (), (), False
        if view is View.QUESTION:
            self._take_due(session, "question", now)

    def _open(self, session: Session, question_id: str, now: datetime) -> None:
        """Open a question. From the bank, "next" goes through the questions listed there."""
        practice, question = session.practice, self.find(session, question_id)
        if practice.view is View.BANK:
            kept = self._resources.progress_of(user_of(session))
            rows = rows_of(self._resources.material().bank, practice.filter, kept, now)
            practice.queue = tuple(row.question.id for row in rows)
        if practice.view is View.TODAY:
            practice.queue = self.today(session, now).questions
        if practice.view in (View.TODAY, View.BANK):
            practice.back = practice.view
        if not practice.place(question):
            practice.queue = ()
        practice.view, practice.question, practice.grade = View.QUESTION, question.id, None

    def _next(self, session: Session, now: datetime) -> None:
        practice, bank = session.practice, self._resources.material().bank
        question = bank.questions.get(practice.question)
        behind = practice.queue[practice.place(question) if question is not None else 0 :]
        found = next((name for name in behind if name in bank.questions), None)
        if found is None:
            self._go(session, practice.back, now)
        else:
            practice.question, practice.grade = found, None

    def _take_due(self, session: Session, how: str, now: datetime) -> None:
        """Go through the due questions, to be answered or as recall cards."""
        cards = self._resources.progress_of(user_of(session)).cards
        due = tuple(card.question_id for card in due_cards(self._resources.material().bank, cards, now))
        self._take(session, due, how)

    def _take(self, session: Session, questions: tuple[str, ...], how: str) -> None:
        """Go through these questions one by one; if there are none, go to today's view."""
        practice = session.practice
        practice.back = View.TODAY
        if not questions:
            practice.view = View.TODAY
        elif how == View.RECALL:
            self._deal(practice, questions[:MOST_CARDS])
        else:
            practice.view, practice.queue, practice.question = View.QUESTION, questions, questions[0]
            practice.grade = None

    def _bookmark(self, session: Session, question_id: str) -> None:
        question = self.find(session, question_id)
        with self._jotting:
            jotting = self._resources.progress_of(user_of(session)).jotting(question.id)
            changed = replace(jotting, bookmarked=not jotting.bookmarked)
            self._resources.store.jot(user_of(session), question.id, changed)

    def _override(self, session: Session, rest: str, now: datetime) -> str:
        """Store the reader's own verdict on a point, or withdraw it. If the rating changes, the new one is appended to
        the log and replaces the previous one."""
        place, _, verdict = rest.partition("-")
        grade = session.practice.grade
        if grade is None or not place.isdecimal() or int(place) >= len(grade.points):
            return ""
        point = grade.points[int(place)]
        taken_back = verdict == point.verdict
        if not taken_back and verdict not in GIVEN:
            return ""
        before = self.with_overrides(session, grade)
        store, user = self._resources.store, user_of(session)
        store.override(
            user, grade.question_id, grade.attempt, point.point.text, None if taken_back else Verdict(verdict)
        )
        after = self.with_overrides(session, grade)
        if rating_of(after.score) is not rating_of(before.score):
            self._review(session, self.find(session, grade.question_id), after, now)
        return PRACTICE_TEXTS[session.language].overridden.format(score=percent(after.score))

    def _recall(self, session: Session, action: PracticeAction, now: datetime) -> str:
        practice, texts = session.practice, PRACTICE_TEXTS[session.language]
        if action.name is PracticeActionName.DEAL:
            wanted, bank = action.filter, self._resources.material().bank
            rows = rows_of(bank, wanted, self._resources.progress_of(user_of(session)), now)
            cards = [question.id for row in rows for question in (row.question, *row.follow_ups)]
            if action.fields.get("shuffled") == "on":
                random.shuffle(cards)
            self._deal(practice, tuple(cards[: action.number("count", 1, MOST_CARDS)]))
            return "" if cards else texts.deck_empty
        if action.name is PracticeActionName.REVEAL:
            practice.reveal = member_of(Reveal, action.rest) or practice.reveal
            return ""
        return self._rate(session, action, now)

    def _deal(self, practice: Practice, cards: tuple[str, ...]) -> None:
        practice.view, practice.deck, practice.dealt, practice.reveal = View.RECALL, cards, len(cards), Reveal.NOTHING
        practice.sitting = _name()

    def _rate(self, session: Session, action: PracticeAction, now: datetime) -> str:
        """Rate the current card, and go on to the next one that the material still has."""
        practice, bank = session.practice, self._resources.material().bank
        rating = action.rating
        if rating is None or not practice.deck or practice.deck[0] != action.fields.get("question", practice.deck[0]):
            return ""
        question = self.find(session, practice.deck[0])
        seconds = action.number("seconds", 0, LONGEST) or None
        review = CardReview(question.id, now, Rating(rating), None, "", question.answer_sha256, seconds)
        card = self._resources.store.review(user_of(session), review)
        practice.deck = tuple(name for name in practice.deck[1:] if name in bank.questions)
        practice.reveal = Reveal.NOTHING
        texts = PRACTICE_TEXTS[session.language]
        return texts.rated.format(when=day(card.due, now, practice, texts))

    def _judge(self, session: Session, action: PracticeAction) -> str:
        practice, texts = session.practice, PRACTICE_TEXTS[session.language]
        if action.name is PracticeActionName.STATE:
            count, seed = action.number("count", 1, MOST_STATEMENTS), random.randrange(SEEDS)
            found = statements(self._resources.material().bank, topic=action.topic, count=count, seed=seed)
            practice.statements, practice.judged, practice.is_told = found, (), False
            practice.sitting = _name()
            return "" if found else texts.statements_none
        if action.name is PracticeActionName.ONWARD:
            practice.is_told = False
        elif not practice.is_told and len(practice.judged) < len(practice.statements):
            statement = practice.statements[len(practice.judged)]
            practice.judged = (*practice.judged, (action.rest == "right") is statement.is_right)
            practice.is_told = True
        return ""

    def _interview(self, session: Session, action: PracticeAction, now: datetime) -> str:
        practice, store, user = session.practice, self._resources.store, user_of(session)
        bank = self._resources.material().bank
        practice.view = View.INTERVIEW
        if action.name is PracticeActionName.BEGIN:
            round = begin_round(
                bank, topic=action.topic, level=member_of(Level, action.fields.get("level")) or Level.STANDARD,
                count=action.number("count", FEWEST_ASKED, MOST_ASKED), now=now, cards=store.cards(user),
                seed=random.randrange(SEEDS),
            )  # fmt: skip
            store.save_round(user, round)
            practice.round_id = round.id
            return ""
        if action.name is not PracticeActionName.END:
            practice.round_id = action.rest
        found = self.round(session)
        if found is None:
            practice.round_id = ""
            return ""
        left = skip_vanished(bank, found) if action.name is not PracticeActionName.END else replace(found, planned=())
        if left != found:
            store.save_round(user, left)
        is_shorter = action.name is PracticeActionName.CONTINUE and left != found
        return PRACTICE_TEXTS[session.language].round_vanished if is_shorter else ""


def _box(field: str) -> str:
    return "draft" if field == "attempt" else field


def _name() -> str:
    return secrets.token_hex(4)


def user_of(session: Session) -> str:
    return session.user or ""
