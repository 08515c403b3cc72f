"""What the routes work with."""

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
    """`public_url` is how clients reach the server where that is not what their requests say (behind a proxy)."""

    assistant: Assistant
    answerers: Answerers
    work: Work
    metrics: Metrics
    refusals: Refusals
    public_url: str = ""
    started: int = field(default_factory=lambda: int(time.time()))

    def choosing(self, choices: Choices) -> Assistant:
        """Raises UsageError where the choices name documents that are not there."""
        check_names(self.assistant.index, choices.only)
        return self.assistant.choosing(choices)

    def base(self, request: Request) -> str:
        """What addresses of this server begin with."""
        return (self.public_url or str(request.base_url)).rstrip("/")
