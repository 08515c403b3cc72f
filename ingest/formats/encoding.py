"""Bytes -> text: detects their encoding, and whether they are text at all."""

import codecs
import re
from collections.abc import Iterable

from ingest.formats.encodings.detection import Reading, detect, likelihood
from ingest.formats.extract import UnreadableError
from rag.errors import Unreadable

CHINESE = re.compile(r"[\u3400-\u9fff]")
# Text files hold tabs and line breaks, no other control characters: a stray one is scraping noise, many a binary file.
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
MAX_CONTROL_SHARE = 0.01
BINARY_HINT = "its ending promises text; convert it to .md or .txt"
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
# A page declares its encoding near its beginning.
DECLARING_BYTES = 4_096
DECLARED = re.compile(
    rb"""<meta\b[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml\b[^>]*?encoding\s*=\s*["']([\w.:-]+)""", re.IGNORECASE
)
# Pages that name the smaller set use the larger one, as browsers assume.
LARGER = {
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "iso8859-1": "cp1252", "ascii": "cp1252",
    "shift_jis": "cp932", "euc_kr": "cp949", "iso8859-9": "cp1254", "tis-620": "cp874",
}  # fmt: skip
# The other seven-bit encodings, which switch character sets by sequences that begin like this.
SWITCHING = {b"\x1b$)C": "iso2022_kr", b"\x1b$": "iso2022_jp_ext"}
# A text likelier than this per character is no coincidence; for others a page's own declaration counts.
CERTAIN = -8.0
# A damaged UTF-8 text has at least this many intact characters per broken one.
WHOLE = 3


def decoded(data: bytes, *, declares: bool = False) -> tuple[str, tuple[str, ...]]:
    """The text, and warnings about its decoding: by its byte-order mark, as UTF-8, as it declares itself (if the format
    `declares` it), or in an encoding that gives text. Raises UnreadableError if none does."""
    text, warnings = _decoded(data, declares=declares)
    controls = len(CONTROL_CHARACTERS.findall(text))
    if "\x00" in text or controls > MAX_CONTROL_SHARE * len(text):
        raise _binary()
    return text, tuple(warnings)


def _decoded(data: bytes, *, declares: bool) -> tuple[str, list[str]]:
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _replacing(data, encoding)
    for begins, encoding in SWITCHING.items():
        if begins in data and data.isascii():
            return _replacing(data, encoding)
    try:
        text = data.decode()
        if "\x00" not in text:
            return text, []
    except UnicodeDecodeError:
        pass
    if b"\x00" not in data:
        own = _as_declared(data) if declares else None
        damaged = own or _damaged_utf8(data)
        if damaged is not None:
            return damaged
    found = detect(data)
    if found is None:
        if b"\x00" in data:
            raise _binary()
        raise UnreadableError(
            "the text encoding cannot be determined", hint="save the file as UTF-8", reason=Unreadable.ENCODING
        )
    text, warnings = _replacing(data, found.encoding)
    return text, [*_unsure(found), *warnings]


def _unsure(found: Reading) -> list[str]:
    if found.is_sure:
        return []
    name = _name(found.encoding)
    return [f"its encoding is not declared and was taken to be {name}: if the text looks wrong, save it as UTF-8"]


def _as_declared(data: bytes) -> tuple[str, list[str]] | None:
    """The text in the page's declared encoding; None if it declares none, or an impossible one."""
    said = DECLARED.search(data[:DECLARING_BYTES])
    if said is None:
        return None
    name = (said[1] or said[2]).decode("ascii", "replace")
    try:
        encoding = codecs.lookup(name).name
        encoding = LARGER.get(encoding, encoding)
        if encoding.startswith("utf"):
            return None
        text, warnings = _replacing(data, encoding)
    except (LookupError, UnreadableError, ValueError):
        return None
    own, found = likelihood(data, encoding), detect(data)
    if found is not None and found.encoding != encoding and (own is None or own < CERTAIN):
        other = likelihood(data, found.encoding)
        if other is not None and other > CERTAIN and found.is_sure:
            text, warnings = _replacing(data, found.encoding)
            return text, [f"it declares {name[:40]} but is in {_name(found.encoding)} and was read as such", *warnings]
    return text, warnings


def _replacing(data: bytes, encoding: str) -> tuple[str, list[str]]:
    """The text, with � for bytes that the encoding does not have, and a warning with their lines. Raises
    UnreadableError if there are many."""
    try:
        return data.decode(encoding), []
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
    lost = text.count("\ufffd")
    if lost > max(1, len(text) // 100):
        raise UnreadableError(
            "the text encoding cannot be determined", hint="save the file as UTF-8", reason=Unreadable.ENCODING
        )
    lines = [number for number, line in enumerate(text.split("\n"), start=1) if "\ufffd" in line]
    return text, [_replaced(lines, encoding)]


def _damaged_utf8(data: bytes) -> tuple[str, list[str]] | None:
    """The text of bytes that are mostly UTF-8; lines in another encoding are read in that one. None if hardly anything
    is UTF-8."""
    lines = data.split(b"\n")
    wrong = [number for number, line in enumerate(lines) if not _is_utf8(line)]
    damaged = [number for number in wrong if _is_mostly_utf8(lines[number])]
    other = sorted({*wrong} - {*damaged})
    if not _is_utf8_elsewhere(data, lines, {*other}):
        return None
    texts = [line.decode("utf-8", "replace") for line in lines]
    warnings = [_replaced([number + 1 for number in damaged], "utf-8")] if damaged else []
    if other:
        joined = b"\n".join(lines[number] for number in other)
        found = detect(joined)
        if found is None:
            warnings.append(_replaced([number + 1 for number in other], "utf-8"))
        else:
            for number in other:
                texts[number] = lines[number].decode(found.encoding, "replace")
            told = _listed(number + 1 for number in other)
            warnings.append(f"{told}: in another encoding than the rest ({_name(found.encoding)}), and read as such")
    return "\n".join(texts), warnings


def _is_utf8_elsewhere(data: bytes, lines: list[bytes], other: set[int]) -> bool:
    """Whether all lines but `other` are UTF-8, and not by chance: a few two-byte characters may be, others are not."""
    text = b"\n".join(line for number, line in enumerate(lines) if number not in other).decode("utf-8", "ignore")
    foreign = [character for character in text if ord(character) > 0x7F]
    high = sum(byte > 0x7F for byte in data)
    return 10 * len("".join(foreign).encode()) >= high and (
        len(foreign) >= 4 or any(ord(character) > 0x7FF for character in foreign)
    )


def _is_mostly_utf8(line: bytes) -> bool:
    text = line.decode("utf-8", "replace")
    lost = text.count("\ufffd")
    whole = sum(ord(character) > 0x7F for character in text) - lost
    return whole >= WHOLE * lost


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _replaced(lines: list[int], encoding: str) -> str:
    return f"{_listed(lines)}: bytes that are not {_name(encoding)} were replaced by \ufffd"


def _listed(lines: Iterable[int]) -> str:
    numbers = [*lines]
    more = f" and {len(numbers) - 10:,} more" if len(numbers) > 10 else ""
    return f"line{'s'[: len(numbers) > 1]} {', '.join(map(str, numbers[:10]))}{more}"


def _name(encoding: str) -> str:
    names = {"cp1252": "Windows-1252", "gb18030": "GB18030", "cp932": "Shift-JIS", "cp949": "EUC-KR", "utf-8": "UTF-8"}
    return names.get(encoding, encoding.replace("_", "-"))


def _binary() -> UnreadableError:
    return UnreadableError("holds binary data, not text", hint=BINARY_HINT, reason=Unreadable.ENCODING)
