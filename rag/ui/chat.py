"""A question of a reader -> its exchange, step by step. Knows nothing of Gradio."""

import logging
import time
from collections.abc import Iterator

from rag.answering.events import EvidenceFound, Finished, ModelLoading, TextAdded, TextDiscarded
from rag.assistant import Assistant
from rag.errors import RagError
from rag.retrieval import Evidence
from rag.types import Citation
from rag.ui.running import Run
from rag.ui.session import Exchange, Session, State
from rag.ui.sources import NEAREST, Nearby, make_excerpts

logger = logging.getLogger(__name__)

# Seconds between two updates of the page while text streams in.
REFRESH = 0.05


def answer(assistant: Assistant, session: Session, question: str) -> Iterator[None]:
    """Answer a question within the session; yields whenever there is something new to show.

    Whatever goes wrong is kept in the exchange, never raised.
    """
    exchange = session.begin(question)
    run = session.run = Run(assistant.choosing(session.preferences).stream(question, session.history(exchange)))
    try:
        yield
        refreshed = 0.0
        for event in run:
            match event:
                case EvidenceFound(evidence):
                    exchange.nearby = nearest(evidence)
                    exchange.state = State.WRITING
                    yield
                case ModelLoading():
                    exchange.state = State.LOADING
                    yield
                case TextAdded(text):
                    exchange.state = State.WRITING
                    exchange.chunks.append(text)
                    if time.monotonic() - refreshed >= REFRESH:
                        refreshed = time.monotonic()
                        yield
                case TextDiscarded():
                    exchange.chunks.clear()
                case Finished(finished):
                    exchange.excerpts = make_excerpts(
                        finished.citations, assistant.source, lambda citation: section_of(assistant, citation)
                    )
                    exchange.answer = finished
                    exchange.state = State.DONE
        if exchange.state is not State.DONE:
            exchange.state = State.STOPPED
    except RagError as error:
        logger.warning("%s", error.message)
        _fail(exchange, error)
    except Exception as error:
        logger.exception("an answer failed")
        _fail(exchange, error)
    finally:
        run.stop()
        if session.run is run:
            session.run = None
        if exchange.state in (State.SEARCHING, State.LOADING, State.WRITING):  # the reader has gone
            exchange.state = State.STOPPED
    yield


def nearest(evidence: Evidence) -> tuple[Nearby, ...]:
    """The best passage of each of the best documents."""
    best: dict[str, Nearby] = {}
    for hit in evidence.hits:
        best.setdefault(hit.passage.document, Nearby.of(hit.passage))
    return tuple(best.values())[:NEAREST]


def _fail(exchange: Exchange, error: Exception) -> None:
    exchange.problem = error
    exchange.state = State.FAILED


def section_of(assistant: Assistant, citation: Citation) -> tuple[str, ...]:
    """The headings above a citation, outermost first."""
    storage = assistant.index.storage
    numbers = list(dict.fromkeys(storage.document_numbers(citation.document)))
    for passage in storage.passages(numbers):
        if passage.document == citation.document and passage.start <= citation.start and citation.end <= passage.end:
            return passage.section
    return ()
