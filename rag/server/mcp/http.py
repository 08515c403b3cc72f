"""Streamable HTTP: on this machine for everybody on it, beyond it only with a key; other web sites are kept out."""

import hashlib
import hmac
import re
import socket
import stat
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import JSONResponse

from rag.errors import UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PATH = "/mcp"
KEY = re.compile(r"[\w.~+/=-]{20,200}", re.ASCII)
MAKE_ONE = "make one: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
Keys = frozenset[bytes]
# Bytes of a request: the longest answer to be graded, with room.
LARGEST_REQUEST = 1_000_000
AT_ONCE = 32


class KeyNeeded:
    """ASGI middleware that answers 401 to requests without `Authorization: Bearer KEY`; `keys` are their SHA-256."""

    def __init__(self, app: Any, *, keys: Keys) -> None:
        self.app = app
        self.keys = keys

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scheme, _, key = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
            digest = hashlib.sha256(key.strip()).digest()
            # All are compared, so that a wrong key takes as long as a right one.
            if not sum(hmac.compare_digest(digest, known) for known in self.keys) or scheme.lower() != b"bearer":
                refusal = JSONResponse(
                    {"error": "the key is missing or wrong: send Authorization: Bearer KEY"},
                    status_code=401,
                    headers={"WWW-Authenticate": "Bearer"},
                )
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)


def read_keys(file: Path) -> Keys:
    """The keys of a file that only its owner may read, with lines `name:key`; what follows another colon is for the
    HTTP API. Raises UsageError, never with a key in it."""
    try:
        mode = file.stat().st_mode
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"cannot read the key file {file}: {reason}", hint="check the path") from None
    if stat.S_IMODE(mode) & 0o077:
        raise UsageError(f"others may read the key file {file}", hint=f"chmod 600 {file}")
    keys = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, rest = line.partition(":")
        key = rest.partition(":")[0].strip()
        if not (name.strip() and KEY.fullmatch(key)):
            raise UsageError(
                f"line {number} of {file} is not name:key", hint=f"a key has 20 to 200 characters; {MAKE_ONE}"
            )
        keys.add(hashlib.sha256(key.encode()).digest())
    if not keys:
        raise UsageError(f"the key file {file} holds no key", hint=f"add a line name:key; {MAKE_ONE}")
    return frozenset(keys)


def check_host(host: str, keys: Keys | None) -> None:
    """Raises UsageError for an open door to the network."""
    if host not in LOOPBACK and keys is None:
        raise UsageError(
            f"binding to {host} would let everyone on the network ask and read the material",
            hint="stay on 127.0.0.1, or name who may come in with --key-file FILE (lines name:key, mode 0600)",
        )


def http_app(server: MCPServer, host: str, *, keys: Keys | None = None) -> Starlette:
    """The server as an ASGI application at PATH, without sessions. On loopback it answers only to requests by a name of
    this machine that no other web site made (DNS rebinding). Raises UsageError as `check_host`."""
    check_host(host, keys)
    names = [f"[{name}]" if ":" in name else name for name in LOOPBACK]
    security = TransportSecuritySettings(
        # Beyond this machine its names are unknown, and the key that a web page cannot have is what protects.
        enable_dns_rebinding_protection=host in LOOPBACK,
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[f"http://{name}:*" for name in names],
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=LARGEST_REQUEST,
        transport_security=security,
    )
    if keys is not None:
        app.add_middleware(KeyNeeded, keys=keys)
    return app


def serve_http(server: MCPServer, *, host: str, port: int, keys: Keys | None = None) -> None:
    """Serve until interrupted. Prints the address on stdout. Raises UsageError."""
    app = http_app(server, host, keys=keys)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise UsageError(
            f"cannot listen at {host} port {port}: {error.strerror}", hint="choose another --port, and check --host"
        ) from error
    with listening:
        shown = f"[{host}]" if ":" in host else host
        sys.stdout.write(f"http://{shown}:{listening.getsockname()[1]}{PATH}\n")
        sys.stdout.flush()
        config = uvicorn.Config(app, log_level="warning", access_log=False, limit_concurrency=AT_ONCE, lifespan="on")
        uvicorn.Server(config).run(sockets=[listening])
