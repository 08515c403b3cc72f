"""Where a request comes from, as both guards read it, and bodies as they come."""

import asyncio

import pytest
from starlette.requests import Request
from starlette.types import Message

from rag.server.entrance import TooLargeError, body_of, is_for_this_machine, is_foreign, replay

HERE = "127.0.0.1:7860"


def request(method: str = "GET", *parts: bytes, **headers: str) -> Request:
    """Header names are written with `_`; the body comes in parts, and then its client goes away."""
    named = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    sent: list[Message] = [{"type": "http.request", "body": part, "more_body": part != parts[-1]} for part in parts]

    async def receive() -> Message:
        return sent.pop(0) if sent else {"type": "http.disconnect"}

    return Request({"type": "http", "method": method, "path": "/", "headers": named}, receive)


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("localhost", True), ("LOCALHOST:1", True), (HERE, True), ("[::1]:7860", True),
        ("evil.example", False), ("localhost.evil.example", False), ("", False), ("[::2]", False), ("127.0.0.2", False),
    ],
)  # fmt: skip
def test_names_of_this_machine(host: str, known: bool) -> None:
    assert is_for_this_machine(request(host=host)) is known


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://["}, {"origin": "http://127.0.0.1:1"},
        {"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site", "origin": f"http://{HERE}"},
    ],
    ids=str,
)  # fmt: skip
def test_other_web_sites(headers: dict[str, str]) -> None:
    assert is_foreign(request(host=HERE, **headers), may_be_linked=True)


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": f"http://{HERE}"}, {"sec_fetch_site": "same-origin"}, {"sec_fetch_site": "none"}],
    ids=str,
)
def test_the_page_itself_and_no_browser(headers: dict[str, str]) -> None:
    assert not is_foreign(request("POST", host=HERE, **headers), may_be_linked=False)


def test_a_link_is_followed_where_there_may_be_one_and_posts_nothing() -> None:
    link = {"host": HERE, "sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert not is_foreign(request(**link), may_be_linked=True)
    assert is_foreign(request(**link), may_be_linked=False)
    assert is_foreign(request("POST", **link), may_be_linked=True)


def test_a_body_comes_whole_once_more_or_not_at_all() -> None:
    async def read() -> None:
        whole = request("POST", b"ab", b"cd")
        body = await body_of(whole, 4)
        assert body == b"abcd"
        again = replay(body, whole.receive)
        assert await again() == {"type": "http.request", "body": b"abcd", "more_body": False}
        assert await again() == {"type": "http.disconnect"}
        with pytest.raises(TooLargeError):
            await body_of(request("POST", b"ab", b"cde"), 4)
        assert await body_of(request("POST"), 4) is None

    asyncio.run(read())
