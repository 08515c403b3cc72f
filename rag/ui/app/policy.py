"""Adds to every response a Content-Security-Policy that names the page's own scripts, and strict cookies."""

import re
import secrets
from collections.abc import Iterable, MutableMapping
from html import escape
from typing import Any

from rag.ui.texts import TEXTS

Header = tuple[bytes, bytes]
SCRIPT = re.compile(rb"<script(?=[\s>])")
# A sheet with a mark beside one of its lines. The address itself holds the drawing: nothing is fetched.
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Crect width='32' height='32' rx='7' fill='%231f6f8b'/%3E"
    "%3Cpath d='M8 9h16M8 16h9M8 23h16' stroke='white' stroke-width='3' stroke-linecap='round'/%3E"
    "%3Crect x='20' y='12.500' width='7' height='7' rx='2' fill='%23ffd95e'/%3E%3C/svg%3E"
)
# Gradio times whatever it waits for, sixty times a second, and goes on after that has left the page, as its own
# "Loading..." has: 8% of a core, for a number that is never shown here. The clock's source identifies it.
CLOCK = r"^\(\)=>\{\w+\(\w+,\(performance\.now\(\)-"
NO_CLOCK = (
    "<script>{const frame=requestAnimationFrame.bind(window);"
    f"requestAnimationFrame=(work)=>/{CLOCK}/.test(work)?0:frame(work)}}</script>"
)
TITLE = escape(" · ".join(texts.title for texts in TEXTS.values()))
ABOUT = escape("".join(texts.about for texts in TEXTS.values()))
# What Gradio's sign-in page lacks: a title, and a readable button. The main page sets its own title.
HEAD = (
    f'<head><link rel="icon" href="{ICON}">'
    f"<title>{TITLE}</title>"
    f'<meta property="og:title" content="{TITLE}">'
    '<meta property="og:type" content="website">'
    f'<meta property="og:description" content="{ABOUT}">'
    "<style>button.primary{background:#1f6f8b!important}</style>"
    f"{NO_CLOCK}"
)
# Gradio's description of itself for link previews.
TOLD_OF_GRADIO = re.compile(rb'\s*<meta\s+(?:property="og:|name="twitter:)[^>]*>')
SAME_SITE = re.compile(rb";\s*samesite=\w+", re.IGNORECASE)
HEADERS: list[Header] = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
# Files uploaded or made for a download: a browser that opens one runs none of its content.
FILE_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"


def content_policy(nonce: str) -> str:
    """Nothing is fetched from, or sent to, any other host, and no script in the page runs without the nonce, be it an
    element, an event handler or a `javascript:` address.

    Gradio's HTML component compiles its template with `Function`, hence 'unsafe-eval': running code may turn text into
    code, but text in the page does not become code by itself. Gradio and KaTeX set style attributes.
    """
    return (
        f"default-src 'self'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self'; media-src 'self'; "
        "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
    )


class SafeResponses:
    """ASGI middleware: adds the policy and HEADERS to every response, the nonce to every script of an HTML page, and
    SameSite to cookies. Holds back HTML responses, which are short, until they are complete."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        nonce = secrets.token_urlsafe(16)
        policy = FILE_POLICY if scope["path"].startswith("/gradio_api/file") else content_policy(nonce)
        held: MutableMapping[str, Any] | None = None
        body = bytearray()

        async def send_safely(message: MutableMapping[str, Any]) -> None:
            nonlocal held
            if message["type"] == "http.response.start":
                given = [(name.lower(), value) for name, value in message.get("headers", [])]
                headers = [(name, lax(value) if name == b"set-cookie" else value) for name, value in given]
                message["headers"] = [*headers, *HEADERS, (b"content-security-policy", policy.encode())]
                if is_page(given) and scope["method"] == "GET":
                    held = message
                    return
            elif held is not None:
                body.extend(message.get("body", b""))
                if message.get("more_body"):
                    return
                # Material quoted in the page is JSON with "<" escaped, so these scripts are Gradio's and NO_CLOCK.
                page = TOLD_OF_GRADIO.sub(b"", bytes(body))
                page = page.replace(b"<head>", HEAD.encode(), 1)
                page = SCRIPT.sub(b'<script nonce="%b"' % nonce.encode(), page)
                length = (b"content-length", str(len(page)).encode())
                held["headers"] = [*(pair for pair in held["headers"] if pair[0] != length[0]), length]
                await send(held)
                message["body"] = page
                held = None
            await send(message)

        await self.app(scope, receive, send_safely)


def is_page(headers: Iterable[Header]) -> bool:
    return any(name == b"content-type" and value.startswith(b"text/html") for name, value in headers)


def lax(cookie: bytes) -> bytes:
    """A cookie that browsers do not send with other sites' requests.

    >>> lax(b"token=x; HttpOnly; Path=/; SameSite=none; Secure")
    b'token=x; HttpOnly; Path=/; Secure; SameSite=Lax'
    """
    return SAME_SITE.sub(b"", cookie) + b"; SameSite=Lax"
