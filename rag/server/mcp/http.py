"""Streamable HTTP: on this machine for everybody on it, beyond it only with a key; other web sites are kept out."""

import hmac
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
SHORTEST_KEY = 16
# Bytes of a request: the longest answer to be graded, with room.
LARGEST_REQUEST = 1_000_000
AT_ONCE = 32


class KeyNeeded:
    """ASGI middleware that answers 401 to requests without `Authorization: Bearer KEY`."""

    def __init__(self, app: Any, *, key: str) -> None:
        self.app = app
        self._expected = f"Bearer {key}".encode()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                refusal = JSONResponse(
                    {"error": "the key is missing or wrong: send Authorization: Bearer KEY"},
                    status_code=401,
                    headers={"WWW-Authenticate": "Bearer"},
                )
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)


def read_key(file: Path) -> str:
    """The key on the first line of a file that only its owner may read. Raises UsageError."""
    try:
        mode = file.stat().st_mode
        key = file.read_text(encoding="ascii").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the key file {file}: {error}", hint="it holds one line of ASCII") from error
    if stat.S_IMODE(mode) & 0o077:
        raise UsageError(f"others may read the key file {file}", hint=f"chmod 600 {file}")
    if len(key) < SHORTEST_KEY:
        raise UsageError(
            f"the key in {file} has {len(key)} characters, at least {SHORTEST_KEY} are needed",
            hint=f"make one: (umask 077; openssl rand -hex 24 > {file})",
        )
    return key


def check_host(host: str, key: str | None) -> None:
    """Raises UsageError for an open door to the network."""
    if host not in LOOPBACK and key is None:
        raise UsageError(
            f"binding to {host} would let everyone on the network ask and read the material",
            hint="stay on 127.0.0.1, or name a key with --key-file FILE (one line, mode 0600)",
        )


def http_app(server: MCPServer, host: str, *, key: str | None = None) -> Starlette:
    """The server as an ASGI application at PATH, without sessions. On loopback it answers only to requests by a name of
    this machine that no other web site made (DNS rebinding). Raises UsageError as `check_host`."""
    check_host(host, key)
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
    if key is not None:
        app.add_middleware(KeyNeeded, key=key)
    return app


def serve_http(server: MCPServer, *, host: str, port: int, key: str | None = None) -> None:
    """Serve until interrupted. Prints the address on stdout. Raises UsageError."""
    app = http_app(server, host, key=key)
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
