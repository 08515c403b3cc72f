"""One writer at a time, by rows in the store.

A writer inserts a claim and then reads all claims; it writes only if it is alone, and otherwise withdraws its own.
Reads see earlier inserts, so of two writers at least one sees the other. A living writer renews its claim by inserting
a new row before deleting the old one; without renewal it expires, and that of a dead process on the same machine is
void at once. Each writer counts as an attempt with its own number, which its rows carry.
"""

import contextlib
import json
import logging
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from rag.errors import IndexLockedError, RagError, StoreError
from rag.index.milvus.connection import Connection
from rag.index.milvus.generations import ATTEMPT, CLAIM, GENERATION, state_row
from rag.index.milvus.schema import Table

logger = logging.getLogger(__name__)

# A claim holds for this many seconds after its renewal. Writers' clocks must agree to a few seconds.
LASTS = 90.0
RENEWED_EVERY = 10.0
# Writing stops this many seconds before a claim expires.
MARGIN = 30.0
LOOKS_AGAIN = 0.5


@dataclass(frozen=True, slots=True)
class LeaseClaim:
    """A writer, and its deadline."""

    id: str
    owner: str
    pid: int
    host: str
    since: float
    expires: float

    @property
    def holds(self) -> bool:
        return time.time() < self.expires and (self.host != _here() or _lives(self.pid))


class Lease:
    """The right to write. `attempt` is the number in this writer's rows; `aborted` are those of writers that published
    nothing."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.attempt = 0
        self.aborted: tuple[int, ...] = ()
        self._owner = uuid.uuid4().hex
        self._since = time.time()
        self._claim = ""
        self._renewed = 0.0
        self._ended = threading.Event()

    def require(self) -> None:
        """Raise StoreError if the claim could expire before the next write arrives. Sends no request."""
        if time.monotonic() > self._renewed + LASTS - MARGIN:
            raise StoreError(
                f"the right to write to {self.connection.prefix} at {self.connection.uri} could not be renewed for "
                f"{time.monotonic() - self._renewed:.0f} seconds",
                hint="run the command again: what was published before goes on serving",
            )

    def require_alone(self) -> None:
        """Raise StoreError unless the store shows this writer as the only claimant."""
        self.require()
        if [claim.owner for claim in _claims(self.connection) if claim.holds] != [self._owner]:
            raise StoreError(
                f"another process has begun to write to {self.connection.prefix} at {self.connection.uri}",
                hint="run the command again when it is done",
            )

    def claim(self) -> LeaseClaim | None:
        """Insert a claim. Returns another writer's claim if there is one, and then withdraws ours."""
        others = [claim for claim in _claims(self.connection) if claim.holds]
        if not others:
            self._renew()
            others = [claim for claim in _claims(self.connection) if claim.holds and claim.owner != self._owner]
            if not others:
                return None
            self._withdraw()
        return others[0]

    def begin(self) -> None:
        """Delete dead claims, take a number, and renew the claim from now on."""
        dead = [claim.id for claim in _claims(self.connection) if claim.owner != self._owner]
        if dead:
            self.connection.delete(Table.STATE, f"id in {json.dumps(dead)}")
        rows = self.connection.query(Table.STATE, f'kind in ["{ATTEMPT}", "{GENERATION}"]', ["kind", "number"])
        numbers = {kind: {int(row["number"]) for row in rows if row["kind"] == kind} for kind in (ATTEMPT, GENERATION)}
        self.aborted = tuple(sorted(numbers[ATTEMPT] - numbers[GENERATION]))
        self.attempt = max(numbers[ATTEMPT] | numbers[GENERATION], default=0) + 1
        self.connection.insert(
            Table.STATE, [state_row(ATTEMPT, str(self.attempt), self.attempt, json.dumps({"since": time.time()}))]
        )
        threading.Thread(target=self._keep, name="milvus-lease", daemon=True).start()

    def forget_attempt(self) -> None:
        """This attempt has published, or written nothing: none of its rows need sweeping."""
        self.connection.delete(Table.STATE, f'id in ["{ATTEMPT}/{self.attempt}"]')

    def end(self) -> None:
        self._ended.set()
        with contextlib.suppress(RagError):  # it expires by itself
            self._withdraw()

    def _keep(self) -> None:
        while not self._ended.wait(RENEWED_EVERY):
            try:
                self._renew()
            except RagError as error:
                logger.warning("the right to write was not renewed: %s", error.message)

    def _renew(self) -> None:
        before, began = self._claim, time.monotonic()
        claim = f"{CLAIM}/{self._owner}/{uuid.uuid4().hex}"
        who = {
            "owner": self._owner, "pid": os.getpid(), "host": _here(), "since": self._since,
            "expires": time.time() + LASTS,
        }  # fmt: skip
        row = state_row(CLAIM, claim.removeprefix(f"{CLAIM}/"), 0, json.dumps(who))
        self.connection.insert(Table.STATE, [row])
        self._claim, self._renewed = claim, began
        if before:
            self.connection.delete(Table.STATE, f"id in {json.dumps([before])}")

    def _withdraw(self) -> None:
        own = [claim.id for claim in _claims(self.connection) if claim.owner == self._owner]
        if own:
            self.connection.delete(Table.STATE, f"id in {json.dumps(own)}")
        self._claim = ""


@contextlib.contextmanager
def writing(connection: Connection, *, wait: float) -> Iterator[Lease]:
    """Hold the store for writing. If another process holds it, waits up to `wait` seconds, then raises
    IndexLockedError naming that process."""
    until, pause = time.monotonic() + wait, threading.Event()
    lease = Lease(connection)
    while (other := lease.claim()) is not None:
        if time.monotonic() >= until:
            since = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(other.since))
            raise IndexLockedError(
                f"another process ({other.pid}) on {other.host} is writing to {connection.prefix} at {connection.uri} "
                f"since {since}",
                hint="wait until it is done (--wait SECONDS does), then run the command again; "
                f"what a dead process holds is free after {LASTS:.0f} seconds",
            )
        pause.wait(LOOKS_AGAIN * (0.5 + random.random()))
    try:
        lease.begin()
        yield lease
        lease.forget_attempt()
    finally:
        lease.end()


def _claims(connection: Connection) -> list[LeaseClaim]:
    """The newest claim of each writer."""
    found: dict[str, LeaseClaim] = {}
    for row in connection.query(Table.STATE, f'kind == "{CLAIM}"', ["data"]):
        claim = LeaseClaim(id=row["id"], **json.loads(row["data"]))
        if claim.owner not in found or claim.expires > found[claim.owner].expires:
            found[claim.owner] = claim
    return list(found.values())


def _here() -> str:
    """This machine or container: the same process number in two of them means different processes."""
    with contextlib.suppress(OSError):
        return f"{socket.gethostname()} ({os.readlink('/proc/self/ns/pid')})"  # noqa: PTH115 - no path
    return socket.gethostname()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
