"""Conversations on disk: found, renamed, deleted and brought back, each reader's apart."""

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import astuple
from pathlib import Path

import pytest

from rag.errors import UserDataError
from rag.ui.conversations.store import FILE, VERSION, Conversations, StoredExchange, title_of
from tests.processor_time import takes_less

VERSION_1 = """
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, title TEXT NOT NULL, created REAL NOT NULL,
    updated REAL NOT NULL, deleted REAL, tip INTEGER
) STRICT;
CREATE INDEX conversations_of_user ON conversations (user, updated);
CREATE TABLE exchanges (
    conversation INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE, number INTEGER NOT NULL,
    parent INTEGER, question TEXT NOT NULL, begun REAL NOT NULL, ended REAL, state TEXT NOT NULL, said TEXT NOT NULL,
    record TEXT NOT NULL, PRIMARY KEY (conversation, number)
) STRICT;
PRAGMA user_version = 1;
"""

WRITER = """
import sys
from pathlib import Path
from rag.ui.conversations.store import Conversations
store = Conversations(Path(sys.argv[1]))
for _ in range(50):
    print(store.begin("", int(sys.argv[2]), None, "q", "searching").number, flush=True)
"""


@pytest.fixture
def store(tmp_path: Path) -> Conversations:
    return Conversations(tmp_path)


def ask(
    store: Conversations,
    user: str,
    question: str,
    said: str = "",
    conversation: int | None = None,
    parent: int | None = None,
) -> int:
    begun = store.begin(user, conversation, parent, question, "searching")
    store.end(user, begun.conversation, StoredExchange(begun.number, parent, question, "done", said, "{}"))
    return begun.conversation


def titles(store: Conversations, user: str, sought: str = "") -> list[str]:
    return [item.title for item in store.list(user, sought)]


def test_the_first_question_names_a_conversation(store: Conversations) -> None:
    first = ask(store, "", "RoPE 为什么\n能外推？")
    ask(store, "", "And NTK?", conversation=first, parent=1)
    second = ask(store, "", "ZeRO-3?")
    assert titles(store, "") == ["ZeRO-3?", "RoPE 为什么 能外推？"]
    ask(store, "", "ZeRO-2?", conversation=second)  # in place of the first question
    assert titles(store, "") == ["ZeRO-2?", "RoPE 为什么 能外推？"]
    store.rename("", second, "按我的叫法")
    ask(store, "", "ZeRO-1?", conversation=second)
    store.pin("", first)
    assert [(item.title, item.pinned) for item in store.list("")] == [
        ("RoPE 为什么 能外推？", True),
        ("按我的叫法", False),
    ]
    store.pin("", first)
    assert titles(store, "") == ["按我的叫法", "RoPE 为什么 能外推？"]
    loaded = store.load("", first)
    assert loaded is not None
    assert [exchange.number for exchange in loaded.exchanges] == [1, 2]
    assert loaded.tip == 2
    assert len(title_of("长" * 500)) == 80


def test_a_question_is_there_as_soon_as_it_is_asked(store: Conversations, tmp_path: Path) -> None:
    conversation = store.begin("", None, None, "half way", "searching").conversation
    loaded = Conversations(tmp_path).load("", conversation)
    assert loaded is not None
    assert [(exchange.question, exchange.state) for exchange in loaded.exchanges] == [("half way", "searching")]


def test_readers_reach_nothing_of_each_other(store: Conversations) -> None:
    secret = ask(store, "ann", "a secret", "whispered")
    assert titles(store, "bob") == titles(store, "bob", "secret") == []
    assert store.load("bob", secret) is None
    store.rename("bob", secret, "mine")
    store.delete("bob", secret)
    store.turn_to("bob", secret, 9)
    store.end("bob", secret, StoredExchange(1, None, "", "done", "overwritten", "{}"))
    assert store.begin("bob", secret, 1, "a question", "searching").conversation != secret
    loaded = store.load("ann", secret)
    assert loaded is not None
    assert (loaded.title, loaded.tip, loaded.exchanges[0].reply) == ("a secret", 1, "whispered")


@pytest.mark.parametrize(
    ("sought", "found"),
    [
        ("外推", ["RoPE 为什么能外推？"]),
        ("rope", ["RoPE 为什么能外推？"]),
        ("低频 外推", ["RoPE 为什么能外推？"]),
        ("低频 显存", []),
        ("切分", ["ZeRO 省多少显存"]),
        ("100%", ["ZeRO 省多少显存"]),
        ("%", ["ZeRO 省多少显存"]),
        ("_", []),
        ("", ["ZeRO 省多少显存", "RoPE 为什么能外推？"]),
    ],
)
def test_search_in_questions_and_answers(store: Conversations, sought: str, found: list[str]) -> None:
    ask(store, "", "RoPE 为什么能外推？", "低频维度没有转满一圈。")
    ask(store, "", "ZeRO 省多少显存", "切分优化器状态，不是 100% 省下。")
    assert titles(store, "", sought) == found


