"""Ages, sentences that grow old, and the shape of the report."""

from datetime import date
from pathlib import Path

import pytest

from rag.index import open_index
from rag.index.storage import StoredDocument
from rag.language.claim_marks import Bound
from rag.review.report import age_of, oldest_first, review, time_bound, topic_of
from rag.review.statements import Statement
from rag.text.front_matter import DateField, read_front_matter
from rag.text.page import Outline
from tests.rag.review.conftest import Reviewing
from tests.rag.review.documents import BANDWIDTH, FILLER, page


def stored(name: str, source: str, tags: tuple[str, ...] = ()) -> StoredDocument:
    said = read_front_matter(source)
    outline = Outline(dated=said.dated, date_field=said.date_field)
    return StoredDocument(0, name, name, name, "", 0, False, tags, (), source, outline=outline)


@pytest.mark.parametrize(
    ("source", "dated", "field"),
    [
        ("---\nchecked: 2026-01-02\nupdated: 2026-03-04\n---\n", date(2026, 1, 2), DateField.CHECKED),
        ("---\nupdated: 2025-03-04\n---\ntext", date(2025, 3, 4), DateField.UPDATED),
        ('---\r\nchecked: "2024/05/06"\r\n---\r\n', date(2024, 5, 6), DateField.CHECKED),
        ("---\nchecked: 2026-01-02 10:20:30\n---\n", date(2026, 1, 2), DateField.CHECKED),
        ("---\nchecked: soon\nupdated: 2025-03-04\n---\n", date(2025, 3, 4), DateField.UPDATED),
        ("---\ntitle: x\n---\n", None, None),
        ("---\nchecked: 2026-02-31\n---\n", None, None),
        ("---\n[broken\n---\n", None, None),
        ("checked: 2026-01-02\n", None, None),
        ("", None, None),
    ],
)
def test_the_age_of_a_document(source: str, dated: date | None, field: DateField | None) -> None:
    age = age_of(stored("a.md", source))
    assert (age.dated, age.field) == (dated, field)


def test_the_oldest_come_first_and_those_without_a_date_last() -> None:
    texts = {"a.md": "", "b.md": "---\nchecked: 2026-01-02\n---\n", "c.md": "---\nupdated: 2025-01-02\n---\n"}
    ages = oldest_first([age_of(stored(name, text)) for name, text in texts.items()])
    assert [age.document for age in ages] == ["c.md", "b.md", "a.md"]


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("两者自 PyTorch 2.4 起弃用。", [Bound.VERSION]),
        ("vLLM v0.6.3 改了默认值。", [Bound.VERSION]),
        ("论文发表于 2024 年。", [Bound.YEAR]),
        ("目前最新的做法是 FP4。", [Bound.PRESENT]),
        ("截至 2026-11，开源重排器有两个系列。", [Bound.YEAR, Bound.PRESENT]),
        ("This is the state of the art today.", [Bound.PRESENT]),
        ("体现在两个方面。", []),
        ("上下文是 2048 token。", []),
        ("A100 的带宽是 2.0 TB/s。", []),
        ("见 arXiv:2024.12345。", []),
        ("当前 token 的隐藏状态。", []),
        ("AIME 2024 的 pass@1 是 79.8%。", []),
    ],
)
def test_sentences_that_grow_old(text: str, bounds: list[Bound]) -> None:
    found = time_bound(Statement("a.md", "a", (), 0, len(text), text, 0, text))
    assert list(found.bounds if found else ()) == bounds


def test_the_shape_of_the_json(reviewing: Reviewing) -> None:
    said = "截至 2026 年仍然如此。"
    texts = {"one.md": page("第一篇", BANDWIDTH, said), **FILLER}
    report = reviewing(texts).as_dict()
    assert list(report) == ["generation", "statements", "ages", "time_bound"]
    assert report["ages"][0] == {
        "document": "filler-0.md",
        "title": "别的资料 0",
        "date": "2026-01-02",
        "field": "checked",
    }
    assert len(report["ages"]) == len(texts)
    (aged,) = report["time_bound"]
    assert aged == {
        "document": "one.md",
        "title": "第一篇",
        "section": ["第一篇", "展开"],
        "start": texts["one.md"].index(said),
        "end": texts["one.md"].index(said) + len(said),
        "quote": said,
        "bounds": ["year", "present"],
        "words": ["2026", "截至"],
    }


def test_an_empty_index_has_nothing_to_review(reviewing: Reviewing) -> None:
    report = reviewing({})
    assert (report.statements, report.ages, report.time_bound) == (0, (), ())


def test_one_document_is_reviewed(reviewing: Reviewing) -> None:
    report = reviewing({"one.md": page("第一篇", BANDWIDTH)})
    assert len(report.ages) == report.statements == 1


def test_how_far_it_is_is_told(tmp_path: Path, reviewing: Reviewing) -> None:
    reviewing(FILLER)
    index = open_index(tmp_path / "index")
    told: list[tuple[int, int]] = []
    review(index, lambda *progress: told.append(progress))
    index.close()
    assert told == [(done, len(FILLER)) for done in range(1, len(FILLER) + 1)]


def test_a_topic_is_a_folder_or_a_tag(reviewing: Reviewing) -> None:
    holds = topic_of([stored("a/x.md", ""), stored("b/y.md", "", ("Alpha",)), stored("a.md", "")], "A")
    assert [holds(name) for name in ("a/x.md", "b/y.md", "a.md")] == [True, False, False]
    assert topic_of([stored("b/y.md", "", ("Alpha",))], "alpha")("b/y.md")
    report = reviewing({"one.md": page("一", "目前仍然是这样。"), **FILLER})
    about = report.about(lambda name: name == "one.md")
    assert (len(about.ages), len(about.time_bound)) == (1, 1)
    assert len(report.first(3).ages) == 3
