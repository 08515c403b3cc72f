"""The HTTP API as an ASGI application: the program's own pipeline in OpenAI's format, behind a guard; and its
routes for operators."""

from collections.abc import MutableMapping
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi_offline import FastAPIOffline
from pydantic import BaseModel
from starlette.middleware import Middleware

from rag.answer.assistant import Assistant
from rag.chat_models.select import Answerers
from rag.server.http import chat, lookups
from rag.server.http.guard import ApiGuard, ApiLimits
from rag.server.http.problems import add_error_handlers
from rag.server.http.service import Refusals, Service
from rag.server.http.work import GoneError, Work
from rag.server.keys import Client
from rag.server.metrics import Metrics
from rag.server.tracing import Tracing

router = APIRouter(tags=["for operators"])


class Ready(BaseModel):
    status: str = "ready"
    generation: str
    embedder: str
    llm: str


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process is alive."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(request: Request) -> Ready:
    """Questions can be answered: the live generation of the index is open and readable, and the embedder is loaded.
    Otherwise 503 with the reason."""
    service: Service = request.app.state.service
    index = service.assistant.index
    index.storage.source("")
    return Ready(generation=index.name, embedder=service.assistant.embedder.identity, llm=service.assistant.llm)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request) -> Response:
    """Metrics for Prometheus: counts and times, never text. Requires a key if the API does."""
    service: Service = request.app.state.service
    return Response(service.metrics.as_text(), media_type="text/plain; version=0.0.4; charset=utf-8")


PREFIX = "/v1/"
OPERATORS = ("/healthz", "/readyz", "/metrics")


class ApiDispatcher:
    """ASGI middleware: routes API addresses to the API, with its own guard; all others to the application."""

    def __init__(self, app: Any, *, api: Any) -> None:
        self.app = app
        self.api = api

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        is_api = scope["type"] == "http" and (scope["path"].startswith(PREFIX) or scope["path"] in OPERATORS)
        await (self.api if is_api else self.app)(scope, receive, send)


DESCRIPTION = """\
Answers questions from the documents of an index; every statement carries the exact slice of its source.
**All offsets count Unicode code points.** How to use it from curl, openai, LangChain and Open WebUI: docs/api.md.
"""


def build_app(
    assistant: Assistant,
    *,
    clients: tuple[Client, ...] | None = None,
    is_loopback: bool = True,
    limits: ApiLimits | None = None,
    public_url: str = "",
    tracing: Tracing | None = None,
) -> FastAPI:
    """`clients` have keys; None requires none."""
    metrics = Metrics()
    metrics.generation(lambda: assistant.resources.index.name)
    guard = Middleware(
        ApiGuard, limits=limits or ApiLimits(), clients=clients, is_loopback=is_loopback, observe=metrics.requested
    )
    # The API page loads Swagger UI from here, not from another host.
    app = FastAPIOffline(
        title="interview-rag",
        description=DESCRIPTION,
        version="1",
        redoc_url=None,
        static_url="/docs-assets",
        favicon_url="data:,",
        redirect_slashes=False,
        # Its own spans and logs would hold questions; ours are in rag/answer.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        middleware=[guard],
    )
    refusals = Refusals()
    work = Work([metrics, refusals, *([] if tracing is None else [tracing])])
    metrics.running(lambda: work.running)
    answerers = Answerers(lambda: assistant.settings)
    app.state.service = Service(assistant, answerers, work, metrics, refusals, public_url)
    for routes in (chat.router, lookups.router, router):
        app.include_router(routes)
    add_error_handlers(app)
    app.add_exception_handler(GoneError, _gone)
    return app


def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=499)  # nobody reads it
