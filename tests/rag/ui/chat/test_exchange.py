"""A conversation: what is shown, what is kept, and stopping. No browser."""

import html
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag.answer import running
from rag.answer.assistant import MAX_QUESTION_CHARACTERS, Assistant
from rag.answer.quoted import writer as quotes
from rag.answer.quoted.paragraphs import Paragraph
from rag.answer.running import Run
from rag.answer.trace import Event, EvidenceFound, ModelLoading, TextAdded, TextDiscarded
from rag.chat_models.select import open_chat_model
from rag.errors import ChatModelError, ChatModelProblem
from rag.search.retrieval import Evidence
from rag.settings import ChatModelName
from rag.types import Answer, Citation, Claim, Refusal, RefusalReason, Step, StepKind
from rag.ui.chat import exchange as chat
from rag.ui.chat.examples import example_questions
from rag.ui.chat.handlers import render_writer
from rag.ui.chat.messages import messages, panel, problem_text, question_problem
from rag.ui.chat.strip import render_strip
from rag.ui.session.session import Session, State
from rag.ui.texts import TEXTS, Language
from tests.conftest import HashEmbedder
from tests.rag.library import library_settings

QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
NO_EVIDENCE = EvidenceFound(Evidence("q", ()))


def ask(assistant: Assistant, session: Session, question: str) -> int:
    """The number of times the page would be brought up to date."""
    return sum(1 for _ in chat.answer(assistant, session, question))


def use_stream(assistant: Assistant, monkeypatch: pytest.MonkeyPatch, events: Iterator[Event]) -> None:
    """The events of a chat model's answer."""
    monkeypatch.setattr(Assistant, "llm", property(lambda self: ChatModelName.ENDPOINT))
    monkeypatch.setattr(assistant, "stream", lambda question, history: events)


def test_an_answer_with_its_sources(assistant: Assistant) -> None:
    session = Session()
    assert ask(assistant, session, QUESTION) >= 2
    exchange = session.exchanges[0]
    assert exchange.state is State.DONE
    assert exchange.answer is not None
    shown = messages(session)
    assert [message["role"] for message in shown] == ["user", "assistant"]
    for citation in exchange.answer.citations:
        assert re.search(rf"cite-1-(\d+-)?{citation.marker}\b", shown[1]["content"])
        assert f'id="cite-1-{citation.marker}"' in panel(session)
    assert sorted(m for e in exchange.excerpts for m in e.markers) == [c.marker for c in exchange.answer.citations]
    assert exchange.excerpts[0].section[0] == QUESTION


