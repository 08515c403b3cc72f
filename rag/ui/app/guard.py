"""Admits requests: Gradio's server answers far more than its page needs, to anybody."""

import json
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag.server.entrance import Rate, body_of, is_for_this_machine, is_foreign, replay
from rag.ui.texts import TEXTS, language_of


@dataclass(frozen=True, slots=True)
class PageLimits:
    """A client is a signed-in user, else an address; on loopback, a browser tab."""

    # Everything queued: questions, and other long work.
    questions: str = "60 per 1 minute"
    # All other requests with an effect.
    actions: str = "1200 per 1 minute"
    # Wrong passwords per address.
    passwords: str = "10 per 5 minute"
    # One client's questions that wait or are being answered.
    waiting: int = 6
    # Bytes of a request, and of a file upload.
    body: int = 1_000_000
    upload: int = 1_000_000


API = "/gradio_api/"
JOIN, UPLOAD, FILE = f"{API}queue/join", f"{API}upload", f"{API}file="
# What the page uses. All else gives 404: direct calls, proxies, streams, monitoring, profiling, editing, runs.
OPEN = {"/", "/config", "/login", "/logout", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt"}
OPEN |= {JOIN, UPLOAD} | {
    f"{API}{name}" for name in ("app_id", "cancel", "info", "login_check", "queue/data", "reset", "run/predict")
}
OPEN |= {f"{API}{name}" for name in ("startup-events", "theme.css", "token", "upload_progress", "user")}
OPEN_BELOW = ("/assets/", "/static/", f"{API}heartbeat/", FILE)
# A file is shown or downloaded; it never becomes code of the page.
CODE = {"script", "style", "worker", "sharedworker", "serviceworker", "object", "embed", "iframe", "frame", "xslt"}


class PageGuard:
    """ASGI middleware that refuses, each with its status: foreign host names if only this machine can connect (400),
    addresses that the page does not use (404), requests from another web site (403), bodies that are too large or of
    undeclared length (413, 411), and too many requests or waiting questions (429).

    If only this machine can connect and nobody signs in, all addresses are the same: clients are browser tabs instead.
    """

    def __init__(self, app: ASGIApp, *, limits: PageLimits, is_loopback: bool, has_users: bool) -> None:
        self.app = app
        self.limits = limits
        self.is_loopback = is_loopback
        self.alone = is_loopback and not has_users
        self.questions, self.actions, self.passwords = map(Rate, (limits.questions, limits.actions, limits.passwords))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # the page opens no web socket
        try:
            await self._admit(Request(scope, receive), send)
        except HTTPException as refusal:  # as Gradio's page shows it
            response = JSONResponse({"detail": refusal.detail}, refusal.status_code, refusal.headers)
            await response(scope, receive, send)

    async def _admit(self, request: Request, send: Send) -> None:
        path, method = request.scope["path"], request.method
        if self.is_loopback and not is_for_this_machine(request):
            raise HTTPException(400, "this host is not served here: use 127.0.0.1 or localhost")
        if not is_open(path, request.headers.get("sec-fetch-dest")):
            raise HTTPException(404, "not found")
        if is_foreign(request, may_be_linked=path == "/"):
            raise HTTPException(403, "another web site asked for this")
        if method in ("GET", "HEAD"):
            await self.app(request.scope, request.receive, send)
            return
        if method != "POST":
            raise HTTPException(405, "not allowed")
        self._check_length(request.headers.get("content-length", ""), path)
        if path == JOIN:
            await self._join(request, send)
        elif path == "/login":
            await self._login(request, send)
        else:
            client = user_of(request) or address_of(request)
            _take(self.actions, client, "too many requests: wait {seconds} s")
            await self.app(request.scope, request.receive, send)

    def _check_length(self, length: str, path: str) -> None:
        most = self.limits.upload if path == UPLOAD else self.limits.body
        unread = {"Connection": "close"}
        if not length.isdecimal():
            raise HTTPException(411, "the length must be told", unread)
        if int(length) > most:
            raise HTTPException(413, f"{int(length):,} bytes; at most {most:,} are allowed", unread)

    async def _join(self, request: Request, send: Send) -> None:
        body = await body_of(request, self.limits.body)
        if body is None:
            return  # the client left early
        texts = TEXTS[language_of(request.headers.get("accept-language", ""))]
        client = user_of(request) or (tab_of(body) if self.alone else address_of(request))
        events = request.app.get_blocks()._queue.event_ids_to_events.values()
        if sum(client == self._asker(event) for event in list(events)) >= self.limits.waiting:
            raise HTTPException(429, texts.too_many_waiting.format(count=self.limits.waiting))
        _take(self.questions, client, texts.asked_too_fast)
        await self.app(request.scope, replay(body, request.receive), send)

    def _asker(self, event: Any) -> str:
        if event.username:
            return f"user {event.username}"
        return f"tab {event.session_hash}" if self.alone else address_of(event.request)

    async def _login(self, request: Request, send: Send) -> None:
        client = address_of(request)
        if self.passwords.spent(client):
            seconds = self.passwords.seconds_left(client)
            raise HTTPException(429, f"too many wrong passwords: wait {seconds} s")

        async def send_and_count(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                self.passwords.take(client)
            await send(message)

        await self.app(request.scope, request.receive, send_and_count)


def _take(rate: Rate, client: str, notice: str) -> None:
    if not rate.take(client):
        raise HTTPException(429, notice.format(seconds=rate.seconds_left(client)))


def is_open(path: str, wanted_as: str | None = None) -> bool:
    """Whether the page uses an address, and not as code.

    >>> is_open("/gradio_api/queue/join"), is_open("/gradio_api/proxy=http://a")
    (True, False)
    """
    if path.startswith(FILE):
        # Gradio would fetch a remote file for anybody.
        remote = ":/" in path.removeprefix(FILE)
        return not remote and wanted_as not in CODE
    return (path.rstrip("/") or "/") in OPEN or path.startswith(OPEN_BELOW)


def user_of(request: Request) -> str | None:
    """The signed-in user, as Gradio remembers it."""
    app = request.app
    for name in (f"access-token-{app.cookie_id}", f"access-token-unsecure-{app.cookie_id}"):
        if user := app.tokens.get(request.cookies.get(name)):
            return f"user {user}"
    return None


def address_of(request: Any) -> str:
    return f"address {request.client.host}" if request.client else "address unknown"


def tab_of(body: bytes) -> str:
    try:
        return f"tab {json.loads(body)['session_hash']}"
    except (ValueError, KeyError, TypeError, RecursionError):
        return "tab unknown"
