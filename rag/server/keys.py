"""Who may use the API: a file of keys that only its owner can read.

# name:key, or name:key:rate limit
laptop:3q2-7wEjRr0s9n4mXr8kZ1c5vT6b
open-webui:Jw8dK2mPq4sT7vXy9zB1cE3fG5h:600 per 1 hour
"""

import hashlib
import hmac
import re
from dataclasses import dataclass, field
from pathlib import Path

from limits import parse

from rag.errors import UsageError
from rag.private_files import read_private

KEY = re.compile(r"[\w.~+/=-]{20,200}", re.ASCII)
MAKE_ONE = "make one: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


@dataclass(frozen=True, slots=True)
class Client:
    """The holder of a key. Stores only the key's SHA-256, so that it shows up in no log and no traceback."""

    name: str
    digest: bytes = field(repr=False)
    limit: str | None = None


def client_of(clients: tuple[Client, ...], key: str) -> Client | None:
    """A key's owner. Takes as long for a wrong key as for a right one."""
    digest = hashlib.sha256(key.encode(errors="replace")).digest()
    found = [client for client in clients if hmac.compare_digest(client.digest, digest)]
    return found[0] if found else None


def read_keys(file: Path) -> tuple[Client, ...]:
    """The clients in a key file. Raises UsageError, never containing a key."""
    lines = read_private(file, "the key file", error=UsageError).splitlines()
    clients: list[Client] = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            clients.append(_client(line, f"line {number} of {file}"))
    if not clients:
        raise UsageError(f"the key file {file} holds no key", hint=f"add a line name:key; {MAKE_ONE}")
    for what, values in (("name", [client.name for client in clients]), ("key", [c.digest for c in clients])):
        if len(set(values)) < len(values):
            raise UsageError(f"the key file {file} holds a {what} twice", hint="give each client its own")
    return tuple(clients)


def _client(line: str, where: str) -> Client:
    name, _, rest = line.partition(":")
    key, _, limit = (part.strip() for part in rest.partition(":"))
    if not (name.strip() and key):
        raise UsageError(f"{where} is not name:key", hint="one client a line")
    if not KEY.fullmatch(key):
        hint = f"20 to 200 letters, digits and . ~ + / = - _; {MAKE_ONE}"
        raise UsageError(f"{where} holds a key that is too short, or not one", hint=hint)
    if limit:
        check_limit(limit, where)
    return Client(name.strip(), hashlib.sha256(key.encode()).digest(), limit or None)


def check_limit(limit: str, where: str) -> str:
    """A limit valid for `limits`. Raises UsageError."""
    try:
        parse(limit)
    except ValueError:
        raise UsageError(f"{where}: {limit!r} is no limit", hint="it looks like: 120 per 1 minute") from None
    return limit
