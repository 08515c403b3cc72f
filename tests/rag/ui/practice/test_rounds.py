"""Cards, statements, interviews, progress, exports and backups of the room, without a browser."""

import base64
import gzip
import io
import json
import zipfile
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest

from rag.answer.assistant import Assistant
from rag.ui.practice.resources import PracticeResources
from rag.ui.session.practice import zone_of
from rag.ui.texts import PRACTICE_TEXTS, Language
from tests.rag.ui.practice.room import CACHE_QUESTION, GOOD, PARTS, ZERO_QUESTION, Room

ZH = PRACTICE_TEXTS[Language.ZH]


def asked(room: Room) -> str:
    """The id of the question that the open interview asks."""
    return unescape(room.shell.split('name="question" value="', 1)[1].split('"', 1)[0])


def parcel(html: str) -> tuple[str, bytes]:
    value: dict[str, Any] = json.loads(unescape(html.split('data-parcel="', 1)[1].split('"', 1)[0]))
    return value["name"], base64.b64decode(value["base64"])


def test_cards_are_dealt_shown_and_rated(room: Room, pages: Assistant) -> None:
    room.act("go", "recall")
    assert ZH.recall_hint in room.shell
    room.act("deal", topic="/memory", count="10")
    assert ZH.place.format(place=1, count=3) in room.shell
    assert "ZeRO-2 切分优化器状态和梯度，ZeRO-3" not in room.html
    assert 'data-act="rate"' not in room.part
    assert "ZeRO-2 切分优化器状态和梯度，ZeRO-3" in room.act("reveal", "short").part
    assert "FlashAttention" not in room.part
    assert "前向和反向时再按层收集参数" in room.act("reveal", "full").part
    room.act("rate", "good", seconds="42")
    assert ZH.place.format(place=2, count=3) in room.shell
    assert "上一题下次复习：" in room.notice
    reviews = PracticeResources(pages).store.reviews("")
    assert [(review.question_id, review.rating, review.seconds) for review in reviews] == [(ZERO_QUESTION, "good", 42)]
    room.act("rate", "nonsense")
    assert ZH.place.format(place=2, count=3) in room.shell
    room.act("rate", "again").act("rate", "easy")
    assert ZH.deck_done.format(count=3) in room.shell
    assert ZH.deck_empty in room.act("deal", standing="known", topic="/attention").notice


def test_statements_are_judged_with_what_is_right(room: Room) -> None:
    room.act("go", "statements").act("state", count="10")
    count = len(room.session.practice.statements)
    assert count
    for number in range(count):
        statement = room.session.practice.statements[number]
        room.act("judge", "right")
        assert (ZH.judged_well if statement.is_right else ZH.judged_badly) in room.part
        assert 'class="source-link"' in room.part
        room.act("judge", "wrong")  # a second verdict on the same one does not count
        assert len(room.session.practice.judged) == number + 1
        room.act("onward")
    right = sum(statement.is_right for statement in room.session.practice.statements)
    assert ZH.statements_done.format(count=count, right=right) in room.shell


def test_an_interview_goes_on_after_a_reload_and_ends_with_a_report(room: Room, pages: Assistant) -> None:
    room.act("begin", level="standard", count="5")
    first = asked(room)
    room.keep("attempt", first, "写到一半")
    later = Room(pages)  # the page was loaded anew
    assert ZH.go_on_interview in later.act("go", "today").part  # the day begins with it
    later.act("go", "interview")
    round_id = later.part.split('data-act="continue" data-rest="', 1)[1].split('"', 1)[0]
    later.act("continue", round_id)
    assert asked(later) == first
    assert "写到一半</textarea>" in later.shell
    later.grade(first, GOOD, action="answer", edition=2)
    assert f'data-graded="attempt:{first}" data-edition="2"' in unescape(later.notice)  # whichever is asked first
    assert asked(later) != first
    before = asked(later)
    later.grade(first, GOOD, action="answer", edition=3)  # sent twice, or from another tab
    assert "data-graded" not in later.notice
    assert asked(later) == before
    while 'data-act="answer"' in later.shell:
        later.grade(asked(later), "不知道，我没有学过这个。", action="answer")
    assert ZH.report in later.shell
    assert all(
        said in later.part for said in (GOOD, ZH.report_strong, ZH.report_missed, ZH.report_reading, ZH.report_dates)
    )
    assert "**" not in later.part
    name, data = parcel(later.give("save-report", round_id)[PARTS.parcel])
    assert name.endswith(".md")
    assert GOOD in data.decode()
    later.act("go", "interview")
    assert 'data-act="report"' in later.part
    assert 'data-act="continue"' not in later.part


def test_an_interview_can_be_ended_early(room: Room) -> None:
    room.act("begin", topic="/memory", level="deep", count="99")
    room.grade(asked(room), GOOD, action="answer").act("end")
    assert ZH.report in room.shell
    assert GOOD in room.part
    assert room.act("continue", "no such round").shell
    assert ZH.interview_hint in room.shell


