"""Checks that the guards of the page and the HTTP API share: the origin of a request, its body, and rate limits."""

import time
from dataclasses import dataclass, field

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive

from rag.server.address import LOOPBACK_NAMES


class TooLargeError(Exception):
    """A body is larger than allowed; its rest is unread."""


def is_for_this_machine(request: Request) -> bool:
    """Whether a request names its server as a browser on this machine does. One under another name comes from a web
    site whose name was made to point here (DNS rebinding)."""
    host = request.headers.get("host", "").lower()
    name = host[: host.rfind("]") + 1] if host.startswith("[") else host.partition(":")[0]
    return name in LOOPBACK_NAMES


def is_foreign(request: Request, *, may_be_linked: bool) -> bool:
    """Whether a browser says that another web site made the request; following a link is fine if `may_be_linked`.

    `Sec-Fetch-Site` from a browser is trusted: no page can set it, and unlike the host it survives a proxy.
    """
    headers = request.headers
    if (site := headers.get("sec-fetch-site")) is not None:
        followed = request.method == "GET" and headers.get("sec-fetch-mode") == "navigate"
        return site not in ("same-origin", "none") and not (followed and may_be_linked)
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


async def body_of(request: Request, most: int) -> bytes | None:
    """The whole body; None if the client disconnects. Raises TooLargeError for more than `most` bytes."""
    body = bytearray()
    try:
        async for part in request.stream():
            body.extend(part)
            if len(body) > most:
                raise TooLargeError
    except ClientDisconnect:
        return None
    return bytes(body)


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the application the whole body."""
    parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return parts.pop() if parts else await receive()

    return again


@dataclass(slots=True)
class Rate:
    """Counts each client's actions within a moving window, in memory."""

    allowed: str
    _item: RateLimitItem = field(init=False)
    _limiter: MovingWindowRateLimiter = field(init=False)

    def __post_init__(self) -> None:
        self._item = parse(self.allowed)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def take(self, client: str) -> bool:
        """Whether one more action is allowed; counts it only then."""
        return self._limiter.hit(self._item, client)

    def spent(self, client: str) -> bool:
        return not self._limiter.test(self._item, client)

    def seconds_left(self, client: str) -> int:
        """Time until the next is allowed, at least 1."""
        return max(1, round(self._limiter.get_window_stats(self._item, client).reset_time - time.time() + 0.5))
