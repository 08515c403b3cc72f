"""What the routes use."""

import time
from dataclasses import dataclass, field

from fastapi import Request

from rag.answer.assistant import Assistant
from rag.answer.choices import Choices
from rag.chat_models.answerers import Answerers
from rag.index.scope import check_names
from rag.server.http.refusals import Refusals
from rag.server.http.work import Work
from rag.server.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Service:
    """`public_url` is how clients reach the server if their requests do not say so (behind a proxy)."""

    assistant: Assistant
    answerers: Answerers
    work: Work
    metrics: Metrics
    refusals: Refusals
    public_url: str = ""
    started: int = field(default_factory=lambda: int(time.time()))

    def choosing(self, choices: Choices) -> Assistant:
        """Raises UsageError if the choices name unknown documents."""
        check_names(self.assistant.index, choices.only)
        return self.assistant.choosing(choices)

    def base(self, request: Request) -> str:
        """The base of this server's addresses."""
        return (self.public_url or str(request.base_url)).rstrip("/")
