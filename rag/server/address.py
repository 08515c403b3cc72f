"""Addresses that our servers can bind to, and who may connect there."""

import socket

from rag.errors import UsageError
from rag.server.keys import Client

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
# The names by which a browser on this machine may call a server on loopback. A request under another name comes from a
# web site whose name was made to point here (DNS rebinding).
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
PORTS_TRIED = 100


def free_port(host: str, first: int) -> int:
    """The first free port from `first` on. Raises UsageError."""
    for port in range(first, min(first + PORTS_TRIED, 65_536)):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                if isinstance(error, socket.gaierror):
                    raise UsageError(f"{host!r} is no address of this machine", hint="try 127.0.0.1") from error
                continue
            return port
    raise UsageError(f"no free port from {first} on at {host}", hint="choose another with --port, and check --host")


def check_open_door(host: str, clients: tuple[Client, ...] | None) -> None:
    """Raises UsageError if everyone on the network could ask."""
    if host not in LOOPBACK and clients is None:
        raise UsageError(
            f"binding to {host} would let everyone on the network ask and read the material",
            hint="stay on 127.0.0.1, or name who may with --key-file FILE (lines name:key, mode 0600)",
        )


def bind(host: str, port: int) -> socket.socket:
    """A socket at exactly this port, which clients know; 0 takes any. Raises UsageError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's delay, some 40 ms an answer, only if the socket says that it is TCP.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except (OSError, OverflowError) as error:
        bound.close()
        raise UsageError(
            f"cannot listen at {host} port {port}: {error}", hint="choose another --port or --host"
        ) from error
    return bound
