"""Addresses that our servers can bind to, and who may connect there."""

import socket
from collections.abc import Sequence

from rag.errors import UsageError

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


def check_open_door(
    host: str, known: Sequence[object] | None, *, hint: str = "with --key-file FILE (lines name:key, mode 0600)"
) -> None:
    """Raises UsageError if everyone on the network could ask, since nobody has to be `known`; the `hint` says how to
    name those who may."""
    if host not in LOOPBACK and known is None:
        raise UsageError(
            f"binding to {host} would let everyone on the network ask and read the material",
            hint=f"stay on 127.0.0.1, or name who may {hint}",
        )


def in_url(host: str) -> str:
    """A host as addresses write it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def shown_host(host: str) -> str:
    """The host under which a person on this machine reaches a server."""
    return "127.0.0.1" if host in ("0.0.0.0", "::") else in_url(host)


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
