"""GET /healthz, /readyz and /metrics."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from rag.server.http.service import Service

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
