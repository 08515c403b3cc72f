"""python -m rag mcp: search, ask, read and practise from any program with the Model Context Protocol."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rag.cli import add_llm, add_paths, settings_from
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.cli import Commands

PORT = 7870


def add_mcp(commands: "Commands") -> None:
    """The command `mcp`. On stdio it writes only the protocol to stdout."""
    mcp = commands.add_parser("mcp", help="serve the index to chat programs (Model Context Protocol)")
    add_paths(mcp, "--config", "--index", "--data")
    add_llm(mcp, "who writes answers (default: the endpoint of the settings or of the page, else extractive)")
    mcp.add_argument("--allow-writes", action="store_true", help="keep graded answers in the practice log")
    mcp.add_argument("--http", action="store_true", help="serve over streamable HTTP instead of stdio")
    mcp.add_argument("--host", help="with --http: address to bind to (default: 127.0.0.1, this machine only)")
    mcp.add_argument("--port", type=int, help=f"with --http: port (default: {PORT}; 0 is any free one)")
    mcp.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="with --http: lines name:key; needed beyond this machine",
    )
    mcp.set_defaults(main=_mcp)


def _mcp(options: argparse.Namespace) -> int:
    over_http = (options.host, options.port, options.key_file)
    if not options.http and any(option is not None for option in over_http):
        raise UsageError("--host, --port and --key-file are for --http", hint="add --http, or leave them out")
    if options.port is not None and not 0 <= options.port <= 65_535:
        raise UsageError(f"--port {options.port} is no port", hint="give 0 to 65535")
    import threading

    from rag.server.address import check_open_door
    from rag.server.keys import read_keys
    from rag.server.mcp.http import serve_http

    host, port = options.host or "127.0.0.1", PORT if options.port is None else options.port
    clients = read_keys(options.key_file) if options.key_file else None
    check_open_door(host, clients)
    settings = settings_from(options, data=options.data, llm=options.llm)
    from rag.commands.writer import only_chosen, open_assistant
    from rag.server.mcp.library import Library
    from rag.server.mcp.server import build_server

    settings = settings if options.llm else only_chosen(settings)
    library = Library(settings, open_assistant, allow_writes=options.allow_writes)
    server = build_server(library)
    threading.Thread(target=library.warm_up, name="warm up").start()
    if options.http:
        serve_http(server, host=host, port=port, clients=clients)
    else:
        server.run()
    return 0
