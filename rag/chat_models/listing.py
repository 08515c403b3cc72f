"""Checks an OpenAI-compatible address, and lists its models."""

from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from rag.chat_models.endpoint import http_client
from rag.chat_models.stopping import within
from rag.errors import ChatModelError, SettingsError

# Seconds and bytes allowed for a list.
LIST_SECONDS = 15.0
MOST_BYTES = 4_000_000
MOST_MODELS = 2_000
LONGEST_ADDRESS = 2_000
# Endings often copied along with an address.
ENDINGS = ("/chat/completions", "/completions", "/models")


class _Model(BaseModel):
    id: str


class _Models(BaseModel):
    data: list[_Model]


def check_address(text: str) -> str:
    """The intended base URL of an endpoint. Raises SettingsError for an invalid one: a scheme other than HTTP, a name
    and password, a query."""
    address = text.strip().rstrip("/")
    for ending in ENDINGS:
        address = address.removesuffix(ending)
    problem = _problem(address)
    if problem:
        raise SettingsError(f"this is no address of an endpoint: {problem}", hint="such as https://api.example.com/v1")
    return address


def _problem(address: str) -> str:
    """What is wrong with an address, without repeating it: it may hold a password."""
    import httpx

    if not address or len(address) > LONGEST_ADDRESS or not address.isprintable() or " " in address:
        return "it is empty, too long, or has spaces in it"
    try:
        parts = urlsplit(address)
        port = parts.port
        httpx.URL(address)
    except (ValueError, httpx.InvalidURL):
        return "its host or port cannot be read"
    if parts.scheme not in ("http", "https"):
        return "it does not begin with http:// or https://"
    if not parts.hostname or port == 0:
        return "it names no host"
    if "@" in parts.netloc:
        return "it holds a name or password; the key has a place of its own"
    return "it has a query or a fragment" if parts.query or parts.fragment or "\\" in address else ""


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port: the scope of a key."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or {"http": 80}.get(parts.scheme, 443)


def list_models(url: str, key: str, *, seconds: float = LIST_SECONDS) -> list[str]:
    """The names of an endpoint's models, sorted. Raises SettingsError, or ChatModelError with the client's error as its
    cause."""
    import httpx

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        with within(seconds) as stop, http_client(url, key) as client:
            try:
                body = _read(client, f"{url}/models", headers, seconds)
            except httpx.HTTPError as error:
                if stop.asked:
                    raise TimeoutError(f"no list of models within {seconds:.0f} seconds") from error
                raise
        if stop.asked:
            raise TimeoutError(f"no list of models within {seconds:.0f} seconds")
        names = {model.id for model in _Models.model_validate_json(body).data}
    except ValidationError as error:
        # Not as its cause: it would show the response.
        raise ChatModelError(f"{url}/models does not answer as OpenAI does") from ValueError(
            f"{error.error_count()} errors"
        )
    except (httpx.HTTPError, OSError, ValueError) as error:
        raise ChatModelError(f"{url}/models: {error}", hint="check the address and the key") from error
    shown = sorted(name for name in names if name.isprintable() and 0 < len(name) <= 200 and not (key and key in name))
    return shown[:MOST_MODELS]


def _read(client: Any, address: str, headers: dict[str, str], seconds: float) -> bytes:
    body = bytearray()
    with client.stream("GET", address, headers=headers, timeout=seconds) as response:
        response.raise_for_status()
        for block in response.iter_bytes():
            body += block
            if len(body) > MOST_BYTES:
                raise ValueError(f"more than {MOST_BYTES:,} bytes")
    return bytes(body)
