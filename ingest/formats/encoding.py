"""Bytes -> text: which encoding they are in, and whether they are text at all."""

import re

from charset_normalizer import from_bytes

from ingest.formats.extract import UnreadableError
from rag.errors import Unreadable

# charset-normalizer looks at samples; this much of a file decides among GB18030, Big5, UTF-16 and their like.
DETECTION_BYTES = 200_000
# Text files hold tabs and line breaks, no other control characters: a stray one is scraping noise, many a binary file.
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
MAX_CONTROL_SHARE = 0.01
BINARY_HINT = "its ending promises text; convert it to .md or .txt"


def decode(data: bytes) -> str:
    """UTF-8 (with or without byte-order mark) where it is valid; else UTF-16 by its mark; else GB18030 or what the
    bytes look like. Raises UnreadableError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = _decode_by_detection(data)
    controls = len(CONTROL_CHARACTERS.findall(text))
    if "\x00" in text or controls > MAX_CONTROL_SHARE * len(text):
        raise UnreadableError("holds binary data, not text", hint=BINARY_HINT, reason=Unreadable.ENCODING)
    return text


def _decode_by_detection(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            pass
    if b"\x00" in data[:DETECTION_BYTES]:
        raise UnreadableError("holds binary data, not text", hint=BINARY_HINT, reason=Unreadable.ENCODING)
    # GB18030 decodes nearly any bytes; that the result reads as Chinese is what makes it believable.
    try:
        text = data.decode("gb18030")
        if _reads_as_chinese(text):
            return text
    except UnicodeDecodeError:
        pass
    best = from_bytes(data[:DETECTION_BYTES]).best()
    if best is not None:
        try:
            return data.decode(best.encoding)
        except (UnicodeDecodeError, LookupError):
            pass
    raise UnreadableError(
        "the text encoding cannot be determined", hint="save the file as UTF-8", reason=Unreadable.ENCODING
    )


def _reads_as_chinese(text: str) -> bool:
    """Most characters beyond ASCII belong to what Chinese texts are written with: common ideographs, full-width
    forms, punctuation."""
    foreign = [character for character in text[:DETECTION_BYTES] if ord(character) > 0x7F]
    # GB2312's 6,763 everyday characters; mojibake from other encodings lands mostly outside them.
    common = sum(_is_gb2312(character) for character in foreign)
    return bool(foreign) and common >= 0.9 * len(foreign)


def _is_gb2312(character: str) -> bool:
    try:
        character.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True