def test_progress_says_that_nothing_comes_back_yet(room: Room) -> None:
    assert ZH.forecast_none in room.act("go", "progress").shell
    assert "<table" not in room.shell
    room.act("open", ZERO_QUESTION).grade(ZERO_QUESTION, GOOD)
    assert ZH.forecast_none not in room.act("go", "progress").shell


def test_progress_counts_what_is_due(room: Room, pages: Assistant) -> None:
    from rag.practice.schedule import CardReview, Rating

    resources = PracticeResources(pages)
    old = datetime(2024, 1, 1, tzinfo=UTC)
    for question_id in (ZERO_QUESTION, CACHE_QUESTION):
        question = resources.material().bank.find(question_id)
        resources.store.review("", CardReview(question.id, old, Rating.GOOD, 0.9, GOOD, "another answer"))
    room.act("go", "progress")
    assert ZH.due_count.format(count=2) in room.shell
    assert room.shell.count("<tr>") == 14
    assert "<td>显存</td>" in room.part
    assert ZH.reworded in room.act("go", "bank").part
    room.act("due", "question")
    assert ZH.place.format(place=1, count=2) in room.shell
    room.act("due", "recall")
    assert ZH.place.format(place=1, count=2) in room.shell


def test_questions_are_exported(room: Room) -> None:
    name, data = parcel(room.give("export", format="anki", topic="/memory")[PARTS.parcel])
    assert name.endswith(".apkg")
    assert "collection.anki2" in zipfile.ZipFile(io.BytesIO(data)).namelist()
    name, data = parcel(room.give("export", format="csv")[PARTS.parcel])
    assert name.endswith(".csv")
    assert "ZeRO-2 和 ZeRO-3 差在哪？" in data.decode("utf-8-sig")
    name, data = parcel(room.give("export", format="markdown", topic="/attention")[PARTS.parcel])
    assert name.endswith(".md")
    assert "ZeRO-2 和" not in data.decode()
    assert ZH.export_nothing in room.give("export", format="csv", standing="known")[PARTS.notice]


def test_a_backup_is_saved_and_restored(room: Room, pages: Assistant) -> None:
    room.act("open", ZERO_QUESTION).grade(ZERO_QUESTION, GOOD)
    room.keep("note", ZERO_QUESTION, "我的笔记")
    name, data = parcel(room.give("backup")[PARTS.parcel])
    assert name.endswith(".json")
    other = Room(pages)
    other.session.user = "anna"
    assert GOOD not in other.act("open", ZERO_QUESTION).shell
    packed = base64.b64encode(gzip.compress(data)).decode()
    other.restore(name=name, packed=packed)
    assert ZH.restored.format(count=1) in other.notice
    assert GOOD in other.act("open", ZERO_QUESTION).shell
    assert "我的笔记" in other.shell
    assert ZH.restored.format(count=0) in other.restore(name=name, packed=packed).notice


@pytest.mark.parametrize(
    "content", [b"{}", b"[]", b"no json", b'{"format": 99}', b'{"format": 1, "reviews": [1]}', b"[" * 100_000]
)
def test_what_is_no_backup_is_refused_by_name(room: Room, content: bytes) -> None:
    packed = base64.b64encode(gzip.compress(content)).decode()
    assert "my-<b>.json 不是这里保存的备份" in unescape(room.restore(name="my-<b>.json", packed=packed).notice)
    assert "<b>" not in room.notice


def test_a_backup_that_cannot_be_unpacked_is_refused(room: Room) -> None:
    bomb = base64.b64encode(gzip.compress(b" " * 60_000_000)).decode()
    cut = base64.b64encode(gzip.compress(b"{}")[:-9]).decode()
    for packed in ("%%%", "AAAA", bomb, cut):
        assert "不是这里保存的备份" in room.restore(name="a.json", packed=packed).notice
        assert ("more than" in room.notice) is (packed is bomb)
    assert "太大" in room.restore(name="a.json").notice


def test_a_time_zone_that_there_is_not_is_that_of_the_machine() -> None:
    assert str(zone_of("Asia/Shanghai")) == "Asia/Shanghai"
    now = datetime.now(UTC)
    for name in ("", "Mars/Base", "../../etc/passwd", "America", "\x00"):
        assert now.astimezone(zone_of(name)) == now


def test_every_view_speaks_both_languages(room: Room) -> None:
    for view in ("bank", "recall", "statements", "interview", "progress", "exports"):
        room.act("go", view)
        room.session.language = Language.EN
        said = room.handlers.speak(room.session)
        assert said[PARTS.tab]["label"] == "Practice"
        assert getattr(PRACTICE_TEXTS[Language.EN], f"view_{view}") in said[PARTS.shell]
        assert ZH.view_bank not in said[PARTS.navigation]
        room.session.language = Language.ZH
