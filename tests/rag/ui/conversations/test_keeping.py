"""A conversation is the same when it is opened again: its branches, its sources, what was thought of it."""

import json
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.answer.choices import STYLES, Caution, Choices, StyleName
from rag.answer.trace import Event, TextAdded
from rag.feedback.rows import sft_rows
from rag.types import Turn
from rag.ui.chat import exchange as chat
from rag.ui.chat.actions import ChatAction, ChatActionName, act, as_parcel, download, whole_source
from rag.ui.chat.messages import messages, panel
from rag.ui.chat.strip import render_strip
from rag.ui.conversations.keeper import Keeper
from rag.ui.conversations.listing import render_list
from rag.ui.conversations.store import LISTED
from rag.ui.session.session import STEP, Session, State
from rag.ui.texts import TEXTS, Language
from rag.wire import answer_as_dict
from tests.rag.ui.chat.test_sources import Page

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
OTHER = "RoPE 怎么工作，为什么能外推？"
ZH = TEXTS[Language.ZH]


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    keeper = Keeper(tmp_path / "user")
    yield keeper
    keeper.close()


def ask(assistant: Assistant, session: Session, question: str, keeper: Keeper, parent: int | None = -1) -> None:
    after = session.tip if parent == -1 else parent
    assert list(chat.answer_after(assistant, session, question, after, keeper))


def do(session: Session, keeper: Keeper, name: str, number: int = 0, **more: object) -> None:
    act(session, ChatAction.read({"action": name, "number": number, **more}), keeper)


def reopened(session: Session, tmp_path: Path) -> Session:
    other = Session(user=session.user)
    keeper = Keeper(tmp_path / "user")
    assert session.conversation is not None
    keeper.open(other, session.conversation)
    keeper.close()
    return other


def test_it_looks_the_same_after_a_restart(assistant: Assistant, keeper: Keeper, tmp_path: Path) -> None:
    session = Session(user="")
    ask(assistant, session, QUESTION, keeper)
    ask(assistant, session, "今天天气怎么样？", keeper)
    do(session, keeper, "like", 1)
    session.judging = 0
    again = reopened(session, tmp_path)
    again.question_count = session.question_count  # what this tab has asked is not of the conversation
    assert messages(again) == messages(session)
    assert panel(again) == panel(session)
    session.show(1)
    again.show(1)
    assert panel(again) == panel(session)
    assert again.exchanges[0].answer == session.exchanges[0].answer
    assert again.exchanges[0].liked is True


def test_an_answer_that_was_interrupted_is_told_of(keeper: Keeper, tmp_path: Path) -> None:
    session = Session(user="")
    keeper.begin(session, QUESTION, None)  # and the program ends
    again = reopened(session, tmp_path)
    assert again.exchanges[0].state is State.STOPPED
    assert ZH.stopped_early in messages(again)[1]["content"]