def test_rename_delete_and_bring_back(store: Conversations, tmp_path: Path) -> None:
    conversation = ask(store, "", "old name", "unforgettable")
    store.rename("", conversation, "  new\nname ")
    store.rename("", conversation, " ")
    assert titles(store, "") == ["new name"]
    store.delete("", conversation)
    assert titles(store, "") == []
    assert store.load("", conversation) is None
    store.restore("", conversation)
    assert titles(store, "") == ["new name"]
    store.delete("", conversation)
    store.purge(older_than=0)
    store.restore("", conversation)
    assert titles(store, "") == []
    store.close()
    assert not any(b"unforgettable" in file.read_bytes() for file in tmp_path.iterdir())


def test_two_processes_give_different_numbers(store: Conversations, tmp_path: Path) -> None:
    conversation = ask(store, "", "first")
    command = [sys.executable, "-c", WRITER, str(tmp_path), str(conversation)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    numbers = [int(line) for writer in writers for line in writer.communicate(timeout=60)[0].split()]
    assert sorted(numbers) == list(range(2, 102))


def test_a_new_file_uses_no_number_of_a_lost_one(tmp_path: Path) -> None:
    first = ask(Conversations(tmp_path / "a"), "", "q")
    assert first > 1_700_000_000
    assert ask(Conversations(tmp_path / "b"), "", "q") >= first


def test_an_exchange_follows_an_older_one_or_none(store: Conversations) -> None:
    conversation, first, _ = astuple(store.begin("", None, None, "q", "searching"))
    assert store.begin("", conversation, first, "q", "searching").parent == first
    assert store.begin("", conversation, 99, "q", "searching").parent is None
    with pytest.raises(UserDataError, match="CHECK"), store.database.writing() as connection:
        connection.execute("UPDATE exchanges SET parent = number")


def test_conversations_that_went_round_in_circles_are_mended(tmp_path: Path) -> None:
    """As version 1 wrote them: an exchange that could not be kept had the number that the next one then got."""
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(VERSION_1)
        connection.execute("INSERT INTO conversations VALUES (5, '', 'title', 1.0, 2.0, NULL, 5)")
        parents = {1: 1, 2: 1, 3: 3, 4: 5, 5: 4, 6: None}
        connection.executemany(
            "INSERT INTO exchanges VALUES (5, ?, ?, 'q', 1.0, 2.0, 'done', 'said', '{}')", parents.items()
        )
        connection.commit()
    for _ in range(2):
        with closing(Conversations(tmp_path)) as store:
            loaded = store.load("", 5)
            assert store.begin("", None, None, "new", "done").conversation > 5
        assert loaded is not None
        assert {e.number: e.parent for e in loaded.exchanges} == {1: None, 2: 1, 3: 2, 4: 3, 5: 4, 6: None}
        assert {e.reply for e in loaded.exchanges} == {"said"}


def test_a_name_from_before_names_were_told_apart_stays(tmp_path: Path) -> None:
    """A title that is not the first question was given by the reader: the next question does not change it."""
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(VERSION_1)
        titles = {1: "什么是 LoRA？", 2: "我的笔记"}
        connection.executemany("INSERT INTO conversations VALUES (?, '', ?, 1.0, 2.0, NULL, 1)", titles.items())
        for number in titles:
            connection.execute(
                "INSERT INTO exchanges VALUES (?, 1, NULL, '什么是 LoRA？', 1.0, 2.0, 'done', '', '{}')", [number]
            )
        connection.commit()
    with closing(Conversations(tmp_path)) as store:
        for number in titles:
            store.begin("", number, None, "什么是 QLoRA？", "done")  # the first question, asked anew
        assert {item.id: item.title for item in store.list("")} == {1: "什么是 QLoRA？", 2: "我的笔记"}
        store.pin("", 1)
        assert [item.id for item in store.list("") if item.pinned] == [1]


# What version 3 had of its own; of the exchanges nothing differs from version 2.
VERSION_3 = (
    VERSION_1.replace("tip INTEGER\n", "tip INTEGER, named INTEGER NOT NULL DEFAULT 0, pinned REAL\n")
    .replace("parent INTEGER,", "parent INTEGER CHECK (parent < number),")
    .replace("= 1;", "= 3;")
)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_file_from_before_tags_opens_whole(version: int, tmp_path: Path) -> None:
    made = {1: VERSION_1, 2: VERSION_1.replace("= 1;", "= 2;"), 3: VERSION_3}[version]
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(made)
        columns = "id, user, title, created, updated, deleted, tip"
        connection.executemany(
            f"INSERT INTO conversations ({columns}) VALUES (?, ?, ?, 1.0, 2.0, NULL, 2)",
            [(1, "", "什么是 LoRA？"), (2, "ann", "我的笔记")],
        )
        connection.executemany(
            "INSERT INTO exchanges VALUES (?, ?, ?, '什么是 LoRA？', 1.0, 2.0, 'done', '低秩', '{}')",
            [(number, *place) for number in (1, 2) for place in ((1, None), (2, 1))],
        )
        if version == 3:
            connection.execute("UPDATE conversations SET pinned = 3.0, named = 1 WHERE id = 2")
        connection.commit()
    for tag in ("", "面试"):  # the second time it is opened as it was left
        with closing(Conversations(tmp_path)) as store:
            (listed,) = store.list("ann")
            assert (listed.title, listed.updated, listed.pinned, listed.tag) == ("我的笔记", 2.0, version == 3, tag)
            loaded = store.load("ann", 2)
            assert loaded is not None
            assert [(e.number, e.parent, e.reply, e.record) for e in loaded.exchanges] == [
                (1, None, "低秩", "{}"),
                (2, 1, "低秩", "{}"),
            ]
            assert titles(store, "") == ["什么是 LoRA？"]
            store.tag("ann", "面试", 2)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_conversation_has_one_tag(store: Conversations) -> None:
    first, second, third = (ask(store, "", question) for question in ("一", "二", "三"))
    hers = ask(store, "ann", "四")
    store.tag("", "  面试\n准备 ", first, second, hers)
    assert {item.title: item.tag for item in store.list("")} == {"三": "", "二": "面试 准备", "一": "面试 准备"}
    assert (store.tags(""), store.tags("ann")) == (["面试 准备"], [])
    store.tag("", "长" * 29 + " 到此为止", second)
    assert [item.title for item in store.list("", tag="长" * 29)] == ["二"]
    assert [item.title for item in store.list("", tag="长")] == []
    store.tag("", "100%", third)
    assert store.tags("") == ["100%", "长" * 29, "面试 准备"]
    assert titles(store, "", "面试") == ["一"]  # the search finds tags, too
    assert titles(store, "", "0%") == ["三"]
    assert [item.title for item in store.list("", "没有", tag="100%")] == []
    store.delete("", third)
    store.tag("", " ", first)
    assert store.tags("") == ["长" * 29]
    loaded = store.load("", second)
    assert loaded is not None
    assert loaded.tag == "长" * 29


def test_ten_thousand_exchanges_are_listed_and_searched_at_once(store: Conversations) -> None:
    now = time.time()
    said = "低频维度在训练长度内没有转满一圈。" * 20
    with store.database.writing() as connection:
        for conversation in range(1, 2_001):
            insert(connection, conversation, now, said)
    for work in (
        lambda: store.list(""),
        lambda: store.list("", "不存在的词"),
        lambda: store.load("", 1_000),
    ):
        assert takes_less(work, 1.0)
    assert titles(store, "", "第 1234 个") == ["第 1234 个问题"]


def insert(connection: sqlite3.Connection, conversation: int, now: float, said: str) -> None:
    connection.execute(
        "INSERT INTO conversations (id, user, title, created, updated) VALUES (?, '', ?, ?, ?)",
        (conversation, f"第 {conversation} 个问题", now, now),
    )
    connection.executemany(
        "INSERT INTO exchanges VALUES (?, ?, NULL, '问题', ?, ?, 'done', ?, '{}')",
        [(conversation, number, now, now, said) for number in range(1, 6)],
    )


def test_what_was_found_comes_with_its_conversation(store: Conversations) -> None:
    """Of several exchanges the first that holds all of the words."""
    begun = store.begin("", None, None, "RoPE 是什么", "searching")
    store.end("", begun.conversation, StoredExchange(begun.number, None, "RoPE 是什么", "done", "旋转位置编码"))
    later = store.begin("", begun.conversation, begun.number, "那外推呢", "searching")
    said = "低频维度没有转满一圈，旋转角度没见过"
    store.end("", begun.conversation, StoredExchange(later.number, begun.number, "那外推呢", "done", said))
    (one,) = store.list("", "旋转")
    assert (one.question, one.reply) == ("RoPE 是什么", "旋转位置编码")
    (both,) = store.list("", "旋转 外推")
    assert (both.question, both.reply) == ("那外推呢", said)
    (apart,) = store.list("", "rope 低频")
    assert apart.question == "RoPE 是什么"
    (all_of_them,) = store.list("")
    assert all_of_them.reply == ""
