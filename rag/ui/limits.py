"""Limits for one client of the page."""

from dataclasses import dataclass


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
