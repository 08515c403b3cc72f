"""How much one client of the page may ask for."""

from dataclasses import dataclass


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
