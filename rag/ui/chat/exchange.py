"""A reader's question -> its exchange, step by step. Knows nothing of Gradio."""

import logging
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ingest.updates.first_reading import FirstReading
from rag.answer.assistant import Assistant
from rag.answer.choices import Choices
from rag.answer.running import Run
from rag.answer.suggestions import near
from rag.answer.trace import Event, EvidenceFound, Finished, ModelLoading, StepTaken, TextAdded, TextDiscarded
from rag.answer.written.writer import prompt_of
from rag.errors import ChatModelError, RagError, SettingsError
from rag.feedback.store import EvidencePassage
from rag.index.part import page_of
from rag.search.retrieval import Evidence
from rag.settings import ChatModelName
from rag.text.page import Outline, PageOf
from rag.types import Passage, Role, Turn
from rag.ui.chat.follow_ups import follow_ups, offers
from rag.ui.conversations.keeper import Keeper
from rag.ui.session.excerpts import NEAREST, Nearby, make_excerpts
from rag.ui.session.session import EARLY, UNFINISHED, Exchange, Session, State

logger = logging.getLogger(__name__)

# Seconds between page updates while text streams in.
REFRESH = 0.05
# Seconds after which the evidence is shown if its quotes are not there yet: showing both costs the server as much as an
# answer.
QUOTED_WITHIN = 0.25
# Concurrent answers by quotes, over all readers: they use this machine's cores, and more would only slow each other. A
# chat model is mostly waiting.
QUOTED_AT_ONCE = 3
_quoting = threading.BoundedSemaphore(QUOTED_AT_ONCE)
# Answers still being written after their readers left, over all readers.
LEFT_AT_ONCE = 8
_left = threading.BoundedSemaphore(LEFT_AT_ONCE)
# Seconds between checks of an answer being written for another tab.
LOOK_SECONDS = 0.3
# Seconds after which an early question is answered from what is read by then.
PATIENCE = 20.0
# Passages kept with an exchange as its answer's evidence.
EVIDENCE_KEPT = 6


def answer(
    assistant: Assistant, session: Session, question: str, keeper: Keeper | None = None
) -> Generator[None, None, None]:
    """Answer a question at the end of the shown branch; see `answer_after`."""
    return answer_after(assistant, session, question, session.tip, keeper)


def answer_after(
    assistant: Assistant,
    session: Session,
    question: str,
    parent: int | None,
    keeper: Keeper | None = None,
    *,
    llm: ChatModelName | None = None,
    follows: bool | None = None,
    begun: str = "",
    early: bool = False,
    reading: FirstReading | None = None,
) -> Generator[None, None, None]:
    """Answer a question that follows the exchange `parent`; yields whenever there is something new to show. `llm`
    writes this one answer, else the writer that the reader or the settings chose; `follows` says whether to read the
    question as a follow-up; `begun` is an interrupted answer that this one continues. The exchange remembers that it
    came `early`, while documents are being read; `reading` first reads what the question is about.

    The exchange keeps any error; none is raised. Yields nothing if an answer is already being written. If the reader
    leaves, the answer is still completed: whoever opens the conversation finds it.
    """
    steps = _begun_and_ended(
        assistant, session, question, parent, keeper, llm=llm, follows=follows, begun=begun, early=early,
        reading=reading,
    )  # fmt: skip
    try:
        for _ in steps:
            yield
    except GeneratorExit:  # the reader has left, and may come back
        is_found_again = keeper is not None and session.user is not None
        if not is_found_again or not _left.acquire(blocking=False):
            steps.close()
        else:
            threading.Thread(target=_go_on, args=(steps,), name="answer left alone", daemon=True).start()
        raise


def look_on(session: Session, keeper: Keeper) -> Generator[None, None, None]:
    """Yields while the newest answer of the shown branch, requested in another tab or in this one before a reload, is
    being written. Stopping stops it; leaving does not."""
    writer, exchange, opened = keeper.writer(session), session.find(session.tip or 0), session.conversation_count
    if writer is None or exchange is None or not session.claim():
        return
    try:
        while exchange.state in UNFINISHED and session.conversation_count == opened and not session.stopping:
            yield
            time.sleep(LOOK_SECONDS)
        if session.stopping and session.conversation_count == opened:
            writer.stop()
            while exchange.state in UNFINISHED:
                time.sleep(REFRESH)
    finally:
        session.release()


def _go_on(steps: Generator[None, None, None]) -> None:
    try:
        for _ in steps:
            pass
    finally:
        _left.release()


def _begun_and_ended(
    assistant: Assistant,
    session: Session,
    question: str,
    parent: int | None,
    keeper: Keeper | None,
    *,
    llm: ChatModelName | None,
    follows: bool | None,
    begun: str,
    early: bool,
    reading: FirstReading | None,
) -> Generator[None, None, None]:
    if not session.claim():
        return
    try:
        history = session.history(parent)
        exchange = keeper.begin(session, question, parent) if keeper else session.begin(question, parent=parent)
        try:
            chosen = session.choices if llm is None else replace(session.choices, llm=llm)
            choices = replace(chosen, follows=follows, begun=begun)
            yield from _write(assistant, session, exchange, history, choices, early=early, reading=reading)
        except RagError as error:
            logger.warning("%s", error.message)
            _fail(exchange, error)
        except Exception as error:
            logger.exception("an answer failed")
            _fail(exchange, error)
        finally:
            if exchange.state in UNFINISHED:  # stopped
                exchange.state = State.STOPPED
            if keeper:
                keeper.end(session, exchange)
    finally:
        session.release()
    yield


