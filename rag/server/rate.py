"""Rate limits per client."""

import time
from dataclasses import dataclass, field

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter


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
