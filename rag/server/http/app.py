"""The HTTP API as an ASGI application: the program's own pipeline in OpenAI's format, behind a guard."""

from fastapi import FastAPI, Request, Response
from fastapi_offline import FastAPIOffline
from starlette.middleware import Middleware

from rag.answer.assistant import Assistant
from rag.chat_models.answerers import Answerers
from rag.server.http import chat, health, lookups
from rag.server.http.guard import ApiGuard, ApiLimits
from rag.server.http.problems import add_error_handlers
from rag.server.http.refusals import Refusals
from rag.server.http.service import Service
from rag.server.http.work import GoneError, Work
from rag.server.keys import Client
from rag.server.metrics import Metrics
from rag.server.tracing import Tracing

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
    for routes in (chat, lookups, health):
        app.include_router(routes.router)
    add_error_handlers(app)
    app.add_exception_handler(GoneError, _gone)
    return app


def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=499)  # nobody reads it
