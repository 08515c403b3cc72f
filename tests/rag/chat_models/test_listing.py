"""Which models an endpoint has, and what is told where it does not say so."""

import pytest

from rag.chat_models.endpoint import openai_client
from rag.chat_models.listing import LIST_SECONDS, MOST_BYTES, check_address, list_models, origin
from rag.errors import ChatModelError, SettingsError
from tests.rag.chat_models.chat_server import ChatServer

KEY = "sk-not-for-anybody-else"


def test_models_are_listed_by_name_and_the_key_is_sent() -> None:
    with ChatServer(models=("b", "a", "a", "x\ny", KEY)).running() as server:
        assert list_models(server.url, KEY) == ["a", "b"]
        assert list_models(server.url, "")[:2] == ["a", "b"]
        assert server.keys == [f"Bearer {KEY}", None]


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500])
def test_a_refusal_is_told_without_the_key_that_it_repeats(status: int) -> None:
    with ChatServer(status=status, echo_key=True).running() as server:
        with pytest.raises(ChatModelError, match=str(status)) as caught:
            list_models(server.url, KEY)
        assert KEY not in everything(caught.value)
        with pytest.raises(Exception, match=str(status)) as caught_too:
            openai_client(server.url, "m", KEY, 5).invoke("hello")
        assert KEY not in everything(caught_too.value)
        assert "***" in str(caught_too.value)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed_so_the_key_stays_with_its_host(status: int) -> None:
    with ChatServer(models=("stolen",)).running() as thief, ChatServer(status=status).running() as server:
        server.location = f"{thief.url.replace('127.0.0.1', 'localhost')}/models"
        with pytest.raises(ChatModelError, match=str(status)):
            list_models(server.url, KEY)
        with pytest.raises(Exception, match=str(status)):
            openai_client(server.url, "m", KEY, 5).invoke("hello")
        assert (thief.lists, thief.requests) == (0, [])


@pytest.mark.parametrize("body", [b"<html>login</html>", b"[]", b'{"data": 3}', b'{"data": [{"name": "x"}]}', b"\xff"])
def test_what_does_not_speak_the_protocol_is_told_and_not_shown(body: bytes) -> None:
    with ChatServer(raw_list=body).running() as server:
        with pytest.raises(ChatModelError, match="does not answer as OpenAI") as caught:
            list_models(server.url, KEY)
        assert isinstance(caught.value.__cause__, ValueError)
        assert "login" not in everything(caught.value)


def test_a_list_without_end_is_not_read_to_its_end() -> None:
    with (
        ChatServer(raw_list=b" " * (MOST_BYTES + 1)).running() as server,
        pytest.raises(ChatModelError, match="more than"),
    ):
        list_models(server.url, "")


def test_a_slow_list_is_given_up() -> None:
    with ChatServer(models=("late",), wait=LIST_SECONDS - 1).running() as server:
        with pytest.raises(ChatModelError) as caught:
            list_models(server.url, "", seconds=0.3)
        assert not server.waited_out.is_set()
        assert "key" in caught.value.hint


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (" https://api.example.com/v1/ ", "https://api.example.com/v1"),
        ("http://127.0.0.1:8000/v1/chat/completions", "http://127.0.0.1:8000/v1"),
        ("https://api.example.com/v1/models/", "https://api.example.com/v1"),
        ("http://[::1]:1234/v1", "http://[::1]:1234/v1"),
    ],
)
def test_an_address_is_taken_as_it_was_meant(typed: str, meant: str) -> None:
    assert check_address(typed) == meant


@pytest.mark.parametrize(
    "typed",
    ["", "api.example.com", "file:///etc/passwd", "ftp://a/v1", "https://", "http://u:secret@a/v1", "http://secret@a",
     "http://a/v1?key=secret", "http://a/v1#secret", "http://a:99999/v1", "http://a:0/v1", "http://[::1/v1",
     "http://a b/v1", "http://a\n/v1", "http://a\\@b/v1", "javascript:alert(1)", "https://" + "a" * 3_000],
)  # fmt: skip
def test_what_is_no_address_is_refused_and_not_repeated(typed: str) -> None:
    with pytest.raises(SettingsError) as caught:
        check_address(typed)
    assert "secret" not in everything(caught.value)


def test_a_key_is_for_scheme_host_and_port() -> None:
    assert origin("https://a/v1") == origin("https://A:443/other")
    assert len({origin(url) for url in ("https://a/v1", "http://a/v1", "https://a:444/v1", "https://b/v1")}) == 4


def everything(error: BaseException | None) -> str:
    """What a log could show of an error: the messages of all its causes."""
    return "" if error is None else f"{error!r} {error} {everything(error.__cause__ or error.__context__)}"
