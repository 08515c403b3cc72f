"""Serves the page: address and port, sign-in, and the server's limits."""

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rag.errors import RagError, UsageError
from rag.private_files import read_private
from rag.process import exit_when_terminated, give_back_memory
from rag.server.address import LOOPBACK, check_open_door, free_port, in_url, shown_host
from rag.ui.app.lean_gradio import lighten_gradio
from rag.ui.texts import Language

if TYPE_CHECKING:
    from gradio import Blocks
    from starlette.middleware import Middleware

    from rag.answer.assistant import Assistant
    from rag.settings import Settings
    from rag.ui.app.page import Rooms
    from rag.ui.guide.preparing import Preparation

T = TypeVar("T")
Users = list[tuple[str, str]]
# Bytes of an upload request besides the file itself.
UPLOAD_MARGIN = 100_000
# If uploads are off, the server's own upload address must be useless to anybody.
NO_UPLOAD = 1_000_000
SESSIONS_KEPT = 200
# Seconds between Gradio's checks of its queue, and of progress reports, which nothing here makes: by default it checks
# a thousand times a second, at 4% of a core.
QUEUE_SECONDS, PROGRESS_SECONDS = 0.05, 1.0


@dataclass(frozen=True, slots=True)
class Door:
    """Where pages are served, who may sign in (None: nobody has to), and the language (None: the browser's)."""

    host: str
    port: int
    users: Users | None = None
    language: Language | None = None


def check_host(host: str, auth_file: Path | None) -> Users | None:
    """Users who may sign in; None if nobody has to. Raises UsageError for an open door to the network."""
    users = read_users(auth_file) if auth_file is not None else None
    check_open_door(host, users, hint="sign in with --auth-file FILE (lines user:password, mode 0600)")
    return users


def read_users(file: Path) -> Users:
    """The `user:password` lines of a file that only its owner may read. Raises UsageError."""
    lines = read_private(file, "the auth file", error=UsageError).splitlines()
    users = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        user, colon, password = line.partition(":")
        if not (user.strip() and colon and password):
            raise UsageError(
                f"line {number} of {file} is not user:password", hint="one user a line, none of both empty"
            )
        users.append((user.strip(), password))
    if not users:
        raise UsageError(f"the auth file {file} names nobody", hint="add a line user:password")
    return users


@contextmanager
def private_environment() -> Iterator[None]:
    """Gradio reads its environment on import: no telemetry, our own folder, no hidden options."""
    lighten_gradio()
    folder = tempfile.mkdtemp(prefix="interview-rag-")  # made with mode 0700
    for name in [name for name in os.environ if name.startswith("GRADIO_")]:
        del os.environ[name]
    os.environ |= {"GRADIO_ANALYTICS_ENABLED": "False", "GRADIO_TEMP_DIR": folder, "HF_HUB_DISABLE_TELEMETRY": "1"}
    # After every event Gradio tabulates the last 10,000, for a page of its own that is not served.
    os.environ |= {"GRADIO_ANALYTICS_MAX_EVENTS": "1", "GRADIO_ANALYTICS_CACHE_FREQUENCY": "1000000000"}
    # Gradio's request to itself at start-up must not go to a proxy.
    known = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = ",".join(filter(None, [known, *sorted(LOOPBACK)]))
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def serve(assistant: "Assistant", door: Door, rooms: "Rooms | None" = None) -> None:
    """Open the page and stay until interrupted or terminated. Prints the address on stdout."""
    from rag.ui.app.page import build_page

    api = _api(assistant, door) if assistant.settings.api else []
    uploads = rooms is not None and rooms.may_change
    limit = assistant.settings.max_file_megabytes * 1024 * 1024 if uploads else NO_UPLOAD
    threading.Thread(target=assistant.warm_up, daemon=True).start()
    page = build_page(assistant, rooms=rooms, language=door.language)
    _stay(page, door, limit, threading.Event(), api)


