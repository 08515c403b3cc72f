"""Finds the encoding in which bytes are a text that somebody wrote."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ingest.formats.encodings.languages import ASCII, LATIN, languages

# How many bytes are looked at, all from lines that contain anything but ASCII.
LOOKED_AT = 40_000
WESTERN = (
    "French", "German", "Spanish", "Portuguese", "Italian", "Catalan", "Swedish, Finnish", "Danish, Norwegian", "Dutch",
    "Icelandic",
)  # fmt: skip
CENTRAL = ("Polish", "Czech, Slovak", "Hungarian", "Croatian, Slovene, Serbian", "Romanian", "German")
# For each encoding, how much rarer it is than the most common ones (a logarithm), and the languages it was made for.
ENCODINGS: dict[str, tuple[float, Sequence[str]]] = {
    "gb18030": (0.0, ["Chinese"]), "big5hkscs": (1.0, ["Chinese"]), "cp932": (2.0, ["Japanese"]),
    "euc_jp": (2.0, ["Japanese"]), "cp949": (2.0, ["Korean"]), "cp1252": (0.0, WESTERN), "cp1251": (2.0, ["Cyrillic"]),
    "koi8_r": (5.0, ["Cyrillic"]), "koi8_u": (7.0, ["Cyrillic"]), "cp866": (6.0, ["Cyrillic"]),
    "cp1250": (2.0, CENTRAL), "iso8859_2": (2.5, CENTRAL), "cp1253": (4.0, ["Greek"]), "iso8859_7": (5.0, ["Greek"]),
    "cp1254": (3.0, ["Turkish"]), "cp1257": (3.0, ["Baltic"]), "cp1255": (3.0, ["Hebrew"]),
    "cp1256": (7.0, ["Arabic"]), "cp874": (8.0, ["Thai"]), "iso8859_15": (4.0, WESTERN),
    "cp1258": (4.0, ["Vietnamese"]), "mac_roman": (6.0, WESTERN), "cp850": (6.0, WESTERN), "cp852": (7.0, CENTRAL),
    "iso8859_5": (7.0, ["Cyrillic"]), "mac_cyrillic": (8.0, ["Cyrillic"]),
}  # fmt: skip
WIDE: dict[str, tuple[float, Sequence[str]]] = {"utf_16_le": (2.0, ()), "utf_16_be": (3.0, ())}
WIDEST = ("utf_32_le", "utf_32_be")
# The least average likelihood of the characters that ASCII lacks; it is lower for many ideographs than for few letters.
LEAST = dict.fromkeys(("Chinese", "Japanese", "Korean"), -10.0) | dict.fromkeys(LATIN, -8.5)
LEAST_OF_OTHERS = -7.0
# How much likelier a reading must be than the next different one: to be taken, and to be taken without a warning.
AHEAD, SURELY = 2.0, 9.0
# The share of a text's characters that may be lost.
MOST_LOST = 0.01


class Reading(NamedTuple):
    """An encoding, the language of the text that it makes of the bytes, and how likely that is; `is_sure`: no other
    reading comes near."""

    encoding: str
    language: str
    likelihood: float
    is_sure: bool = True


def detect(data: bytes) -> Reading | None:
    """The likeliest reading of bytes that are not UTF-8; None if none makes a text."""
    if b"\x00" in data[:LOOKED_AT]:
        return _wide(data)
    sample = _sample(data)
    candidates = ENCODINGS | WIDE if len(data) == len(sample) else ENCODINGS
    return _best({encoding: found for encoding, how in candidates.items() if (found := _read(sample, encoding, *how))})


def likelihood(data: bytes, encoding: str) -> float | None:
    """How likely an encoding makes a text of the bytes, per character that ASCII lacks; None if it does not."""
    found = _read(_sample(data), encoding)
    return None if found is None else _average(found[0], found[2])


def _wide(data: bytes) -> Reading | None:
    """UTF-16 or UTF-32 without a byte-order mark: no other text contains zero bytes."""
    for encoding in WIDEST:
        try:
            if len(data) % 4 == 0 and data.decode(encoding):
                return Reading(encoding, "", 0.0)
        except UnicodeDecodeError:
            continue
    sample = data[: LOOKED_AT // 2 * 2]
    readings = {encoding: found for encoding, how in WIDE.items() if (found := _read(sample, encoding, *how))}
    return _best({encoding: found for encoding, found in readings.items() if "\x00" not in found[0]})


def _best(readings: dict[str, tuple[str, str, float]]) -> Reading | None:
    every = [(value, encoding, text, name) for encoding, (text, name, value) in readings.items()]
    able = [one for one in every if _average(one[2], one[0]) >= LEAST.get(one[3], LEAST_OF_OTHERS)]
    if not able:
        return None
    value, encoding, text, language = max(able)
    ahead, surely = (
        value - max((other[0] for other in others if other[2] != text), default=-math.inf) for others in (able, every)
    )
    return Reading(encoding, language, value, is_sure=surely >= SURELY) if ahead >= AHEAD else None


def _average(text: str, value: float) -> float:
    foreign = sum(not character.isascii() for character in text)
    return (value - ASCII * (len(text) - foreign)) / max(1, foreign)


def _read(sample: bytes, encoding: str, rarer: float = 0.0, names: Sequence[str] = ()) -> tuple[str, str, float] | None:
    """The text, its language (one of `names`, or any), and how likely it is."""
    text = sample.decode(encoding, "replace")
    if not text or text.count("\ufffd") > max(1, MOST_LOST * len(text)):
        return None
    spoken = [language for language in languages() if not names or language.name in names]
    value, name = max((language.likelihood(text), language.name) for language in spoken)
    return text, name, value - rarer


def _sample(data: bytes) -> bytes:
    """The lines that contain anything but ASCII, up to `LOOKED_AT` bytes; all of a short text."""
    if len(data) <= LOOKED_AT:
        return data
    lines: list[bytes] = []
    length = 0
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line[:LOOKED_AT])
            length += len(line)
            if length > LOOKED_AT:
                break
    return b"".join(lines)[:LOOKED_AT]
