"""Which requests get in: Gradio's server answers far more than its page needs, whoever asks."""

import json
from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from rag.server.rate import Rate
from rag.ui.limits import Limits
from rag.ui.texts import Language, language_of

API = "/gradio_api/"
JOIN, UPLOAD, FILE = f"{API}queue/join", f"{API}upload", f"{API}file="
# What the page uses. All else does not exist: direct calls, proxies, streams, monitoring, profiling, editing, runs.
OPEN = {"/", "/config", "/login", "/logout", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt"}
OPEN |= {JOIN, UPLOAD} | {
    f"{API}{name}" for name in ("app_id", "cancel", "info", "login_check", "queue/data", "reset", "run/predict")
}
OPEN |= {f"{API}{name}" for name in ("startup-events", "theme.css", "token", "upload_progress", "user")}
OPEN_BELOW = ("/assets/", "/static/", f"{API}heartbeat/", FILE)
# A file is shown or downloaded; it never becomes a part of the page that runs.
CODE = {"script", "style", "worker", "sharedworker", "serviceworker", "object", "embed", "iframe", "frame", "xslt"}
TEXTS = {
    Language.ZH: {
        "asked": "问得太快了，请过 {seconds} 秒再试。问题还在输入框里。",
        "waiting": "前面的 {count} 个问题还没答完，请等一等再问。",
    },
    Language.EN: {
        "asked": "That is faster than allowed: please try again in {seconds} s. The question is still in the box.",
        "waiting": "Your other {count} questions are not answered yet; please wait a little.",
    },
}


class Guard:
    """ASGI middleware that refuses, each with its status: addresses that the page does not use (404), requests that
    another web site made (403), bodies that are too large or of untold length (413, 411), and what comes too often or
    waits too much (429).

    `alone` tells that only this machine can connect: its addresses are all the same, so tabs are told apart instead.
    """

    def __init__(self, app: Any, *, limits: Limits, alone: bool) -> None:
        self.app = app
        self.limits = limits
        self.alone = alone
        self.questions, self.actions, self.passwords = map(Rate, (limits.questions, limits.actions, limits.passwords))

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # the page opens no web socket
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        path, method = scope["path"], scope["method"]
        if not is_open(path, headers):
            await refuse(send, 404, "not found")
        elif is_foreign(path, method, headers):
            await refuse(send, 403, "another web site asked for this")
        elif method in ("GET", "HEAD"):
            await self.app(scope, receive, send)
        elif method != "POST":
            await refuse(send, 405, "not allowed")
        elif not (length := headers.get("content-length", "")).isdecimal():
            await refuse(send, 411, "the length must be told")
        elif int(length) > (limit := self.limits.upload if path == UPLOAD else self.limits.body):
            await refuse(send, 413, f"{int(length):,} bytes; at most {limit:,} are allowed")
        elif path == JOIN:
            await self._join(scope, receive, send, headers)
        elif path == "/login":
            await self._login(scope, receive, send)
        elif not self.actions.take(client := user_of(scope, headers) or address_of(scope)):
            await refuse(send, 429, f"too many requests: wait {self.actions.seconds_left(client)} s")
        else:
            await self.app(scope, receive, send)

    async def _join(self, scope: MutableMapping[str, Any], receive: Any, send: Any, headers: dict[str, str]) -> None:
        body = await read(receive)
        if body is None:
            return  # gone before it was said
        texts = TEXTS[language_of(headers.get("accept-language", ""))]
        client = user_of(scope, headers) or (tab_of(body) if self.alone else address_of(scope))
        events = scope["app"].get_blocks()._queue.event_ids_to_events.values()
        if sum(client == self._asker(event) for event in list(events)) >= self.limits.waiting:
            await refuse(send, 429, texts["waiting"].format(count=self.limits.waiting))
        elif not self.questions.take(client):
            await refuse(send, 429, texts["asked"].format(seconds=self.questions.seconds_left(client)))
        else:
            await self.app(scope, replay(body, receive), send)

    def _asker(self, event: Any) -> str:
        if event.username:
            return f"user {event.username}"
        return f"tab {event.session_hash}" if self.alone else address_of(event.request.scope)

    async def _login(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        client = address_of(scope)
        if self.passwords.spent(client):
            await refuse(send, 429, f"too many wrong passwords: wait {self.passwords.seconds_left(client)} s")
            return

        async def send_and_count(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                self.passwords.take(client)
            await send(message)

        await self.app(scope, receive, send_and_count)


def is_open(path: str, headers: dict[str, str]) -> bool:
    """Whether the page uses an address, and not as code.

    >>> is_open("/gradio_api/queue/join", {}), is_open("/gradio_api/proxy=http://a", {})
    (True, False)
    """
    if path.startswith(FILE):
        # Gradio would fetch a remote file for whoever asks.
        remote = ":/" in path.removeprefix(FILE)
        return not remote and headers.get("sec-fetch-dest") not in CODE
    return (path.rstrip("/") or "/") in OPEN or path.startswith(OPEN_BELOW)


def is_foreign(path: str, method: str, headers: dict[str, str]) -> bool:
    """Whether a browser says that another site made the request; a link to the page itself is fine.

    >>> is_foreign("/login", "POST", {"origin": "http://evil.example", "host": "127.0.0.1:7860"})
    True
    """
    site = headers.get("sec-fetch-site")
    if site is None:
        origin = headers.get("origin")
        return origin is not None and urlsplit(origin).netloc != headers.get("host")
    followed = path == "/" and method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    return site not in ("same-origin", "none") and not followed


def user_of(scope: MutableMapping[str, Any], headers: dict[str, str]) -> str | None:
    """Who has signed in, as Gradio remembers it."""
    app = scope["app"]
    cookie: SimpleCookie = SimpleCookie()
    try:
        cookie.load(headers.get("cookie", ""))
    except CookieError:
        return None
    for name in (f"access-token-{app.cookie_id}", f"access-token-unsecure-{app.cookie_id}"):
        user = app.tokens.get(cookie[name].value) if name in cookie else None
        if user:
            return f"user {user}"
    return None


def address_of(scope: MutableMapping[str, Any]) -> str:
    client = scope.get("client")
    return f"address {client[0]}" if client else "address unknown"


def tab_of(body: bytes) -> str:
    try:
        return f"tab {json.loads(body)['session_hash']}"
    except (ValueError, KeyError, TypeError, RecursionError):
        return "tab unknown"


async def read(receive: Any) -> bytes | None:
    """The body of a request, whose length the caller has checked; None where the client goes away."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body.extend(message.get("body", b""))
        if not message.get("more_body"):
            return bytes(body)


def replay(body: bytes, receive: Any) -> Any:
    """`receive` for whoever reads the body again."""
    told = False

    async def again() -> Any:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def refuse(send: Any, status: int, why: str) -> None:
    """An answer that Gradio's page shows."""
    body = json.dumps({"detail": why}, ensure_ascii=False).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status in (411, 413):
        headers.append((b"connection", b"close"))  # the body is not read
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
