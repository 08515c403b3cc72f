"""A file that the browser packed and sent with an event; see browser/packing.js."""

import base64
import zlib

from rag.errors import UsageError


def unpacked(packed: str, most_bytes: int) -> bytes:
    """What was packed with gzip and sent as base64. Raises UsageError; the caller knows the name of the file and the
    way out."""
    try:
        unzip = zlib.decompressobj(wbits=31)
        data = unzip.decompress(base64.b64decode(packed, validate=True), most_bytes)
    except (ValueError, zlib.error) as error:
        raise UsageError(str(error)) from error
    if not unzip.eof:
        raise UsageError(f"more than {most_bytes:,} bytes")
    return data