def test_the_evidence_is_shown_while_quotes_are_awaited(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    choose = quotes.select_quotes

    def slowly(*arguments: Any) -> list[Paragraph]:
        go_on.wait(30)
        return choose(*arguments)

    monkeypatch.setattr(quotes, "select_quotes", slowly)
    session = Session()
    steps = chat.answer(assistant, session, QUESTION)
    next(steps)
    assert TEXTS[Language.ZH].searching in messages(session)[1]["content"]
    while TEXTS[Language.ZH].sources_found not in panel(session):  # a busy machine is slow to find it
        next(steps)
    assert "zero.md" in panel(session)
    go_on.set()
    list(steps)
    assert session.exchanges[0].state is State.DONE


def test_the_evidence_is_shown_before_a_model_writes(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    found = next(iter(assistant.stream(QUESTION)))
    use_stream(assistant, monkeypatch, iter([found, TextAdded("first")]))
    session = Session()
    steps = chat.answer(assistant, session, QUESTION)
    next(steps)
    next(steps)
    assert "zero.md" in panel(session)
    list(steps)


@pytest.mark.parametrize("language", Language)
def test_the_loading_of_the_model_is_told_until_text_comes(
    language: Language, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_stream(assistant, monkeypatch, iter([NO_EVIDENCE, ModelLoading(), TextAdded("first")]))
    session = Session(language=language)
    steps = chat.answer(assistant, session, QUESTION)
    shown = [messages(session)[1]["content"] for _ in steps]
    texts = TEXTS[language]
    for text, content in zip((texts.searching, texts.reading, texts.loading), shown, strict=False):
        assert text in content
    assert "first" in shown[-1]
    assert texts.loading not in shown[-1]


def test_history_is_passed_on_and_repeated_questions_stay_apart(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    stream = assistant.stream

    def remember(question: str, history: list[object]) -> Iterator[Event]:
        asked.append([turn.role for turn in history])  # type: ignore[attr-defined]
        return stream(question, history)  # type: ignore[arg-type]

    monkeypatch.setattr(assistant, "stream", remember)
    session = Session()
    ask(assistant, session, QUESTION)
    ask(assistant, session, QUESTION)
    assert asked == [[], ["user", "assistant"]]
    first, second = messages(session)[1]["content"], messages(session)[3]["content"]
    assert "#cite-1-1" in first
    assert "#cite-2-" not in first
    assert "#cite-2-1" in second
    session.show(1)
    assert 'id="cite-1-1"' in panel(session)
    assert 'id="cite-2-1"' not in panel(session)


def test_a_refusal_is_a_notice_in_the_readers_language(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    ask(assistant, session, QUESTION)
    exchange = session.exchanges[0]
    assert exchange.answer is not None
    object.__setattr__(
        exchange.answer, "refusal", Refusal(RefusalReason.MISSING_TERMS, ("Mamba",), ("What is <b>RoPE</b>?",))
    )
    shown = messages(session)[1]["content"]
    assert TEXTS[Language.ZH].refused_missing.format(missing="Mamba") in shown
    assert 'href="#ask-1-0"' in shown
    assert "<b>" not in shown
    session.language = Language.EN
    assert "does not mention" in messages(session)[1]["content"]
    assert TEXTS[Language.EN].sources_nearest in panel(session)


def test_the_history_says_which_answers_were_refusals(assistant: Assistant) -> None:
    session = Session()
    ask(assistant, session, QUESTION)
    answer = session.exchanges[0].answer
    assert answer is not None
    session.begin("Mamba?", parent=1).answer = replace(answer, refusal=Refusal(RefusalReason.MISSING_TERMS, ("Mamba",)))
    turns = session.history(session.tip)
    assert [(turn.role, turn.refused) for turn in turns] == [
        ("user", False), ("assistant", False), ("user", False), ("assistant", True)
    ]  # fmt: skip


def test_failures_are_told_and_nothing_is_lost(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    ask(assistant, session, QUESTION)

    def fail() -> Iterator[Event]:
        yield NO_EVIDENCE
        yield TextAdded("half ")
        raise ChatModelError("no route to <host>")

    use_stream(assistant, monkeypatch, fail())
    ask(assistant, session, "Why?")
    assert [exchange.state for exchange in session.exchanges] == [State.DONE, State.FAILED]
    assert not session.busy
    shown = messages(session)[3]["content"]
    assert shown.startswith("half")
    assert TEXTS[Language.ZH].model_failed in shown
    assert "route" not in shown  # the wording of an error is for the terminal


@pytest.mark.parametrize("language", Language)
def test_that_quotes_took_the_place_of_a_model_is_told_before_them(assistant: Assistant, language: Language) -> None:
    session = Session(language=language)
    ask(assistant, session, QUESTION)
    exchange = session.exchanges[0]
    assert exchange.answer is not None
    assert '<div class="lead">' not in messages(session)[1]["content"]
    exchange.answer = replace(exchange.answer, fallback=ChatModelProblem.UNAUTHORIZED)
    shown = messages(session)[1]["content"]
    assert shown.startswith('<div class="lead">')
    assert TEXTS[language].fallback_unauthorized in shown.split("</div>")[0]
    assert TEXTS[language].fallback_settings in shown.split("</div>")[0]


def test_an_answer_that_broke_off_keeps_its_text_and_offers_to_go_on(assistant: Assistant) -> None:
    session, texts = Session(), TEXTS[Language.ZH]
    ask(assistant, session, QUESTION)
    exchange = session.exchanges[0]
    assert exchange.answer is not None
    assert "go-on" not in messages(session)[1]["content"]
    exchange.answer = replace(exchange.answer, llm="endpoint", fallback=ChatModelProblem.CUT)
    exchange.used = {**exchange.used, "model": "deepseek-chat"}
    shown = html.unescape(messages(session)[1]["content"])
    assert "ZeRO-3 还切分模型参数" in shown
    assert '<div class="lead">' not in shown  # it is the model's own
    assert texts.cut.format(name="deepseek-chat") in shown
    assert f'<button type="button" class="go-on do-retry-1-goon">{texts.go_on}</button>' in shown


@pytest.mark.parametrize("state", [State.READING, State.LOADING])
def test_a_model_that_is_waited_for_is_named_and_the_seconds_are_counted(state: State) -> None:
    session, texts = Session(), TEXTS[Language.ZH]
    exchange = session.begin(QUESTION, parent=None)
    exchange.state, exchange.since = state, 12.5
    assert "since-" not in messages(session)[1]["content"]  # which model it is is not known yet
    exchange.used = {"model": "qwen"}
    told = texts.loading_model if state is State.LOADING else texts.waiting_model
    assert f'<p class="waiting since-12500">{told.format(name="qwen")}</p>' in messages(session)[1]["content"]
    exchange.steps = (Step(StepKind.CALCULATE, "1.5 * 2", "3"),)
    assert "1.5 * 2" in messages(session)[1]["content"]  # an agent tells what it does


def test_who_wrote_an_answer(assistant: Assistant) -> None:
    session = Session()
    ask(assistant, session, QUESTION)
    exchange = session.exchanges[0]
    assert exchange.answer is not None
    assert f'class="by">{TEXTS[Language.ZH].answerer_extractive}<' in messages(session)[1]["content"]
    exchange.answer = replace(exchange.answer, llm="endpoint")
    exchange.used = {**exchange.used, "model": "deepseek-chat"}
    assert 'class="by">由 deepseek-chat 撰写<' in html.unescape(messages(session)[1]["content"])


@pytest.mark.parametrize(
    ("question", "quote", "told"),
    [
        ("Why ZeRO-3?", "ZeRO-3 还切分模型参数。", Language.EN),
        ("为什么要放大损失？", "Small gradients underflow to zero in FP16.", Language.ZH),
        ("Why loss scaling?", "Small gradients underflow to zero in FP16.", None),
        ("ZeRO-3 切分什么？", "ZeRO-3 还切分模型参数。", None),
        ("怎么写？", "```python\nx = rotate(q, angle)\n```", None),
        ("怎么写？", "x = rotate(q, angle)  # every head is turned by its place\nreturn x", None),
    ],
)
def test_quotes_in_another_language_are_introduced(question: str, quote: str, told: Language | None) -> None:
    session = Session()
    exchange = session.begin(question, parent=None)
    claim, citation = Claim(quote, (1,), True), Citation(1, "a.md", "A", 0, len(quote), quote)
    exchange.answer = Answer(question, (), f"{quote} [1]", "extractive", (claim,), (citation,))
    shown = messages(session)[1]["content"]
    assert (html.escape(TEXTS[told].foreign) in shown) if told else '<div class="lead">' not in shown
    exchange.answer = replace(exchange.answer, llm="endpoint")  # it writes in the language of the question
    assert '<div class="lead">' not in messages(session)[1]["content"]


@pytest.mark.parametrize(("url", "remote"), [("https://llm.example/v1", True), ("http://127.0.0.1:9/v1", False)])
def test_what_leaves_the_machine_is_told_apart(
    own_library: Path, hash_embedder: HashEmbedder, url: str, remote: bool
) -> None:
    settings = library_settings(own_library).model_copy(
        update={"llm": ChatModelName.ENDPOINT, "endpoint_url": url, "endpoint_model": "deepseek-chat"}
    )
    own = Assistant(settings, hash_embedder, chat_model=open_chat_model(settings))
    told = render_writer(own, (), TEXTS[Language.EN])
    assert "deepseek-chat" in told
    assert ('class="told remote"' in told) is ("llm.example" in told) is remote


def test_questions_are_counted_within_the_branch_that_is_shown(assistant: Assistant) -> None:
    session = Session()
    ask(assistant, session, QUESTION)
    for _ in chat.answer_after(assistant, session, QUESTION, None):  # once more
        pass
    assert TEXTS[Language.ZH].sources_of.format(number=1) in panel(session)
    assert 'data-turn="2"' in panel(session)
    session.editing = 2
    assert TEXTS[Language.ZH].editing.format(number=1) in render_strip(session)


def test_text_that_is_discarded_is_no_longer_shown(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    use_stream(assistant, monkeypatch, iter([NO_EVIDENCE, TextAdded("wrong"), TextDiscarded(), TextAdded("right")]))
    session = Session()
    ask(assistant, session, "q")
    shown = messages(session)[1]["content"]
    assert shown.startswith("right")
    assert "wrong" not in shown


def test_an_open_index_goes_on_answering_when_its_folder_cannot_be_read(
    own_library: Path, hash_embedder: HashEmbedder
) -> None:
    own = Assistant(library_settings(own_library), hash_embedder)
    session = Session(language=Language.EN)
    ask(own, session, QUESTION)
    (own_library / "index" / "CURRENT").unlink()
    ask(own, session, QUESTION)
    assert session.exchanges[1].problem is None
    assert session.exchanges[1].state is State.DONE
    session.show(1)
    assert 'id="cite-1-1"' in panel(session)


def test_an_unknown_failure_is_friendly_too() -> None:
    assert problem_text(RuntimeError("<secret>"), TEXTS[Language.EN]) == TEXTS[Language.EN].failed


def test_stopping_ends_at_once_and_closes_the_stream(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    closed, release = threading.Event(), threading.Event()

    def slow() -> Iterator[Event]:
        try:
            yield NO_EVIDENCE
            yield TextAdded("begun ")
            release.wait(30)  # a model that takes its time
            yield TextAdded("never shown")
        finally:
            closed.set()

    use_stream(assistant, monkeypatch, slow())
    session = Session()
    for _ in chat.answer(assistant, session, "q"):
        if session.exchanges[-1].chunks:
            session.stop()
    assert session.exchanges[-1].state is State.STOPPED
    assert not session.busy
    assert not closed.is_set()  # nobody waited for the model
    release.set()
    assert closed.wait(30)
    shown = messages(session)[1]["content"]
    assert shown.startswith("begun")
    assert TEXTS[Language.ZH].stopped in shown


def test_stopping_before_anything_is_written_claims_nothing_above(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session()
    nearby = next(iter(assistant.stream(QUESTION)))
    use_stream(assistant, monkeypatch, iter([nearby, TextAdded("\n\n"), TextAdded("never shown")]))
    steps = chat.answer(assistant, session, "q")
    for _ in steps:
        if session.exchanges[-1].chunks:
            told = messages(session)[1]["content"]
            assert TEXTS[Language.ZH].checked.format(count=1) not in told
            assert TEXTS[Language.ZH].reading in told
            break
    session.stop()
    list(steps)
    exchange = session.exchanges[-1]
    exchange.chunks = ["\n\n"]
    assert exchange.state is State.STOPPED
    assert TEXTS[Language.ZH].stopped_early in messages(session)[1]["content"]
    assert TEXTS[Language.ZH].stopped not in messages(session)[1]["content"]
    assert panel(session).count(TEXTS[Language.ZH].sources) == 2  # the heading, and the name of the panel


def test_a_reader_who_leaves_stops_the_work(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = threading.Event()

    def endless() -> Iterator[Event]:
        try:
            while True:
                yield NO_EVIDENCE
        finally:
            closed.set()

    use_stream(assistant, monkeypatch, endless())
    steps = chat.answer(assistant, Session(), "q")
    next(steps)
    next(steps)
    steps.close()
    assert closed.wait(30)


def test_a_run_ends_its_thread() -> None:
    run = Run(iter([NO_EVIDENCE]))
    assert list(run) == [NO_EVIDENCE]
    assert run.join(30)


def test_silence_lets_the_server_look_for_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PULSE", 0.01)
    go_on = threading.Event()

    def slow() -> Iterator[Event]:
        go_on.wait(30)
        yield NO_EVIDENCE

    run = Run(slow())
    items = run.with_pulse()
    assert next(items) is None
    go_on.set()
    assert NO_EVIDENCE in list(items)


def test_clearing_forgets_and_numbers_go_on(assistant: Assistant) -> None:
    session = Session()
    ask(assistant, session, QUESTION)
    session.clear()
    assert messages(session) == []
    assert TEXTS[Language.ZH].sources_empty in panel(session)
    ask(assistant, session, QUESTION)
    assert session.exchanges[0].number == 2


def test_a_question_waits_for_the_end_of_an_answer_that_was_left(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, begun, waited = Session(), threading.Event(), threading.Event()

    def slow() -> Iterator[Event]:
        yield NO_EVIDENCE
        begun.set()
        assert waited.wait(30)

    with monkeypatch.context() as patched:
        use_stream(assistant, patched, slow())
        steps = chat.answer(assistant, session, "left")
        next(steps)
        assert begun.wait(30)
    assert session.is_answering
    assert "busy" in render_strip(session)
    session.clear()
    assert session.busy
    assert not session.is_answering
    assert "busy" not in render_strip(session)
    asking = threading.Thread(target=ask, args=(assistant, session, QUESTION))
    asking.start()
    assert session.exchanges == []
    list(steps)  # ends
    asking.join(30)
    waited.set()
    (exchange,) = session.exchanges
    assert (exchange.question, exchange.state) == (QUESTION, State.DONE)


@pytest.mark.parametrize("question", ["", "  \n", "\u200b", "\x00"])
def test_an_empty_question_is_not_asked(question: str) -> None:
    assert question_problem(question, TEXTS[Language.EN]) == TEXTS[Language.EN].question_empty


def test_a_question_may_be_as_long_as_the_assistant_takes() -> None:
    assert question_problem("x" * MAX_QUESTION_CHARACTERS, TEXTS[Language.EN]) is None
    assert "4,001" in str(question_problem("x" * (MAX_QUESTION_CHARACTERS + 1), TEXTS[Language.EN]))


def test_examples_are_titles_that_ask(assistant: Assistant) -> None:
    documents = assistant.index.storage.documents()
    chinese, english = (example_questions(documents, language) for language in (Language.ZH, Language.EN))
    assert "ZeRO-2 和 ZeRO-3 差在哪？" in chinese
    assert english == ["Why does mixed precision training need loss scaling?"]
    assert example_questions(reversed(documents), Language.ZH) == chinese
    assert len(chinese) <= 6