def test_a_reader_who_leaves_finds_the_answer_being_written(
    assistant: Assistant, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever opens the conversation sees it grow, and may stop it; leaving once more does not."""
    go_on, events = threading.Event(), assistant.stream

    def slowly(question: str, history: Sequence[Turn]) -> Iterator[Event]:
        for event in events(question, history):
            yield event
            if isinstance(event, TextAdded):
                assert go_on.wait(20)

    monkeypatch.setattr(assistant, "stream", slowly)
    session, again = Session(user=""), Session(user="")
    steps = chat.answer(assistant, session, QUESTION, keeper)
    while not (session.exchanges and session.exchanges[0].chunks):
        next(steps)
    steps.close()
    assert session.conversation is not None
    keeper.open(again, session.conversation)
    assert 'data-written="1"' in panel(again)
    seen = chat.look_on(again, keeper)
    next(seen)
    assert again.busy
    assert session.exchanges[0].chunks[0].strip() in again.exchanges[0].reply
    seen.close()
    assert not again.busy
    assert again.exchanges[0].state is State.WRITING
    go_on.set()
    list(chat.look_on(again, keeper))
    assert again.exchanges[0].state is State.DONE
    assert 'data-written="0"' in panel(again)
    assert [message["content"] for message in messages(again)] == [message["content"] for message in messages(session)]


def test_a_long_conversation_shows_its_end_until_more_is_wanted(keeper: Keeper) -> None:
    session = Session(user="")
    for number in range(1, 31):
        exchange = keeper.begin(session, f"第 {number} 问", session.tip)
        exchange.state = State.STOPPED
        keeper.end(session, exchange)
        assert len(messages(session)) <= 2 * (2 * STEP - 1)
    assert ZH.earlier_questions.format(count=24) in messages(session)[0]["content"]
    assert 'data-earlier="24"' in panel(session)
    do(session, keeper, "earlier")
    assert len(messages(session)) == 20
    do(session, keeper, "earlier", rest="all")
    assert len(messages(session)) == 60
    assert "do-earlier" not in messages(session)[0]["content"]
    assert session.conversation is not None
    do(session, keeper, "open", session.conversation)
    assert len(messages(session)) == 12
    do(session, keeper, "open", session.conversation, rest="3")  # what a search has found
    assert session.shown == 3
    assert "第 3 问" in messages(session)[0]["content"]


def test_edited_questions_are_branches(assistant: Assistant, keeper: Keeper, tmp_path: Path) -> None:
    session = Session(user="")
    ask(assistant, session, QUESTION, keeper)
    ask(assistant, session, "通信量呢？", keeper)
    ask(assistant, session, OTHER, keeper, parent=None)  # in place of the first
    assert [exchange.question for exchange in session.exchanges] == [OTHER]
    assert session.history(session.exchanges[0].parent) == []
    assert "2/2" in messages(session)[0]["content"]
    assert "do-branch-1" in messages(session)[0]["content"]
    do(session, keeper, "branch", 1)
    assert [exchange.number for exchange in session.exchanges] == [1, 2]
    assert "1/2" in messages(session)[0]["content"]
    again = reopened(session, tmp_path)
    assert [exchange.number for exchange in again.exchanges] == [1, 2]
    do(again, keeper, "branch", 3)
    assert [exchange.question for exchange in again.exchanges] == [OTHER]


def test_readers_cannot_open_each_others(assistant: Assistant, keeper: Keeper) -> None:
    ann, bob, nobody = Session(user="ann"), Session(user="bob"), Session()
    ask(assistant, ann, QUESTION, keeper)
    for other in (bob, nobody):
        for name in ("open", "delete", "rename"):
            do(other, keeper, name, ann.conversation or 0, rest="taken")
        assert other.exchanges == []
        assert not keeper.list(other)
        assert download(other, ChatAction(ChatActionName.JSON, ann.conversation or 0), keeper, NOW) is None
    assert [item.title for item in keeper.list(ann)] == [QUESTION]


def test_the_list(assistant: Assistant, keeper: Keeper) -> None:
    session = Session(user="")
    ask(assistant, session, '<b>RoPE</b> "外推"?', keeper)
    html = render_list(keeper.list(session), session, datetime.now().astimezone())
    assert "<b>" not in html
    assert f"#conversation-{session.conversation}" in html
    assert ZH.today in html
    session.search_words = "没有的词"
    assert ZH.conversations_not_found.format(sought="没有的词") in render_list(keeper.list(session), session, NOW)
    session.search_words = ""
    conversation = session.conversation or 0
    do(session, keeper, "delete", conversation)
    assert (session.exchanges, session.conversation) == ([], None)
    assert ZH.deleted in render_list(keeper.list(session), session, NOW)
    do(session, keeper, "restore")
    do(session, keeper, "open", conversation)
    assert len(session.exchanges) == 1


def test_a_title_is_read_without_signs_and_renamed_with_them(assistant: Assistant, keeper: Keeper) -> None:
    session = Session(user="")
    ask(assistant, session, "**解释**一下 `softmax` 和 $a_b$", keeper)
    html = listed(session, keeper)
    assert 'title="解释一下 softmax 和 $a_b$"' in html
    assert '解释一下 softmax 和 <span class="formula">$a_b$</span>' in html
    assert 'value="**解释**一下 `softmax` 和 $a_b$"' in html


def listed(session: Session, keeper: Keeper) -> str:
    return render_list(keeper.list(session), session, datetime.now().astimezone(), tags=keeper.tags(session))


def test_what_is_pinned_stands_above_the_others(assistant: Assistant, keeper: Keeper) -> None:
    session, ann = Session(user=""), Session(user="ann")
    for question in (QUESTION, OTHER):
        do(session, keeper, "new")
        ask(assistant, session, question, keeper)
    newer, older = keeper.list(session)
    html = listed(session, keeper)
    assert f">{ZH.pin}</button>" in html
    assert f"<h2>{ZH.pinned}</h2>" not in html
    do(ann, keeper, "pin", older.id)  # not hers
    assert [item.id for item in keeper.list(session)] == [newer.id, older.id]
    do(session, keeper, "pin", older.id)
    assert [(item.id, item.pinned) for item in keeper.list(session)] == [(older.id, True), (newer.id, False)]
    html = listed(session, keeper)
    first, second = html.index(f"<h2>{ZH.pinned}</h2>"), html.index(f"<h2>{ZH.today}</h2>")
    assert first < html.index(f"do-pin-{older.id}") < second < html.index(f"do-pin-{newer.id}")
    assert html.count(f">{ZH.unpin}</button>") == 1
    do(session, keeper, "pin", older.id)
    assert [item.id for item in keeper.list(session)] == [newer.id, older.id]
    assert f"<h2>{ZH.pinned}</h2>" not in listed(session, keeper)


def test_the_list_is_filtered_by_a_tag(keeper: Keeper) -> None:
    session, ann = Session(user=""), Session(user="ann")
    one, two, three = (keeper.conversations.begin("", None, None, f"q{n}", "done").conversation for n in range(3))
    assert 'class="tags"' not in listed(session, keeper)
    do(session, keeper, "tag", one, note=' <b>"论文" ')
    do(session, keeper, "tag", rest=f"{two},{three},x", note="面试")
    do(ann, keeper, "tag", one, note="hers")
    html = listed(session, keeper)
    assert "<b>" not in html
    assert html.count("do-filter-0") == 2
    assert 'class="tags"' not in listed(ann, keeper)
    do(session, keeper, "filter", rest="面试")
    assert [item.id for item in keeper.list(session)] == [three, two]
    assert listed(session, keeper).count('aria-pressed="true">面试') == 1
    session.search_words = "q1"
    assert [item.id for item in keeper.list(session)] == [two]
    session.search_words = ""
    do(session, keeper, "filter", rest="面试")  # a second click takes it back
    assert len(keeper.list(session)) == 3
    do(session, keeper, "filter", rest="面试")
    do(session, keeper, "tag", rest=f"{two},{three}", note="")  # nothing is left that it could show
    assert len(keeper.list(session)) == 3
    assert session.tag_filter == ""
    do(session, keeper, "filter", rest="nobody's")
    assert len(keeper.list(session)) == 3


def test_several_are_deleted_and_come_back_together(assistant: Assistant, keeper: Keeper) -> None:
    session, ann = Session(user=""), Session(user="ann")
    ask(assistant, ann, QUESTION, keeper)
    numbers = []
    for question in (QUESTION, OTHER, QUESTION):
        do(session, keeper, "new")
        ask(assistant, session, question, keeper)
        numbers.append(session.conversation or 0)
    chosen = ",".join(map(str, (*numbers[1:], ann.conversation, "x", "9" * 99)))
    do(session, keeper, "delete", rest=chosen)
    assert [item.id for item in keeper.list(session)] == numbers[:1]
    assert (session.conversation, len(keeper.list(ann))) == (None, 1)  # the open one was among them; ann's is hers
    assert ZH.deleted_many.format(count=2) in render_list(keeper.list(session), session, NOW)
    do(session, keeper, "restore")
    assert {item.id for item in keeper.list(session)} == set(numbers)


def test_a_conversation_deleted_elsewhere_begins_anew(assistant: Assistant, keeper: Keeper) -> None:
    session, other = Session(user=""), Session(user="")
    ask(assistant, session, QUESTION, keeper)
    do(other, keeper, "delete", session.conversation or 0)
    keeper.conversations.purge(older_than=0)
    ask(assistant, session, OTHER, keeper)
    assert [exchange.question for exchange in session.exchanges] == [OTHER]
    assert [item.title for item in keeper.list(session)] == [OTHER]


def test_where_nothing_can_be_kept_the_chat_goes_on(assistant: Assistant, tmp_path: Path) -> None:
    (tmp_path / "user").write_text("no folder", encoding="utf-8")
    keeper = Keeper(tmp_path / "user")
    session = Session(user="")
    ask(assistant, session, QUESTION, keeper)
    assert session.exchanges[0].state is State.DONE
    assert keeper.problem is not None
    assert ZH.conversations_unkept in render_list((), session, NOW, unkept=True)


def test_a_damaged_file_is_told_of(assistant: Assistant, tmp_path: Path) -> None:
    (tmp_path / "conversations.sqlite").write_bytes(b"not a database, whatever its name says" * 200)
    keeper = Keeper(tmp_path)
    (aside,) = keeper.set_aside
    assert aside.name in render_list((), Session(), NOW, set_aside=[aside.name])
    session = Session(user="")
    ask(assistant, session, QUESTION, keeper)
    assert len(keeper.list(session)) == 1


def test_exports(assistant: Assistant, keeper: Keeper) -> None:
    session = Session(user="")
    ask(assistant, session, QUESTION, keeper)
    ask(assistant, session, OTHER, keeper, parent=None)
    number = session.conversation or 0
    markdown = download(session, ChatAction(ChatActionName.MARKDOWN, number), keeper, NOW)
    whole = download(session, ChatAction(ChatActionName.JSON, number), keeper, NOW)
    assert markdown is not None
    assert whole is not None
    assert OTHER in markdown.text
    assert f"## {ZH.asked}: {QUESTION}" not in markdown.text  # the branch that is not shown
    answer = session.exchanges[0].answer
    assert answer is not None
    for citation in answer.citations:
        assert "\n".join(f"> {line}" for line in citation.quote.splitlines()) in markdown.text
        assert f"`{citation.document}`\n\n> " in markdown.text
        assert f"{citation.start}–{citation.end}" not in markdown.text
    value = json.loads(whole.text)
    assert "tag" not in value
    assert [row["question"] for row in value["exchanges"]] == [QUESTION, OTHER]
    for key, expected in answer_as_dict(answer).items():
        assert value["exchanges"][1][key] == json.loads(json.dumps(expected)), key
    assert "<script" not in as_parcel(whole, "1")


def test_the_whole_source(assistant: Assistant, keeper: Keeper) -> None:
    session = Session(user="")
    ask(assistant, session, QUESTION, keeper)
    answer = session.exchanges[0].answer
    assert answer is not None
    html = whole_source(session, ChatAction(ChatActionName.WHOLE, 1, "1"), assistant)
    assert f'data-selected="{answer.citations[0].marker}"' in html
    assert Page(html).quotes[1] == answer.citations[0].quote
    assert "find_unused_parameters" in html  # the end of the document
    assert whole_source(session, ChatAction(ChatActionName.WHOLE, 1, "99"), assistant) == ""
    assert whole_source(session, ChatAction(ChatActionName.WHOLE, 7, "1"), assistant) == ""


def test_an_opinion_holds_the_choices_with_which_the_question_was_answered(
    assistant: Assistant, keeper: Keeper, tmp_path: Path
) -> None:
    session = Session(user="")
    session.preferences = Choices(style=StyleName.DEEP, caution=Caution.BOLD, only_supported=False, top_k=4)
    ask(assistant, session, QUESTION, keeper)
    session.preferences = Choices()
    again = reopened(session, tmp_path)  # and rated another day
    do(again, keeper, "like", 1)
    (item,) = keeper.feedback.all()
    expected = {"style": "deep", "caution": "bold", "only_supported": False, "top_k": 4, "model": ""}
    assert {name: item.opinion.settings[name] for name in expected} == expected
    (row,) = sft_rows([item])
    assert STYLES[StyleName.DEEP].wish[True] in row["prompt"]


def test_more_conversations_than_are_listed(keeper: Keeper) -> None:
    session = Session(user="")
    for number in range(LISTED + 1):
        assert ZH.conversations_more not in render_list(keeper.list(session), session, NOW)
        keeper.conversations.begin("", None, None, f"question {number}", "done")
    html = render_list(keeper.list(session), session, NOW)
    assert ZH.conversations_more in html
    assert html.count("#conversation-") == LISTED


@pytest.mark.parametrize(
    "data",
    [None, [], {"action": 3}, {"action": "open", "number": "x"}, {"action": "opine", "number": -1, "reasons": 1}],
)
def test_what_the_page_would_not_send_does_nothing(data: object, assistant: Assistant, keeper: Keeper) -> None:
    session = Session(user="")
    ask(assistant, session, QUESTION, keeper)
    before = messages(session)
    act(session, ChatAction.read(data), keeper)
    assert messages(session) == before


def test_opinions(assistant: Assistant, keeper: Keeper) -> None:
    session = Session(user="ann")
    ask(assistant, session, QUESTION, keeper)
    do(session, keeper, "dislike", 1)
    assert session.judging == 1
    do(session, keeper, "opine", 1, reasons=["wrong", "<script>"], note=" 漏了通信量 ")
    (item,) = keeper.feedback.all()
    assert (item.opinion.liked, item.opinion.reasons, item.opinion.note) == (False, ("wrong",), "漏了通信量")
    assert item.opinion.answer == session.exchanges[0].answer
    assert item.opinion.evidence[0].document == "zero.md"
    assert item.opinion.settings["llm"] == "extractive"
    assert item.opinion.settings["generation"] == assistant.index.manifest.generation
    assert session.judging == 0
    do(session, keeper, "like", 1)
    assert [item.opinion.liked for item in keeper.feedback.all()] == [True]
    assert keeper.feedback.all("bob") == []
    sft = download(session, ChatAction(ChatActionName.FEEDBACK, 0, "sft-jsonl"), keeper, NOW)
    assert sft is not None
    assert set(json.loads(sft.text)) == {"id", "system", "prompt", "completion"}
    do(session, keeper, "like", 1)  # taken back
    assert keeper.feedback.all() == []
    assert download(session, ChatAction(ChatActionName.FEEDBACK, 0, "sft-jsonl"), keeper, NOW) is None


def test_a_conversation_of_another_reader_is_told_of_and_not_shown(assistant: Assistant, keeper: Keeper) -> None:
    anna, bob = Session(user="anna"), Session(user="bob")
    ask(assistant, anna, QUESTION, keeper)
    ask(assistant, bob, OTHER, keeper)
    assert anna.conversation is not None
    do(bob, keeper, "open", anna.conversation)
    assert [exchange.question for exchange in bob.exchanges] == [OTHER]
    assert bob.missing == anna.conversation
    assert f'data-missing="{anna.conversation}"' in panel(bob)
    assert ZH.conversation_missing in render_strip(bob)
    ask(assistant, bob, QUESTION, keeper)
    assert not bob.missing
    do(bob, keeper, "open", 1 << 52)
    assert ZH.conversation_missing in render_strip(bob)
    do(bob, keeper, "new")
    assert render_strip(bob) == ""
