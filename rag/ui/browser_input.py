"""What the browser sends with an event, which may be anything: names, numbers, text, and packed files."""

import base64
import zlib
from enum import StrEnum
from typing import Any, TypeVar

from rag.errors import UsageError

Name = TypeVar("Name", bound=StrEnum)
# Documents and folders that a conversation may be answered from, and the most characters of the name of one.
MOST_NAMES, NAME_CHARACTERS = 20, 1_000


def member_of(names: type[Name], value: Any) -> Name | None:
    """The member with this value, if there is one."""
    return names(value) if value in list(names) else None


def number_of(text: str, digits: int) -> int | None:
    """The number that a text of ASCII digits writes, if it has at most so many."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def storable(value: object) -> str:
    """The value as text that can be stored: lone surrogates become question marks."""
    return str(value).encode("utf-8", "replace").decode()


def names_of(values: object) -> tuple[str, ...]:
    """The valid names of documents and folders among values that were sent or stored, whatever those are."""
    names = [value for value in values if isinstance(value, str)] if isinstance(values, list | tuple) else []
    return tuple(dict.fromkeys(name for name in names if 0 < len(name) <= NAME_CHARACTERS))[:MOST_NAMES]


def unpacked(packed: str, most_bytes: int) -> bytes | None:
    """Decode a file that browser/packing.js packed: gzip in base64. None if the result is larger than `most_bytes`.
    Raises UsageError if the data are damaged; the caller knows the file's name and the way out."""
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
