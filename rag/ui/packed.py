"""Files that the browser packs and sends with an event; see browser/packing.js."""

import base64
import zlib

from rag.errors import UsageError


def unpacked(packed: str, most_bytes: int) -> bytes | None:
    """Decode gzip in base64; None if the result is larger than `most_bytes`. Raises UsageError if the data are damaged;
    the caller knows the file's name and the way out."""
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
