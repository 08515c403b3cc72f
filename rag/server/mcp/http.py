"""Streamable HTTP: open to everybody on this machine, beyond it only with a key; closed to other web sites."""

import sys
from collections.abc import MutableMapping
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import JSONResponse

from rag.server.address import LOOPBACK, LOOPBACK_NAMES, bind, check_open_door, in_url
from rag.server.keys import Client, client_of

PATH = "/mcp"
# Bytes of a request: the longest answer to grade, with room.
LARGEST_REQUEST = 1_000_000
AT_ONCE = 32


class KeyNeeded:
    """ASGI middleware that answers 401 to requests without `Authorization: Bearer KEY`. Rate limits apply to the HTTP
    API only."""

    def __init__(self, app: Any, *, clients: tuple[Client, ...]) -> None:
        self.app = app
        self.clients = clients

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scheme, _, key = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
            known = client_of(self.clients, key.strip().decode("latin-1"))
            if known is None or scheme.lower() != b"bearer":
                refusal = JSONResponse(
                    {"error": "the key is missing or wrong: send Authorization: Bearer KEY"},
                    status_code=401,
                    headers={"WWW-Authenticate": "Bearer"},
                )
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)


def http_app(server: MCPServer, host: str, *, clients: tuple[Client, ...] | None = None) -> Starlette:
    """The server as an ASGI application at PATH, without sessions. On loopback it answers only requests that name this
    machine and come from no other web site (DNS rebinding). Raises UsageError as `check_open_door`."""
    check_open_door(host, clients)
    security = TransportSecuritySettings(
        # Beyond this machine its names are unknown; there the key protects, which a web page cannot have.
        enable_dns_rebinding_protection=host in LOOPBACK,
        allowed_hosts=[*LOOPBACK_NAMES, *(f"{name}:*" for name in LOOPBACK_NAMES)],
        allowed_origins=[f"http://{name}:*" for name in LOOPBACK_NAMES],
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=LARGEST_REQUEST,
        transport_security=security,
    )
    if clients is not None:
        app.add_middleware(KeyNeeded, clients=clients)
    return app


def serve_http(server: MCPServer, *, host: str, port: int, clients: tuple[Client, ...] | None = None) -> None:
    """Serve until interrupted. Prints the address on stdout. Raises UsageError."""
    app = http_app(server, host, clients=clients)
    with bind(host, port) as listening:
        listening.listen()  # a reader of the address may connect at once
        sys.stdout.write(f"http://{in_url(host)}:{listening.getsockname()[1]}{PATH}\n")
        sys.stdout.flush()
        config = uvicorn.Config(app, log_level="warning", access_log=False, limit_concurrency=AT_ONCE, lifespan="on")
        uvicorn.Server(config).run(sockets=[listening])
