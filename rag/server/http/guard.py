"""Admits requests to the API by host, web site, key, rate and size, in this order."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag.server.entrance import Rate, TooLargeError, body_of, is_for_this_machine, is_foreign, replay
from rag.server.http.problems import Problem, problem_of
from rag.server.keys import Client, client_of

# Reveals none of the material, so needs no key.
OPEN = frozenset({"/healthz", "/readyz", "/docs", "/openapi.json"})
DOCS = ("/docs", "/docs-assets/")
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
# A browser that opens a document's address runs none of its content.
POLICY = b"default-src 'none'; sandbox; frame-ancestors 'none'"
# Swagger UI starts with a script in its page.
DOCS_POLICY = (
    b"default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    b"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class ApiLimits:
    """Limits of one client. Rates apply only with keys: without, the only client is this machine."""

    questions: str = "120 per 1 minute"
    # Looking up documents, and other non-questions.
    others: str = "1200 per 1 minute"
    # One client's questions that are waiting or being answered.
    under_way: int = 64
    # Bytes of a request's body, and seconds for it to arrive.
    body: int = 1_000_000
    body_seconds: float = 10.0


class ApiGuard:
    """ASGI middleware. `clients` is None if no key is required, and `is_loopback` says that browsers can connect from
    this machine only."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: ApiLimits,
        clients: tuple[Client, ...] | None,
        is_loopback: bool,
        observe: Callable[[str, int], None],
    ) -> None:
        """Calls `observe` with the route and status of every response."""
        self.app = app
        self.observe = observe
        self.limits = limits
        self.clients = clients
        self.is_loopback = is_loopback
        self.others = Rate(limits.others)
        self.questions = {client.name: Rate(client.limit or limits.questions) for client in clients or ()}
        self.under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # there are no web sockets
        policy = DOCS_POLICY if scope["path"].startswith(DOCS) else POLICY

        is_begun = False

        async def send_safely(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                self.observe(getattr(scope.get("route"), "path", "none"), message["status"])
                message["headers"] = [*message.get("headers", []), *HEADERS, (b"content-security-policy", policy)]
            await send(message)

        try:
            await self._admit(Request(scope, receive), send_safely)
        except Exception as error:
            if is_begun:
                raise
            await problem_of(error).response(scope, receive, send_safely)

    async def _admit(self, request: Request, send: Send) -> None:
        if self.is_loopback and not is_for_this_machine(request):
            raise Problem(403, "this host is not served here: use 127.0.0.1 or localhost", code="wrong_host")
        if is_foreign(request, may_be_linked=True):
            raise Problem(403, "requests from other web sites are refused", code="cross_origin")
        client = self._client(request)
        if request.method != "POST":
            if client is not None:
                _take(self.others, client)
            await self.app(request.scope, request.receive, send)
            return
        name = client or ""
        if name in self.questions:
            _take(self.questions[name], name)
        if self.under_way[name] >= self.limits.under_way:
            told = f"{self.limits.under_way} of your requests are waiting or being answered: wait for one of them"
            raise Problem(429, told, code="too_many_under_way", headers={"Retry-After": "1"})
        self.under_way[name] += 1
        try:
            body = await self._body(request)
            if body is not None:  # else its client has gone
                await self.app(request.scope, replay(body, request.receive), send)
        finally:
            self.under_way[name] -= 1

    def _client(self, request: Request) -> str | None:
        """The client's name; None if no key is needed. Raises Problem for a wrong one."""
        path = request.scope["path"]
        if self.clients is None or path in OPEN or path.startswith(DOCS):
            return None
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        client = client_of(self.clients, key.strip()) if scheme.lower() == "bearer" else None
        if client is None:
            told = "the request has no valid key for this server: send the header Authorization: Bearer KEY"
            raise Problem(401, told, code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})
        return client.name

    async def _body(self, request: Request) -> bytes | None:
        """The whole body; None if the client disconnects. Raises Problem for a large or slow one."""
        most, seconds = self.limits.body, self.limits.body_seconds
        told = request.headers.get("content-length", "0")
        try:
            if not told.isdecimal() or len(told) > 12 or int(told) > most:
                raise TooLargeError
            async with asyncio.timeout(seconds):
                return await body_of(request, most)
        except TooLargeError:
            raise _unread(413, f"the body is larger than {most:,} bytes", "request_too_large") from None
        except TimeoutError:
            raise _unread(408, f"the body took longer than {seconds:g} s", "slow_request") from None


def _unread(status: int, told: str, code: str) -> Problem:
    """The rest of the body stays unread, so this connection cannot be reused."""
    return Problem(status, told, code=code, headers={"Connection": "close"})


def _take(rate: Rate, client: str) -> None:
    if not rate.take(client):
        seconds = rate.seconds_left(client)
        told = f"the limit is {rate.allowed}: wait {seconds} s"
        raise Problem(429, told, code="rate_limit_exceeded", headers={"Retry-After": str(seconds)})