def _write(
    assistant: Assistant,
    session: Session,
    exchange: Exchange,
    history: Sequence[Turn],
    choices: Choices,
    *,
    early: bool,
    reading: FirstReading | None,
) -> Generator[None, None, None]:
    """Fill an exchange from the events of its answer."""
    writer = writer_of(assistant, choices)
    # The parts of an answer that are shown beside it read the same few documents, of the generation that is live then.
    pages = cache(lambda name: page_of(assistant.index, name))
    quotes = writer.llm == ChatModelName.EXTRACTIVE
    events = writer.stream(exchange.question, history)
    events = _in_turn(events) if quotes else events
    if reading is not None:
        exchange.state = State.AWAITING
        events = _once_read(reading, exchange.question, events)
    run = Run(events)
    session.start(run)
    try:
        yield
        refreshed = 0.0
        # None is a pulse: when the reader has left, the server closes this iterator at a yield.
        for event in run.with_pulse(QUOTED_WITHIN if quotes else None):
            due = True
            match event:
                case None:
                    # It may still wait for its turn.
                    due = not quotes or exchange.state not in (State.AWAITING, State.SEARCHING)
                case EvidenceFound(evidence):
                    exchange.nearby = nearest(evidence, pages)
                    exchange.standalone = evidence.query
                    exchange.evidence = evidence_passages(evidence)
                    exchange.used = used_by(writer) | ({EARLY: True} if early else {})
                    exchange.state, exchange.since = State.READING, time.time()
                    if quotes:  # they follow at once, or the pulse shows this
                        refreshed, due = time.monotonic(), False
                case StepTaken(step):
                    exchange.steps = (*exchange.steps, step)
                case ModelLoading():
                    exchange.state = State.LOADING
                case TextAdded(text):
                    exchange.state = State.WRITING
                    exchange.chunks.append(text)
                    if due := time.monotonic() - refreshed >= REFRESH:
                        refreshed = time.monotonic()
                case TextDiscarded():
                    exchange.chunks.clear()
                    due = False
                case Finished(finished, trace):
                    exchange.excerpts = make_excerpts(finished.citations, pages)
                    asked = [turn.text for turn in history if turn.role is Role.USER]
                    more = follow_ups(finished, pages, [*asked, exchange.question])
                    exchange.follow_ups = finished.nearest or more
                    exchange.offers = offers(finished, pages, trace.question.standalone.intent)
                    if finished.refusal is not None:
                        found = near(assistant.index, trace.decision.result.for_decision)
                        exchange.nearby = nearest(found, pages)
                    exchange.answer = finished
                    exchange.prompt = prompt_of(trace)
                    exchange.state = State.DONE
                    due = False
            if due:
                yield
    finally:
        run.stop()


def _in_turn(events: Iterator[Event]) -> Iterator[Event]:
    """Runs in the answer's thread, so that stopping waits for nobody."""
    with _quoting:
        yield from events


def _once_read(reading: FirstReading, question: str, events: Iterator[Event]) -> Iterator[Event]:
    """The events, once documents about the question are read. Delays nobody else."""
    reading.wait_for(question, PATIENCE)
    yield from events


def writer_of(assistant: Assistant, choices: Choices) -> Assistant:
    """The assistant that a reader chose; with the usual model if the chosen one is no longer usable."""
    try:
        return assistant.choosing(choices)
    except (ChatModelError, SettingsError) as error:
        logger.warning("%s; the usual model answers", error.message)
        return assistant.choosing(replace(choices, llm=None))


def model_of(assistant: Assistant) -> str:
    """An assistant's chat model by its own name, if known; empty if none writes."""
    return assistant.model_name or ""


def used_by(assistant: Assistant) -> dict[str, Any]:
    """The settings and the reader's choices on which an answer depends."""
    settings, choices = assistant.settings, assistant.choices
    return {
        "llm": assistant.llm,
        "model": model_of(assistant),
        "style": str(choices.style),
        "caution": str(choices.caution),
        "only_supported": choices.only_supported,
        "top_k": settings.top_k,
        **({"only": list(choices.only)} if choices.only else {}),
        **assistant.index_settings,
        "generation": assistant.index.manifest.generation,
    }


def nearest(evidence: Evidence, pages: PageOf) -> tuple[Nearby, ...]:
    """The best passage of each of the best documents."""
    best: dict[str, Passage] = {}
    for hit in evidence.hits:
        best.setdefault(hit.passage.document, hit.passage)
    found = [(passage, pages(name)) for name, passage in [*best.items()][:NEAREST]]
    return tuple(Nearby.of(passage, page.outline if page else Outline()) for passage, page in found)


def evidence_passages(evidence: Evidence) -> tuple[EvidencePassage, ...]:
    """The best passages, to keep with an opinion about the answer."""
    found = [hit.passage for hit in evidence.hits[:EVIDENCE_KEPT]]
    return tuple(EvidencePassage(p.document, p.title, p.section, p.start, p.end, p.text) for p in found)


def _fail(exchange: Exchange, error: Exception) -> None:
    exchange.problem = error
    exchange.state = State.FAILED
