"""What the page says about automatic updates."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.library import Library
from ingest.report import Counts, Failure
from ingest.sync import sync
from ingest.updates.auto_update import AutoUpdate, AutoUpdateStatus, Update
from ingest.updates.first_reading import FirstReading
from rag.answer.assistant import Assistant
from rag.errors import IngestError, SettingsError, Unreadable
from rag.types import Refusal, RefusalReason
from rag.ui.app.page import Rooms
from rag.ui.chat import exchange as chat
from rag.ui.chat.auto_update import auto_update_text, under_way_text
from rag.ui.chat.components import ChatComponents
from rag.ui.chat.handlers import ChatHandlers
from rag.ui.chat.messages import messages, panel
from rag.ui.session.session import Session
from rag.ui.texts import TEXTS, Language
from tests.conftest import HashEmbedder
from tests.rag.library import library_settings
from tests.rag.ui.rooms import built, named

AT = datetime(2026, 1, 2, 10, 23, tzinfo=UTC)
FAILED = [Failure("/docs/<b>.pdf", "<b>.pdf: is a damaged PDF file", Unreadable.DAMAGED)]

FIRST = AutoUpdateStatus(once=True, done=20, total=100)
ENDED = AutoUpdateStatus(once=True, last=Update(AT, Counts(added=1)))
PARTS = named(ChatComponents)
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"


class Told(AutoUpdate):
    """Without documents; its status is what a test says."""

    reading = None

    def __init__(self, status: AutoUpdateStatus) -> None:
        self.told = status

    @contextmanager
    def resting(self) -> Iterator[None]:
        yield

    def status(self) -> AutoUpdateStatus:
        return self.told


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


@pytest.mark.parametrize("question", [QUESTION, "红烧肉怎么做？"])
def test_an_early_answer_says_that_documents_are_still_read(assistant: Assistant, question: str) -> None:
    for early in (False, True):
        session = Session()
        for _ in chat.answer_after(assistant, session, question, None, early=early):
            pass
        assert session.exchanges[0].is_early is early
        texts = TEXTS[session.language]
        assert (texts.early in messages(session, is_reading=True)[1]["content"]) is early
        assert (texts.answer_now in messages(session)[1]["content"]) is early


def test_sources_that_are_read_while_a_question_waits_are_there(own_library: Path, hash_embedder: HashEmbedder) -> None:
    assistant = Assistant(library_settings(own_library), hash_embedder)
    assert assistant.index.manifest.generation == 1

    class Reading(FirstReading):
        def wait_for(self, question: str, seconds: float) -> None:
            page = own_library / "documents" / "quokka.md"
            page.write_text("# quokka 是什么？\n\nquokka 是一种调度器，它把请求按长度分组。\n", encoding="utf-8")
            sync(assistant.settings, lambda: hash_embedder, identity=hash_embedder.identity)

    session = Session()
    for _ in chat.answer_after(assistant, session, "quokka 是什么？", None, reading=Reading()):
        pass
    exchange = session.exchanges[0]
    assert exchange.answer is not None
    assert "quokka.md" in {citation.document for citation in exchange.answer.citations}
    assert all(excerpt.is_there for excerpt in exchange.excerpts)


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
    session = Session()
    for _ in ChatHandlers(assistant, PARTS, Told(status))._answer(session, QUESTION, parent=None):
        pass
    assert session.exchanges[0].is_early is early


@pytest.mark.parametrize(
    ("seconds", "done", "chinese", "english"),
    [
        (60.0, 4, "", ""),  # too few to tell
        (30.0, 20, "约 2 分钟", "about 2 min"),
        (10.0, 20, "不到 1 分钟", "less than 1 min"),
        (600.0, 50, "约 10 分钟", "about 10 min"),
    ],
)
def test_the_first_reading_shows_how_far_it_is(seconds: float, done: int, chinese: str, english: str) -> None:
    status = replace(FIRST, done=done, began=time.monotonic() - seconds)
    for texts, name, left in (
        (TEXTS[Language.ZH], "第一次阅读资料", chinese),
        (TEXTS[Language.EN], "First reading", english),
    ):
        for html in (under_way_text(status, texts), auto_update_text(status, texts)):
            assert f"{name} {done}/100" in html
            assert f'<progress value="{done}" max="100" aria-label="{name}">' in html
            assert re.findall(r"约|不到|about|less", html) == re.findall(r"约|不到|about|less", left)
            assert left in html


def test_only_the_first_reading_is_called_so() -> None:
    texts = TEXTS[Language.ZH]
    for status in (
        AutoUpdateStatus(on=True, done=20, total=100, last=Update(AT, Counts())),
        replace(ENDED, done=20, total=100, fills=True),
        ENDED,
    ):
        assert status.seconds_left() is None
        assert "progress" not in auto_update_text(status, texts)
        assert texts.auto_update_first not in auto_update_text(status, texts)
    assert under_way_text(ENDED, texts) == ""


@pytest.mark.parametrize("reason", RefusalReason)
@pytest.mark.parametrize(
    ("language", "nothing", "so_far"),
    [
        (Language.ZH, r"资料里(没有|找不到)", "已读的资料里还没有"),
        (
            Language.EN,
            "The material (holds nothing|does not)|Nothing in the material",
            "What has been read so far does not",
        ),
    ],
)
def test_nothing_is_never_said_of_what_is_not_read_yet(
    assistant: Assistant, reason: RefusalReason, language: Language, nothing: str, so_far: str
) -> None:
    texts = TEXTS[language]
    for early in (False, True):
        session = Session(language=language)
        for _ in chat.answer_after(assistant, session, QUESTION, None, early=early):
            pass
        exchange = session.exchanges[0]
        assert exchange.answer is not None
        exchange.answer = replace(exchange.answer, refusal=Refusal(reason, ("Mamba",)))
        reading, read = messages(session, is_reading=True)[1]["content"], messages(session)[1]["content"]
        assert bool(re.search(nothing, reading)) is bool(re.search(nothing, read)) is not early
        assert (so_far in reading) is (texts.refused_then in read) is early
        assert ("Mamba" in reading) is (reason is RefusalReason.MISSING_TERMS)
        assert (texts.sources_nearest in panel(session)) is not early
        assert (texts.sources_nearest_early in panel(session)) is early


@pytest.mark.parametrize("may_change", [True, False])
def test_every_reader_is_told(assistant: Assistant, may_change: bool) -> None:
    rooms = Rooms(Told(FIRST), Library(assistant.settings, assistant.embedder, may_change=may_change))
    told = ChatHandlers(assistant, PARTS, rooms.auto_update, rooms.library).look(Session())
    assert TEXTS[Language.ZH].auto_update_first in told[PARTS.updating]
    assert told[PARTS.updates] == told[PARTS.updating]
    assert told[PARTS.clock].active
    components = [part["props"] for part in built(assistant, rooms).config["components"]]
    shown = {part["elem_id"]: part["visible"] for part in components if "updat" in str(part.get("elem_id"))}
    assert shown == {"updating": True, "updates": True, "auto-update": may_change}


@pytest.mark.parametrize(
    ("status", "all_ask"),
    [
        (FIRST, True),
        (AutoUpdateStatus(on=True, total=9), True),
        (AutoUpdateStatus(on=True, last=Update(AT, Counts())), False),
        (AutoUpdateStatus(once=True, problem=IngestError("gone")), False),
    ],
)
def test_who_may_not_switch_updates_asks_for_their_state_during_the_first_reading_only(
    assistant: Assistant, status: AutoUpdateStatus, all_ask: bool
) -> None:
    for may_change in (True, False):
        rooms = Rooms(Told(status), Library(assistant.settings, assistant.embedder, may_change=may_change))
        told = ChatHandlers(assistant, PARTS, rooms.auto_update, rooms.library).look(Session())
        assert told[PARTS.clock].active is (all_ask or (may_change and status.on))


@pytest.mark.parametrize("problem", [IngestError("/srv/papers is missing"), SettingsError("no /srv/papers")])
def test_paths_are_told_to_those_only_who_may_change_the_documents(
    assistant: Assistant, problem: IngestError | SettingsError
) -> None:
    for may_change in (True, False):
        rooms = Rooms(
            Told(AutoUpdateStatus(on=True, problem=problem)),
            Library(assistant.settings, assistant.embedder, may_change=may_change),
        )
        told = ChatHandlers(assistant, PARTS, rooms.auto_update, rooms.library).look(Session())
        for html in (told[PARTS.updating], told[PARTS.updates]):
            assert 'class="problem"' in html
            assert ("/srv/papers" in html) is may_change


def test_the_view_is_drawn_again_once_the_first_reading_has_ended(assistant: Assistant) -> None:
    updates = Told(FIRST)
    handlers, session = ChatHandlers(assistant, PARTS, updates), Session()
    for _ in handlers._answer(session, QUESTION, parent=None):
        pass
    alone = handlers.look(session).keys()
    assert handlers.look_again(session).keys() == alone  # it goes on
    updates.told = ENDED
    session.busy = True
    assert handlers.look_again(session).keys() == alone  # an answer that is being written draws it anyway
    session.busy = False
    drawn = handlers.look_again(session)
    assert drawn.keys() == {*alone, *PARTS.view}
    assert TEXTS[Language.ZH].answer_now in str(drawn[PARTS.conversation])
    assert handlers.look_again(session).keys() == alone  # once


def test_a_reader_who_comes_later_is_not_drawn_anew(assistant: Assistant) -> None:
    handlers, session = ChatHandlers(assistant, PARTS, Told(ENDED)), Session()
    handlers.show(session)
    assert not handlers.look_again(session).keys() & set(PARTS.view)