def _api(assistant: "Assistant", door: Door) -> "list[Middleware]":
    """The HTTP API beside the page. Raises UsageError if the page requires sign-in and the API no key."""
    from starlette.middleware import Middleware

    from rag.server.http.app import ApiDispatcher, build_app
    from rag.server.keys import read_keys

    file = assistant.settings.api_key_file
    if file is None and (door.users is not None or door.host not in LOOPBACK):
        raise UsageError(
            "`api` is on without keys, and would go round the page's sign-in",
            hint="set `api_key_file` to a file of lines name:key (mode 0600), or switch `api` off",
        )
    clients = None if file is None else read_keys(file)
    return [Middleware(ApiDispatcher, api=build_app(assistant, clients=clients, is_loopback=door.host in LOOPBACK))]


def serve_guide(problem: RagError, settings: "Settings", door: Door) -> None:
    """Open a page that says what is missing; returns when the start should be retried."""
    from rag.ui.guide.page import build_guide

    again = threading.Event()
    _stay(build_guide(problem, settings, again, door.language), door, NO_UPLOAD, again)


def serve_preparing(work: "Callable[[Preparation], T]", door: Door) -> T:
    """Returns or raises what `work` does; meanwhile a page shows its progress."""
    from rag.ui.guide.preparing import Preparation, build_preparing

    preparation, end = Preparation(), threading.Event()
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work(preparation))
        except BaseException as error:  # passed on, whatever it is
            done.set_exception(error)
        finally:
            end.set()

    threading.Thread(target=run, name="preparing", daemon=True).start()
    _stay(build_preparing(preparation, door.language), door, NO_UPLOAD, end)
    return done.result()


def _stay(
    page: "Blocks", door: Door, max_upload: int, end: threading.Event, beside: "Sequence[Middleware]" = ()
) -> None:
    """Serve a page until `end` is set, or the process is interrupted or terminated."""
    import gradio as gr
    from starlette.middleware import Middleware

    from rag.ui.app.guard import PageGuard, PageLimits
    from rag.ui.app.policy import SafeResponses
    from rag.ui.assets import STYLES

    exit_when_terminated()
    page._queue.sleep_when_free, page._queue.progress_update_sleep_when_free = QUEUE_SECONDS, PROGRESS_SECONDS
    page.api_open = False  # queued functions cannot be called past the queue
    free = free_port(door.host, door.port)
    if free != door.port:
        _tell_taken(door.port, free)
    limits = PageLimits(upload=max_upload + UPLOAD_MARGIN)
    guard = Middleware(PageGuard, limits=limits, is_loopback=door.host in LOOPBACK, has_users=door.users is not None)
    middleware = [*beside, Middleware(SafeResponses), guard]
    page.launch(
        server_name=in_url(door.host),
        server_port=free,
        auth=door.users,
        share=False,
        quiet=True,
        inbrowser=False,
        prevent_thread_lock=True,
        show_error=False,
        allowed_paths=[],
        max_file_size=max_upload,
        enable_monitoring=False,
        strict_cors=True,
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
        run_history=False,
        footer_links=[],
        state_session_capacity=SESSIONS_KEPT,
        app_kwargs={"middleware": middleware, "docs_url": None, "redoc_url": None, "openapi_url": None},
        # Fonts of the system: the default theme asks another host for its fonts.
        theme=gr.themes.Base(
            font=["system-ui", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "sans-serif"],
            font_mono=["ui-monospace", "Menlo", "Consolas", "Noto Sans Mono CJK SC", "monospace"],
        ),
        css_paths=STYLES,
    )
    give_back_memory()
    sys.stdout.write(f"http://{shown_host(door.host)}:{free}/\n")
    sys.stdout.flush()
    try:
        end.wait()
    finally:
        page.close(verbose=False)


@cache
def _tell_taken(port: int, free: int) -> None:
    """Tells only once, however many pages are served there in turn."""
    sys.stderr.write(f"port {port} is taken, using {free}\n")
