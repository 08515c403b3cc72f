"""An OpenAI-compatible endpoint: its client, its key, and the proxy on the way to it."""

import os
from typing import TYPE_CHECKING
from urllib.parse import urlparse
from urllib.request import getproxies, proxy_bypass

from rag.chat_models.model import ChatModel
from rag.errors import SettingsError
from rag.private_files import read_private
from rag.settings import ChatModelName, Settings

if TYPE_CHECKING:
    import httpx
    from langchain_core.language_models import BaseChatModel

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MOST_KEY_CHARACTERS = 10_000


def open_endpoint(settings: Settings) -> ChatModel:
    """The model of the configured endpoint. Raises SettingsError."""
    if not settings.endpoint_url or not settings.endpoint_model:
        raise SettingsError(
            "an endpoint needs `endpoint_url` and `endpoint_model`",
            hint='set both, or choose `llm = "extractive"`',
        )
    return ChatModel(
        ChatModelName.ENDPOINT,
        settings.endpoint_model,
        openai_client(
            settings.endpoint_url, settings.endpoint_model, endpoint_key(settings), settings.endpoint_timeout
        ),
    )


def openai_client(url: str, model: str, key: str, timeout: float) -> "BaseChatModel":
    """A LangChain model for an OpenAI-compatible address. Raises SettingsError for an unusable proxy."""
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    return ChatOpenAI(
        base_url=url,
        model=model,
        api_key=SecretStr(key or "none"),
        temperature=0,
        timeout=timeout,
        # A retry would double the time that the setting promises; a reader can ask again.
        max_retries=0,
        stream_usage=False,
        http_client=http_client(url, key),
        # Without this LangChain looks for a proxy in a variable that nobody else reads.
        openai_proxy=None,
    )


def http_client(url: str, key: str) -> "httpx.Client":
    """The client of an endpoint. It follows no redirects, which could carry the key to another host, and removes the
    key from error responses. Raises SettingsError for an unusable proxy."""
    import httpx

    from rag.chat_models.http_transports import RedactedRefusals

    return httpx.Client(transport=RedactedRefusals(_transport(url), key))


def endpoint_key(settings: Settings) -> str:
    """The endpoint's key, from the environment or a file that only its owner can read. Raises SettingsError."""
    key, file = settings.endpoint_key.get_secret_value(), settings.endpoint_key_file
    if file is None:
        return key
    if key:
        raise SettingsError("both `endpoint_key` and `endpoint_key_file` are set", hint="keep one of them")
    alone = "name a file that holds the key alone"
    content = read_private(file.expanduser(), "the key file", error=SettingsError, hint=alone).strip()
    if not is_key(content):
        raise SettingsError(f"the key file {file} holds no key", hint=alone)
    return content


def is_key(text: str) -> bool:
    return 0 < len(text) <= MOST_KEY_CHARACTERS and text.isascii() and text.isprintable() and " " not in text


def is_loopback(url: str) -> bool:
    return urlparse(url).hostname in LOOPBACK


def proxy_for(url: str) -> tuple[str, str] | None:
    """The proxy that the environment names for an address, and the variable that names it.

    Addresses on this machine use no proxy.
    """
    parts = urlparse(url)
    if not parts.hostname or is_loopback(url) or proxy_bypass(parts.hostname):
        return None
    proxies = getproxies()
    for scheme in (parts.scheme, "all"):
        if proxy := proxies.get(scheme):
            names = (f"{scheme}_proxy", f"{scheme}_PROXY".upper())
            variable = next((name for name in names if name in os.environ), "proxy of the system")
            # As in other programs, an address without a scheme is an HTTP proxy.
            return proxy if "://" in proxy else f"http://{proxy}", variable
    return None


def _transport(url: str) -> "httpx.BaseTransport":
    from rag.chat_models.http_transports import stoppable_transport

    found = proxy_for(url)
    if found is None:
        return stoppable_transport()
    proxy, variable = found
    try:
        return stoppable_transport(proxy)
    except (ImportError, ValueError) as error:
        parts = urlparse(proxy)
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"  # without user and password
        reason, way_out = (
            ("support for SOCKS is not installed", 'pip install "httpx[socks]"')
            if isinstance(error, ImportError)
            else ("no such address of a proxy is known", "begin it with http://, https:// or socks5://")
        )
        raise SettingsError(
            f"{variable}={shown} cannot be used: {reason}",
            hint=f"{way_out}, or name {urlparse(url).hostname} in NO_PROXY",
        ) from None  # the cause would show the password
