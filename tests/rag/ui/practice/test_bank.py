"""The question bank of the room, without a browser."""

from html import unescape
from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.ui.texts import PRACTICE_TEXTS, Language
from tests.conftest import HashEmbedder
from tests.rag.ui.practice.room import CACHE_QUESTION, PAGES, PARTS, ZERO_QUESTION, Room, ingest_pages

ZH = PRACTICE_TEXTS[Language.ZH]


def listed(room: Room) -> list[str]:
    """The questions of the list, by id, in order."""
    parts = room.part.split('data-act="open" data-rest="')[1:]
    return [unescape(part.split('"', 1)[0]) for part in parts]


def test_the_map_leads_into_the_bank(room: Room) -> None:
    room.grade(ZERO_QUESTION, "我不知道这道题的答案是什么。").act("go", "today")
    assert "<b>显存</b><span>3 题 · 掌握 0%</span>" in room.part
    assert "<b>注意力</b><span>4 题</span>" in room.part
    assert len(listed(room.act("topic", "/memory"))) == 3
    assert '<option value="/memory" selected>' in room.shell
    room.session.language = Language.EN
    assert "<b>Memory</b><span>3 · 0% known" in room.act("go", "today").part
    assert "What is the difference between ZeRO-2 and ZeRO-3?" in room.act("go", "bank").part


def test_a_day_has_its_questions_and_a_plan(room: Room, pages: Assistant) -> None:
    room.act("go", "today")
    assert '<option value="systems">系统</option>' in room.shell
    assert ZH.some_new.format(count=3) in room.part
    assert ZERO_QUESTION in unescape(room.act("plan", role="systems", interview="2999-01-01").part)
    assert ZH.some_new.format(count=1) in room.part
    assert CACHE_QUESTION not in unescape(room.part)
    assert ZH.some_new.format(count=3) in room.act("plan", role="systems", deep="on", interview="no day").part
    room.act("tonight", "question")
    assert ZH.place.format(place=1, count=3) in room.shell
    assert ZH.view_today in room.shell  # the way back
    for _ in range(3):
        room.act("next")
    assert room.shell.startswith(f"<view-{room.session.practice.renders}")
    assert 'data-act="plan"' in room.shell
    later = Room(pages).act("go", "today")  # it is kept
    assert '<option value="systems" selected>' in later.shell
    assert ZH.place.format(place=1, count=3) in later.act("tonight", "recall").shell


def test_every_question_is_there_with_its_follow_ups(room: Room) -> None:
    found = listed(room)
    assert len(found) == 7
    place = found.index(ZERO_QUESTION)
    assert found[place + 1 : place + 3] == [
        "memory/zero.md#ZeRO-3 为什么更慢？", "memory/zero.md#什么时候不需要 ZeRO-3？",
    ]  # fmt: skip
    assert ZH.follow_ups_count.format(count=2) in room.part


def test_a_filter_leaves_what_fits_and_what_is_typed(room: Room) -> None:
    before = room.shell
    room.act("filter", words="显存 zero")  # a tag and the question, in any writing
    assert listed(room) == [ZERO_QUESTION, *listed(room)[1:]]
    assert all(name.startswith("memory/") for name in listed(room))
    assert room.shell == before  # the box that is being typed into stays as it is
    room.act("filter", words="没有这样的题")
    assert ZH.none_fit in room.part
    room.act("filter", topic="/attention")
    assert len(listed(room)) == 4
    room.act("filter", topic="/gone")
    assert ZH.none_fit in room.part


def test_states_are_told_and_filtered(room: Room) -> None:
    room.grade(ZERO_QUESTION, "我不知道这道题的答案是什么。")
    room.act("go", "bank")
    room.act("filter", standing="shaky")
    assert listed(room) == [ZERO_QUESTION]
    assert ZH.standing_shaky in room.part
    room.act("filter", standing="new")
    assert ZERO_QUESTION not in listed(room)
    assert len(listed(room)) == 6
    room.act("filter", standing="nonsense")
    assert len(listed(room)) == 7


def test_a_shuffle_keeps_the_questions_and_their_follow_ups(room: Room) -> None:
    before = listed(room)
    orders = {tuple(listed(room.act("shuffle", "on"))) for _ in range(12)}
    assert len(orders) > 1
    assert all(sorted(order) == sorted(before) for order in orders)
    assert listed(room.act("shuffle", "off")) == before


