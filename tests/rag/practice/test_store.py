"""What was practised is kept: through two writers, damage, and a move to another machine."""

import json
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from rag.errors import UsageError
from rag.practice.grading import Verdict
from rag.practice.plan import Plan
from rag.practice.rounds import Level, Round
from rag.practice.schedule import CardReview, Rating
from rag.practice.store import FILE, Jotting, PracticeStore
from tests.paths import ROOT

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from rag.practice.schedule import CardReview, Rating
from rag.practice.store import PracticeStore
store = PracticeStore(Path(sys.argv[1]))
for number in range(20):
    store.review("", CardReview("a.md#q", datetime.now(UTC), Rating.GOOD, 0.7, f"{sys.argv[2]} {number}"))
"""


def review(name: str = "a.md#q", at: datetime = NOW, rating: Rating = Rating.GOOD) -> CardReview:
    return CardReview(name, at, rating, 0.7, "KV cache 存下键和值。", "sha", 12.5)


def filled(folder: Path) -> PracticeStore:
    store = PracticeStore(folder)
    store.review("ann", review())
    store.review("ann", review(at=NOW + timedelta(days=1), rating=Rating.AGAIN))
    store.jot("ann", "a.md#q", Jotting(True, "记一下", "我的版本", "草稿"))
    store.override("ann", "a.md#q", "attempt", "point", Verdict.FOUND)
    store.save_round("ann", Round("r1", None, Level.DEEP, NOW, 5, ("a.md#q",)))
    return store


def test_everything_is_there_after_the_program_ended(tmp_path: Path) -> None:
    filled(tmp_path).close()
    store = PracticeStore(tmp_path)
    assert [one.rating for one in store.reviews("ann")] == [Rating.GOOD, Rating.AGAIN]
    assert store.reviews("ann")[0] == review()
    assert store.cards("ann")["a.md#q"].reviews == 2
    assert store.jottings("ann") == {"a.md#q": Jotting(True, "记一下", "我的版本", "草稿")}
    assert store.overrides("ann", "a.md#q", "attempt") == {"point": Verdict.FOUND}
    assert [one.id for one in store.rounds("ann", unfinished=True)] == ["r1"]
    assert store.cards("bob") == {}
    assert not store.reviews("bob")


def test_an_override_is_taken_back(tmp_path: Path) -> None:
    store = filled(tmp_path)
    store.override("ann", "a.md#q", "attempt", "point", None)
    assert store.overrides("ann", "a.md#q", "attempt") == {}


def test_cards_are_what_the_log_leads_to(tmp_path: Path) -> None:
    store = filled(tmp_path)
    before = store.cards("ann")
    assert store.rebuild("ann") == before
    with store.database.writing() as connection:
        connection.execute("UPDATE cards SET card = 'nonsense'")
    assert store.cards("ann") == before
    with store.database.writing() as connection:
        connection.execute("UPDATE cards SET card = '{}'")
    assert store.review("ann", review(at=NOW + timedelta(days=2))).reviews == 3


def test_a_clock_that_went_back_keeps_the_log_in_order(tmp_path: Path) -> None:
    store = filled(tmp_path)
    card = store.review("ann", review(at=NOW - timedelta(days=30)))
    assert store.rebuild("ann")["a.md#q"] == card
    assert [one.at for one in store.reviews("ann")] == sorted(one.at for one in store.reviews("ann"))


def test_two_processes_review_the_same_card(tmp_path: Path) -> None:
    """As two tabs of two servers would; no review is lost, and the card has seen all of them."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], cwd=ROOT) for name in ("one", "two")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    store = PracticeStore(tmp_path)
    assert len(store.reviews("")) == 40
    assert store.cards("")["a.md#q"].reviews == 40
    assert store.rebuild("") == store.cards("")


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    filled(tmp_path).close()
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    store = PracticeStore(tmp_path)
    assert store.cards("ann") == {}
    assert store.database.set_aside is not None
    assert store.database.set_aside.read_bytes() == b"no database" * 100
    store.review("ann", review())


def test_an_export_is_restored_elsewhere_and_twice(tmp_path: Path) -> None:
    store = filled(tmp_path / "here")
    exported = json.loads(json.dumps(store.export("ann")))
    other = PracticeStore(tmp_path / "there")
    assert other.restore("bob", exported) == 2
    assert other.restore("bob", exported) == 0
    assert other.cards("bob") == store.cards("ann")
    assert other.jottings("bob") == store.jottings("ann")
    assert other.overrides("bob", "a.md#q", "attempt") == {"point": Verdict.FOUND}
    assert other.rounds("bob") == store.rounds("ann")


def test_a_restore_changes_nothing_that_is_there(tmp_path: Path) -> None:
    exported = filled(tmp_path / "here").export("ann")
    other = PracticeStore(tmp_path / "there")
    other.jot("ann", "a.md#q", Jotting(note="neuer"))
    other.review("ann", review("b.md#q"))
    other.restore("ann", exported)
    assert other.jottings("ann")["a.md#q"].note == "neuer"
    assert set(other.cards("ann")) == {"a.md#q", "b.md#q"}


@pytest.mark.parametrize(
    "wrong", [{}, {"format": 1}, {"format": 9, "exported": "2026-11-22T00:00:00Z"}, {"reviews": 3}]
)
def test_what_is_no_export_changes_nothing(tmp_path: Path, wrong: dict[str, object]) -> None:
    store = filled(tmp_path)
    with pytest.raises(UsageError, match="export") as raised:
        store.restore("ann", wrong)
    assert "nothing was changed" in raised.value.hint
    assert len(store.reviews("ann")) == 2


def test_a_plan_is_kept_also_in_a_file_from_before_there_were_plans(tmp_path: Path) -> None:
    store = filled(tmp_path / "here")
    with store.database.writing() as connection:
        connection.execute("DROP TABLE plans")
        connection.execute("PRAGMA user_version = 1")
    store.close()
    store = PracticeStore(tmp_path / "here")
    assert (store.plan("ann"), len(store.reviews("ann"))) == (Plan(), 2)
    plan = Plan(date(2026, 12, 10), "training", deep=True)
    store.save_plan("ann", plan)
    other = PracticeStore(tmp_path / "there")
    other.restore("bob", json.loads(json.dumps(store.export("ann"))))
    assert other.plan("bob") == plan
