"""The review in the library room, without a browser."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.errors import RagError
from rag.ui.library.review import SHOWN, ReviewRun, ReviewState, review_report
from rag.ui.texts import REVIEW_TEXTS, TEXTS, Language
from tests.conftest import HashEmbedder
from tests.rag.library import ingest, library_settings
from tests.rag.review.documents import BANDWIDTH, FILLER, page
from tests.rag.ui.rooms import NASTY

DOCUMENTS = {"one.md": page("第一篇", BANDWIDTH, f"目前{NASTY}。"), **FILLER}


@pytest.fixture
def run(tmp_path: Path, hash_embedder: HashEmbedder) -> Iterator[ReviewRun]:
    ingest(tmp_path, hash_embedder, DOCUMENTS)
    assistant = Assistant(library_settings(tmp_path), hash_embedder)
    yield ReviewRun(assistant)
    assistant.index.close()


def finished(run: ReviewRun) -> ReviewState:
    run.start()
    deadline = time.monotonic() + 60
    while run.state().under_way and time.monotonic() < deadline:
        time.sleep(0.02)
    return run.state()


@pytest.mark.parametrize("language", list(Language))
def test_sentences_stand_as_quotes_and_nothing_runs(run: ReviewRun, language: Language) -> None:
    texts = REVIEW_TEXTS[language]
    html = review_report(finished(run), texts, TEXTS[language])
    assert "<strong>目前</strong><blockquote>" in html
    assert "<img" not in html
    assert "one.md › 第一篇 › 展开" in html
    assert f"{texts.checked} 2026-01-02" in html


def test_a_new_generation_makes_it_outdated(run: ReviewRun, tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    finished(run)
    assert not run.is_outdated()
    ingest(tmp_path, hash_embedder, FILLER)
    assert run.is_outdated()
    html = review_report(run.state(), REVIEW_TEXTS[Language.ZH], TEXTS[Language.ZH], outdated=True)
    assert REVIEW_TEXTS[Language.ZH].outdated in html
    assert finished(run).review is not None
    assert not run.is_outdated()


def test_what_went_wrong_is_told_and_another_review_can_start(run: ReviewRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(NASTY)

    with monkeypatch.context() as patched:
        patched.setattr("rag.ui.library.review.review", broken)
        state = finished(run)
    html = review_report(state, REVIEW_TEXTS[Language.EN], TEXTS[Language.EN])
    assert 'role="alert"' in html
    assert "<img" not in html
    assert finished(run).problem is None


def test_progress_and_nothing_yet() -> None:
    texts = REVIEW_TEXTS[Language.EN]
    assert review_report(ReviewState(), texts, TEXTS[Language.EN]) == ""
    assert texts.waiting in review_report(ReviewState(under_way=True), texts, TEXTS[Language.EN])
    html = review_report(ReviewState(under_way=True, done=3, total=9), texts, TEXTS[Language.EN])
    assert '<progress value="3" max="9">' in html
    problem = review_report(ReviewState(problem=RagError("it broke")), texts, TEXTS[Language.EN])
    assert "it broke" in problem


def test_long_lists_are_cut(run: ReviewRun) -> None:
    state = finished(run)
    assert state.review is not None
    many = state.review.about(lambda name: True)
    html = review_report(
        ReviewState(review=type(many)(1, 1, many.ages * SHOWN, ())), REVIEW_TEXTS[Language.EN], TEXTS[Language.EN]
    )
    assert html.count("<li>") == SHOWN
    assert "more are not listed" in html
