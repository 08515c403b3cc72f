"""What the page says about automatic updates."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from ingest.report import Counts, Failure
from ingest.updates.auto_update import AutoUpdate, AutoUpdateStatus, Update
from rag.answer.assistant import Assistant
from rag.errors import IngestError, Unreadable
from rag.ui.chat import exchange as chat
from rag.ui.chat.auto_update import auto_update_text, under_way_text
from rag.ui.chat.handlers import Handlers
from rag.ui.chat.messages import messages
from rag.ui.rooms import Rooms
from rag.ui.session.session import Session
from rag.ui.texts import TEXTS, Language

AT = datetime(2026, 1, 2, 10, 23, tzinfo=UTC)
FAILED = [Failure("/docs/<b>.pdf", "<b>.pdf: is a damaged PDF file", Unreadable.DAMAGED)]


@pytest.mark.parametrize(
    ("status", "chinese", "english"),
    [
        (AutoUpdateStatus(), "", ""),
        (AutoUpdateStatus(problem=IngestError("gone")), "", ""),
        (AutoUpdateStatus(last=Update(AT, Counts(added=1, failed=FAILED))), "", ""),
        (AutoUpdateStatus(on=True), "正在查看资料…", "Looking at the documents…"),
        (AutoUpdateStatus(on=True, done=3, total=9), "正在更新资料 3/9", "Updating 3/9"),
        (
            AutoUpdateStatus(once=True, done=32, total=99, fills=True, last=Update(AT, Counts(added=1))),
            "资料都可以问了；正在逐段细读 32/99",
            "All can be asked; reading passage by passage 32/99",
        ),
        (AutoUpdateStatus(on=True, last=Update(AT, Counts())), "10:23 资料没有变化", "10:23 no document has changed"),
        (
            AutoUpdateStatus(on=True, last=Update(AT, Counts(added=1, removed=2))),
            "10:23 已更新：新增 1、删除 2",
            "10:23 updated: 1 added, 2 removed",
        ),
    ],
)
def test_it_says_what_happened(status: AutoUpdateStatus, chinese: str, english: str) -> None:
    assert auto_update_text(status, TEXTS[Language.ZH]) == chinese
    assert auto_update_text(status, TEXTS[Language.EN]) == english
    has_ended = status.last is not None and not status.total
    assert under_way_text(status, TEXTS[Language.ZH]) == ("" if has_ended else chinese)


def test_files_that_cannot_be_read_are_counted() -> None:
    status = AutoUpdateStatus(on=True, last=Update(AT, Counts(unchanged=96, failed=FAILED)))
    for language, counted in ((Language.ZH, "97 个文件中有 1 个读不了"), (Language.EN, "1 of 97 files cannot be read")):
        html = auto_update_text(status, TEXTS[language])
        assert counted in html
        assert "problem" not in html  # the others are up to date
        assert "PDF" not in html


def test_a_problem_is_told_in_the_reader_s_language_and_is_no_html() -> None:
    html = auto_update_text(AutoUpdateStatus(on=True, problem=IngestError("<b> is missing")), TEXTS[Language.ZH])
    assert "资料没能编入索引" in html
    assert "&lt;b&gt; is missing" in html


@pytest.mark.parametrize("question", ["ZeRO-2 和 ZeRO-3 差在哪？", "红烧肉怎么做？"])
def test_an_early_answer_says_that_documents_are_still_read(assistant: Assistant, question: str) -> None:
    for early in (False, True):
        session = Session()
        for _ in chat.answer_after(assistant, session, question, None, early=early):
            pass
        assert session.exchanges[0].is_early is early
        texts = TEXTS[session.language]
        assert (texts.early in messages(session, is_reading=True)[1]["content"]) is early
        assert (texts.answer_now in messages(session)[1]["content"]) is early


@pytest.mark.parametrize(
    ("status", "early"),
    [
        (AutoUpdateStatus(), False),
        (AutoUpdateStatus(once=True), True),
        (AutoUpdateStatus(once=True, problem=IngestError("gone")), True),
        (AutoUpdateStatus(on=True, done=3, total=9), True),
        (AutoUpdateStatus(on=True, done=3, total=9, last=Update(AT, Counts())), False),
        (AutoUpdateStatus(once=True, last=Update(AT, Counts())), False),
    ],
)
def test_a_question_is_early_until_the_first_run_has_ended(
    assistant: Assistant, status: AutoUpdateStatus, early: bool
) -> None:
    class Told(AutoUpdate):
        def __init__(self) -> None:
            """Without documents."""

        reading = None

        @contextmanager
        def resting(self) -> Iterator[None]:
            yield

        def status(self) -> AutoUpdateStatus:
            return status

    session = Session()
    for _ in Handlers(assistant, Rooms(Told()))._answer(session, "ZeRO-2 和 ZeRO-3 差在哪？", parent=None):
        pass
    assert session.exchanges[0].is_early is early
