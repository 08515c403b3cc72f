"""POST /v1/chat/completions and GET /v1/models."""

import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from rag.answer.assistant import Assistant
from rag.answer.chain import DISCARDED
from rag.answer.trace import Event, Finished, TextAdded, TextDiscarded
from rag.server.http.completions import (
    AnswerMessage,
    Choice,
    Chunk,
    ChunkChoice,
    Completion,
    Delta,
    about,
    annotations_of,
    event_of,
    usage_of,
)  # fmt: skip
from rag.server.http.problems import Problem, problem_of
from rag.server.http.requests import MODEL, ChatRequest, conversation
from rag.server.http.service import Service
from rag.server.http.work import unless_gone
from rag.settings import ChatModelName
from rag.types import Answer, Turn
from rag.wire import answer_as_dict

router = APIRouter(prefix="/v1", tags=["OpenAI-compatible"])


class Model(BaseModel):
    id: str
    object: str = "model"
    created: int
    owned_by: str = "interview-rag"


class Models(BaseModel):
    object: str = "list"
    data: list[Model]


class EventStream(StreamingResponse):
    """Closes its events however the stream ends, so that the work behind them ends too."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(events, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._events = events

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async with aclosing(self._events):
            await super().__call__(scope, receive, send)


@router.post("/chat/completions", responses={200: {"model": Completion}}, response_model=None)
async def chat_completions(body: ChatRequest, request: Request) -> Response:
    """Answer the last message. With `stream`, send chunks as server-sent events: the text as it is checked, a last
    delta with `annotations`, and `[DONE]`."""
    body.check()
    service: Service = request.app.state.service
    question, said = conversation(body.messages)
    history = service.refusals.marked(said)
    usual = body.model == MODEL and not body.only
    assistant = service.assistant if usual else await run_in_threadpool(_assistant, service, body.model, body.only)
    id = f"chatcmpl-{uuid.uuid4().hex}"
    base = service.base(request)
    if body.stream:
        events = service.work.events(assistant, question, history)
        chunks = _Chunks(id, body, question, history, base)
        return EventStream(chunks.stream(events))
    finished = await unless_gone(request, service.work.finished(assistant, question, history))
    answer = finished.answer
    completion = Completion(
        id=id,
        created=int(time.time()),
        model=body.model,
        system_fingerprint=fingerprint(finished),
        choices=[Choice(message=AnswerMessage(content=answer.text, annotations=annotations_of(answer, base)))],
        usage=usage_of(question, history, answer),
        interview_rag=about(answer_as_dict(answer)),
    )
    return Response(completion.model_dump_json(), media_type="application/json")


@router.get("/models")
def models(request: Request) -> Models:
    """The model that answers as the server is set up, and one for each way of answering that is available now."""
    service: Service = request.app.state.service
    names = [MODEL, *(f"{MODEL}-{name}" for name in service.answerers.usable())]
    return Models(data=[Model(id=name, created=service.started) for name in names])


@router.get("/models/{model}")
def model(model: str, request: Request) -> Model:
    service: Service = request.app.state.service
    _assistant(service, model)
    return Model(id=model, created=service.started)


def _assistant(service: Service, model: str, only: Sequence[str] = ()) -> Assistant:
    """The assistant for a model name, from some documents only. Raises Problem, UsageError, SettingsError or
    ChatModelError."""
    choices = replace(service.assistant.choices, only=tuple(only))
    if model == MODEL:
        return service.choosing(choices)
    llm = service.answerers.named(model.removeprefix(f"{MODEL}-")) if model.startswith(f"{MODEL}-") else None
    if llm is None:
        told = f"there is no model {model[:100]!r} now; GET /v1/models lists those that are available"
        raise Problem(404, told, code="model_not_found", param="model")
    return service.choosing(replace(choices, llm=ChatModelName(llm)))


def fingerprint(finished: Finished) -> str:
    return f"generation-{finished.trace.resources.index.name}"


class _Chunks:
    """One streamed answer: its events -> server-sent events."""

    def __init__(self, id: str, body: ChatRequest, question: str, history: Sequence[Turn], base: str) -> None:
        self._id = id
        self._created = int(time.time())
        self._body = body
        self._question, self._history = question, history
        self._base = base
        # The text sent, the offset of the answer in it, and white space held back until text follows.
        self._sent = ""
        self._begin = 0
        self._held = ""

    async def stream(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[bytes, None]:
        """Always runs to the end: an error is the last event."""
        async with aclosing(events):
            yield self._chunk(Delta(role="assistant", content=""))
            try:
                async for event in events:
                    match event:
                        case TextAdded(text) if text := self._next(text):
                            yield self._chunk(Delta(content=text))
                        case TextDiscarded() if self._sent:
                            yield self._discard()
                        case Finished():
                            async for chunk in self._end(event):
                                yield chunk
            except Exception as error:  # the status has been sent, so the stream reports it
                yield event_of(problem_of(error).body)
            yield b"data: [DONE]\n\n"

    def _next(self, text: str) -> str:
        """The text to send now, so that the total is the answer's text, without outer white space."""
        text = self._held + text
        if len(self._sent) == self._begin:
            text = text.lstrip()
        shown = text.rstrip()
        self._held = text[len(shown) :]
        self._sent += shown
        return shown

    def _discard(self) -> bytes:
        """A stream cannot take text back: a line divides it from what follows."""
        self._sent += DISCARDED
        self._begin, self._held = len(self._sent), ""
        return self._chunk(Delta(content=DISCARDED))

    async def _end(self, finished: Finished) -> AsyncIterator[bytes]:
        answer = finished.answer
        if self._sent[self._begin :].split() != answer.text.split():  # nothing was shown, or it did not hold
            if len(self._sent) > self._begin:
                yield self._discard()
            self._sent += answer.text
            yield self._chunk(Delta(content=answer.text))
        yield self._last(answer, fingerprint(finished))
        if self._body.with_usage:
            usage = usage_of(self._question, self._history, answer)
            chunk = Chunk(id=self._id, created=self._created, model=self._body.model, choices=[], usage=usage)
            yield chunk.event(with_usage=True)

    def _last(self, answer: Answer, fingerprint: str) -> bytes:
        delta = Delta(annotations=annotations_of(answer, self._base, content=self._sent, begin=self._begin))
        return Chunk(
            id=self._id,
            created=self._created,
            model=self._body.model,
            choices=[ChunkChoice(delta=delta, finish_reason="stop")],
            system_fingerprint=fingerprint,
            interview_rag=about(answer_as_dict(answer)),
        ).event(with_usage=self._body.with_usage)

    def _chunk(self, delta: Delta) -> bytes:
        choices = [ChunkChoice(delta=delta)]
        chunk = Chunk(id=self._id, created=self._created, model=self._body.model, choices=choices)
        return chunk.event(with_usage=self._body.with_usage)
