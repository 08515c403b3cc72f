"""How much one client may ask for."""

import time
from dataclasses import dataclass, field

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter


@dataclass(frozen=True, slots=True)
class Limits:
    """A client is who has signed in, else an address; on loopback, a tab of the browser."""

    # Whatever waits for its turn: questions, and other long work.
    questions: str = "60 per 1 minute"
    # All other requests that do something.
    actions: str = "1200 per 1 minute"
    # Wrong passwords, of an address.
    passwords: str = "10 per 5 minute"
    # Questions that one client may have waiting and being answered.
    waiting: int = 6
    # Bytes of a request, and of one that uploads files.
    body: int = 1_000_000
    upload: int = 1_000_000


@dataclass(slots=True)
class Rate:
    """Counts what each client does within a moving window, in memory."""

    allowed: str
    _item: RateLimitItem = field(init=False)
    _limiter: MovingWindowRateLimiter = field(init=False)

    def __post_init__(self) -> None:
        self._item = parse(self.allowed)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def take(self, client: str) -> bool:
        """Count one; whether it is allowed. What is not allowed is not counted."""
        return self._limiter.hit(self._item, client)

    def spent(self, client: str) -> bool:
        return not self._limiter.test(self._item, client)

    def seconds_left(self, client: str) -> int:
        """Until the next one is allowed, at least 1."""
        return max(1, round(self._limiter.get_window_stats(self._item, client).reset_time - time.time() + 0.5))
