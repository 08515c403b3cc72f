"""Which requests reach the API: by host, web site, key, rate and size, in this order."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any

from rag.server.address import LOOPBACK_NAMES
from rag.server.http.problems import Problem, problem_of
from rag.server.keys import Client, client_of
from rag.server.rate import Rate

Scope = MutableMapping[str, Any]
# What holds nothing of the material: no key is asked for.
OPEN = frozenset({"/healthz", "/readyz", "/docs", "/openapi.json"})
DOCS = ("/docs", "/docs-assets/")
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
# Whatever a document holds, a browser that opens its address runs none of it.
POLICY = b"default-src 'none'; sandbox; frame-ancestors 'none'"
# Swagger UI starts with a script in its page.
DOCS_POLICY = (
    b"default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    b"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class ApiLimits:
    """What one client may ask for. Rates count where there are keys: without, the only client is this machine."""

    questions: str = "120 per 1 minute"
    # Looking up documents, and all that asks nothing.
    others: str = "1200 per 1 minute"
    # Questions of one client that are waiting or being answered.
    under_way: int = 64
    # Bytes of a request's body, and seconds until all of it has come.
    body: int = 1_000_000
    body_seconds: float = 10.0


class Guard:
    """ASGI middleware. Requests that get in carry the name of their client in `state`; `clients` is None where no key
    is asked for, and `is_loopback` says that browsers can come from this machine only."""

    def __init__(
        self,
        app: Any,
        *,
        limits: ApiLimits,
        clients: tuple[Client, ...] | None,
        is_loopback: bool,
        observe: Callable[[str, int], None],
    ) -> None:
        """`observe` is told the route and the status of every response."""
        self.app = app
        self.observe = observe
        self.limits = limits
        self.clients = clients
        self.is_loopback = is_loopback
        self.others = Rate(limits.others)
        self.questions = {client.name: Rate(client.limit or limits.questions) for client in clients or ()}
        self.under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # there are no web sockets
        policy = DOCS_POLICY if scope["path"].startswith(DOCS) else POLICY

        is_begun = False

        async def send_safely(message: MutableMapping[str, Any]) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                self.observe(getattr(scope.get("route"), "path", "none"), message["status"])
                message["headers"] = [*message.get("headers", []), *HEADERS, (b"content-security-policy", policy)]
            await send(message)

        try:
            await self._admit(scope, receive, send_safely)
        except Exception as error:
            if is_begun:
                raise
            await problem_of(error).response(scope, receive, send_safely)

    async def _admit(self, scope: Scope, receive: Any, send: Any) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if self.is_loopback and _host(headers) not in LOOPBACK_NAMES:
            raise Problem(403, "this host is not served here: use 127.0.0.1 or localhost", code="wrong_host")
        if is_foreign(headers):
            raise Problem(403, "another web site asked for this, and none may", code="cross_origin")
        client = self._client(scope["path"], headers)
        scope.setdefault("state", {})["client"] = client
        if scope["method"] != "POST":
            if client is not None and self.clients is not None:
                _take(self.others, client)
            await self.app(scope, receive, send)
            return
        name = client or ""
        if self.clients is not None and name in self.questions:
            _take(self.questions[name], name)
        if self.under_way[name] >= self.limits.under_way:
            told = f"{self.limits.under_way} requests of yours are waiting or being answered: wait for one of them"
            raise Problem(429, told, code="too_many_under_way", headers={"Retry-After": "1"})
        self.under_way[name] += 1
        try:
            body = await self._body(headers, receive)
            if body is not None:  # else its client has gone
                await self.app(scope, _replay(body, receive), send)
        finally:
            self.under_way[name] -= 1

    def _client(self, path: str, headers: dict[str, str]) -> str | None:
        """Who asks; None where that is not asked for. Raises Problem for a wrong key."""
        if self.clients is None or path in OPEN or path.startswith(DOCS):
            return None
        scheme, _, key = headers.get("authorization", "").partition(" ")
        client = client_of(self.clients, key.strip()) if scheme.lower() == "bearer" else None
        if client is None:
            told = "no key of this server came with the request: send the header Authorization: Bearer KEY"
            raise Problem(401, told, code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})
        return client.name

    async def _body(self, headers: dict[str, str], receive: Any) -> bytes | None:
        """All of the body; None where the client goes away. Raises Problem for a large or a slow one."""
        most = self.limits.body
        told = headers.get("content-length", "0")
        if not told.isdecimal() or len(told) > 12 or int(told) > most:
            raise _unread(413, f"the body is larger than {most:,} bytes", "request_too_large")
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                return await _read(receive, most)
        except TimeoutError:
            raise _unread(408, f"the body took longer than {self.limits.body_seconds:g} s", "slow_request") from None


async def _read(receive: Any, most: int) -> bytes | None:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body.extend(message.get("body", b""))
        if len(body) > most:
            raise _unread(413, f"the body is larger than {most:,} bytes", "request_too_large")
        if not message.get("more_body"):
            return bytes(body)


def _unread(status: int, told: str, code: str) -> Problem:
    """The rest of the body is not read, so nothing else can come over this connection."""
    return Problem(status, told, code=code, headers={"Connection": "close"})


def _replay(body: bytes, receive: Any) -> Any:
    """`receive` for the application, to which the body comes whole."""
    parts: Iterable[dict[str, Any]] = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def again() -> Any:
        for part in parts:
            return part
        return await receive()

    return again


def _take(rate: Rate, client: str) -> None:
    if not rate.take(client):
        seconds = rate.seconds_left(client)
        told = f"faster than {rate.allowed}: wait {seconds} s"
        raise Problem(429, told, code="rate_limit_exceeded", headers={"Retry-After": str(seconds)})


def _host(headers: dict[str, str]) -> str:
    """The host that a request names, without its port.

    >>> _host({"host": "[::1]:7861"}), _host({"host": "localhost"})
    ('[::1]', 'localhost')
    """
    host = headers.get("host", "").lower()
    return host[: host.rfind("]") + 1] if host.startswith("[") else host.partition(":")[0]


def is_foreign(headers: dict[str, str]) -> bool:
    """Whether a browser says that another site made the request; following a link is fine.

    >>> is_foreign({"origin": "http://evil.example", "host": "127.0.0.1:7861"}), is_foreign({})
    (True, False)
    """
    site = headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return headers.get("sec-fetch-mode") != "navigate" or "origin" in headers
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")
