"""A file that the browser packed and sent with an event; see browser/packing.js."""

import base64
import zlib

from rag.errors import UsageError


def unpacked(packed: str, most_bytes: int) -> bytes | None:
    """What was packed with gzip and sent as base64; None where it is larger than `most_bytes`. Raises UsageError where
    it did not arrive as it was sent; the caller knows the name of the file and the way out."""
    try:
        unzip = zlib.decompressobj(wbits=31)
        data = unzip.decompress(base64.b64decode(packed, validate=True), most_bytes + 1)
    except (ValueError, zlib.error) as error:
        raise UsageError(str(error)) from error
    if len(data) > most_bytes:
        return None
    if not unzip.eof:
        raise UsageError("the file ends too early")
    return data
