"""The API beside another application, in one process."""

from collections.abc import MutableMapping
from typing import Any

PREFIX = "/v1/"
OPERATORS = ("/healthz", "/readyz", "/metrics")


class Beside:
    """ASGI middleware: routes API addresses to the API, with its own guard; all others to the application."""

    def __init__(self, app: Any, *, api: Any) -> None:
        self.app = app
        self.api = api

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        is_api = scope["type"] == "http" and (scope["path"].startswith(PREFIX) or scope["path"] in OPERATORS)
        await (self.api if is_api else self.app)(scope, receive, send)
