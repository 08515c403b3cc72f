"""python -m rag serve: the HTTP API."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rag.cli import add_common_options, add_llm, print_json, settings_from
from rag.process import exit_when_terminated

if TYPE_CHECKING:
    from rag.cli import Commands


def add_serve(commands: "Commands") -> None:
    serve = commands.add_parser("serve", help="answer over HTTP, as OpenAI's API does")
    add_common_options(serve)
    serve.add_argument("--host", default="127.0.0.1", help="address to bind to (default: 127.0.0.1, this machine only)")
    serve.add_argument("--port", type=int, default=7861, help="port to bind to; 0 takes a free one (default: 7861)")
    serve.add_argument(
        "--key-file", type=Path, metavar="FILE", help="who may ask, lines name:key; needed beyond this machine"
    )
    serve.add_argument(
        "--limit", default="120 per 1 minute", help="questions of a key (default: %(default)s); a key may have its own"
    )
    serve.add_argument("--public-url", default="", metavar="URL", help="how clients reach this server through a proxy")
    serve.add_argument(
        "--trace-endpoint", metavar="URL", help="OpenTelemetry collector that is told times and kinds, never text"
    )
    serve.add_argument("--trace-text", action="store_true", help="tell it questions and answers too")
    add_llm(serve)
    serve.set_defaults(main=_serve)


def _serve(options: argparse.Namespace) -> int:
    from rag.server.address import bind, check_open_door
    from rag.server.keys import check_limit, read_keys
    from rag.server.tracing import open_tracing

    settings = settings_from(options, llm=options.llm)
    check_limit(options.limit, "--limit")
    clients = read_keys(options.key_file) if options.key_file else None
    check_open_door(options.host, clients)
    tracing = open_tracing(options.trace_endpoint, with_text=options.trace_text) if options.trace_endpoint else None
    with bind(options.host, options.port) as bound:
        from rag.commands.writer import open_assistant
        from rag.server.http.guard import ApiLimits
        from rag.server.http.launch import serve

        def announce(address: str) -> None:
            if options.json:
                print_json({"url": address})
            else:
                sys.stdout.write(f"{address}\n")
                sys.stdout.flush()

        exit_when_terminated()
        serve(
            open_assistant(settings),
            bound,
            clients=clients,
            limits=ApiLimits(questions=options.limit),
            public_url=options.public_url,
            tracing=tracing,
            announce=announce,
        )
    return 0
