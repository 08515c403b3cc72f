"""Removes the key from error responses: some servers repeat it in texts that are shown, logged and stored."""

import httpx

# Characters; anything shorter is no secret, and would blot out ordinary words.
SHORTEST_KEY = 6
REDACTED = b"***"


class RedactedRefusals(httpx.BaseTransport):
    """Reads responses above 299 whole, and removes the key from body and reason."""

    def __init__(self, inner: httpx.BaseTransport, key: str) -> None:
        self._inner = inner
        self._key = key.encode() if len(key) >= SHORTEST_KEY else b""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        if response.status_code < 300:
            return response
        try:
            body = response.read()
        finally:
            response.close()
        kept = [
            (name, value) for name, value in response.headers.raw if name.lower() in (b"content-type", b"retry-after")
        ]
        return httpx.Response(response.status_code, headers=kept, content=self._redacted(body))

    def close(self) -> None:
        self._inner.close()

    def _redacted(self, body: bytes) -> bytes:
        return body.replace(self._key, REDACTED) if self._key else body
