"""Addresses that a server of ours can bind to."""

import socket

from rag.errors import UsageError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
# The names by which a browser on this machine may call a server on loopback. Whoever comes under another one was sent
# by a web site whose name was made to point here (DNS rebinding).
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
PORTS_TRIED = 100


def free_port(host: str, first: int) -> int:
    """The first port from `first` on that nobody listens on. Raises UsageError."""
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