def test_bookmarks_are_kept(room: Room, pages: Assistant) -> None:
    room.act("bookmark", CACHE_QUESTION)
    later = Room(pages)
    assert "★" in later.part
    later.act("filter", bookmarked="on")
    assert listed(later) == [CACHE_QUESTION]
    later.act("bookmark", CACHE_QUESTION)
    assert "★" not in Room(pages).part
    # The list of bookmarks may be asked for before the one that was just made is kept.
    assert listed(later.act("bookmark", CACHE_QUESTION)) == [CACHE_QUESTION]


def test_notes_and_my_version_are_kept_as_they_are_typed(room: Room, pages: Assistant) -> None:
    room.act("open", ZERO_QUESTION)
    assert ZH.saved in room.keep("note", ZERO_QUESTION, "记住 <b>1.5</b> 倍")
    room.keep("version", ZERO_QUESTION, "\n我的说法")
    room.keep("attempt", ZERO_QUESTION, "还没写完")
    room.keep("hostile", ZERO_QUESTION, "x")
    shell = Room(pages).act("open", ZERO_QUESTION).shell
    assert "记住 &lt;b&gt;1.5&lt;/b&gt; 倍</textarea>" in shell
    assert "\n\n我的说法</textarea>" in shell  # a parser drops the first line feed
    assert "还没写完</textarea>" in shell
    assert "<b>1.5" not in shell


def test_more_is_shown_when_it_is_asked_for(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    many = {
        f"many/{number:02}.md": f"# 第 {number} 个问题是什么？\n\n## 一句话回答\n答案是 {number} 的说明文字。\n"
        for number in range(45)
    }
    room = Room(Assistant(ingest_pages(tmp_path, hash_embedder, many), hash_embedder))
    assert len(listed(room)) == 40
    assert ZH.more.format(count=5) in room.part
    assert len(listed(room.act("more"))) == 45


def test_documents_without_questions_are_told_of(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    plain = {"a.md": "# 标题\n\n只有陈述，没有问题的一段文字。\n"}
    room = Room(Assistant(ingest_pages(tmp_path, hash_embedder, plain), hash_embedder))
    assert ZH.bank_empty in room.shell
    for view in ("today", "recall", "statements", "interview", "progress", "exports"):
        assert room.act("go", view).shell
    assert "没有" in room.act("deal", count="10").notice
    assert room.act("begin", count="5").notice


def test_what_the_documents_say_cannot_run(room: Room) -> None:
    hostile = 'attention/hostile.md#为什么 <img src=x onerror="window.ran = 1"> 不会运行？'
    seen = room.html
    for action, rest in (("open", hostile), ("due", "recall"), ("go", "statements"), ("go", "progress")):
        seen += room.act(action, rest).html
    seen += room.grade(hostile, "<script>window.ran = 1</script> 页面把资料里的 HTML 当作文字显示。").html
    seen += room.act("deal", count="10").act("reveal", "full").html
    assert "&lt;img src=x" in seen
    for tag in ("<img", "<script", "<b onclick"):
        assert tag not in seen


@pytest.mark.parametrize("data", [None, 3, [], {"action": "rm"}, {"action": ["go"]}, {"action": "go", "rest": {}}])
def test_whatever_is_sent_does_no_harm(room: Room, data: object) -> None:
    from types import SimpleNamespace

    before = room.shell.split(">", 1)[1]
    updates = room.handlers.act(room.session, SimpleNamespace(_data=data))  # type: ignore[arg-type]
    assert updates[PARTS.shell].split(">", 1)[1].rsplit("</view", 1)[0] == before.rsplit("</view", 1)[0]


def test_new_pages_join_and_removed_ones_leave(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    settings = ingest_pages(tmp_path, hash_embedder)
    room = Room(Assistant(settings, hash_embedder))
    room.act("open", CACHE_QUESTION)
    left = {name: text for name, text in PAGES.items() if name != "attention/cache.md"}
    ingest_pages(
        tmp_path,
        hash_embedder,
        left | {"memory/new.md": "# 新的问题是什么？\n\n## 一句话回答\n新的问题就是刚加入的问题。\n"},
    )
    told = room.grade(CACHE_QUESTION, "写好的回答").notice
    assert ZH.question_gone in told
    assert ZH.question_gone in room.act("open", CACHE_QUESTION).notice
    room.act("go", "bank")
    assert "memory/new.md#新的问题是什么？" in listed(room)
    assert CACHE_QUESTION not in listed(room)
