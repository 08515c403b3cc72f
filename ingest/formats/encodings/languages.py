"""How likely it is that people wrote a text: the same bytes read in a wrong encoding are unlikely.

Each character that ASCII lacks counts with the logarithm of its frequency in a language, each one of ASCII with a fixed
value. Likelihoods of readings of the same bytes can be compared, because each accounts for all bytes.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from ingest.formats.encodings.characters import (
    ARABIC,
    CHINESE,
    CHINESE_MORE,
    CYRILLIC,
    GREEK,
    HANGUL,
    HEBREW,
    HIRAGANA,
    KANJI,
    LATIN,
)

ASCII = -3.0
# A character that is not used in the language; one that is used in no text; a byte without a character.
FOREIGN, NEVER, LOST = -15.0, -20.0, -16.0
# A capital, or a letter that its language does not use, within a word.
CAPITAL_WITHIN, MIXED_WITHIN = -6.0, -5.0
TYPOGRAPHY = "’“”–—‘…°€«»„·×±µ©®£²³§½¼¾•™‹›÷ºª‚´¡¿"
CHINESE_SIGNS = "，。、：；？！（）“”《》…—·【】「」『』〈〉％～　０１２３４５６７８９×→≥≤±‘’"
JAPANESE_SIGNS = "、。「」・（）ー：！？『』【】　～…“”０１２３４５６７８９々〜＝／＋−％→×"
ASCII_LETTER, LOWER = "[A-Za-z]", "[a-z]"
IDEOGRAPH = r"[\u3400-\u9fff\uac00-\ud7a3]"


@dataclass(frozen=True, slots=True)
class Language:
    """`letters` are the likelihoods of its characters, `others` gives that of any other character."""

    name: str
    letters: Mapping[str, float]
    others: Callable[[str], float]
    within: re.Pattern[str] | None = None
    penalty: float = 0.0

    def likelihood(self, text: str) -> float:
        counts = Counter(text)
        total = sum(count * self._of(character) for character, count in counts.items())
        return total + (self.penalty * sum(1 for _ in self.within.finditer(text)) if self.within else 0.0)

    def _of(self, character: str) -> float:
        if character.isascii():
            return ASCII if character.isprintable() or character in "\t\r\n" else NEVER
        if character == "\ufffd":
            return LOST
        known = self.letters.get(character)
        if known is not None:
            return known
        kind = unicodedata.category(character)
        return NEVER if kind in ("Cc", "Cn", "Co", "Cs") else max(FOREIGN, self.others(character))


@cache
def languages() -> tuple[Language, ...]:
    return (_chinese(), _japanese(), _korean(), *_alphabets(), *map(_latin, LATIN))


def _spread(characters: Iterable[str], share: float) -> dict[str, float]:
    """The likelihood of each character in a group that makes up a share of the text."""
    found = dict.fromkeys(characters)
    return dict.fromkeys(found, math.log(share / max(1, len(found))))


def _ranked(characters: str, share: float) -> dict[str, float]:
    """The same for a group with the most frequent characters first."""
    weights = [1 / (place + 5) for place in range(len(characters))]
    return {one: math.log(share * weight / sum(weights)) for one, weight in zip(characters, weights, strict=True)}


def _rows(codec: str, first: int, last: int) -> str:
    """The characters in these rows of a two-byte standard; the common ones have rows of their own."""
    pairs = (bytes((lead, trail)) for lead in range(first, last + 1) for trail in range(0xA1, 0xFF))
    return "".join(pair.decode(codec, "ignore") for pair in pairs)


def _big5_common() -> str:
    trails = [*range(0x40, 0x7F), *range(0xA1, 0xFF)]
    pairs = (bytes((lead, trail)) for lead in range(0xA4, 0xC7) for trail in trails)
    return "".join(pair.decode("big5", "ignore") for pair in pairs)


def _chinese() -> Language:
    common = _spread(_rows("gb2312", 0xB0, 0xD7) + _big5_common(), 0.14)
    letters = {
        **_spread(_rows("gb2312", 0xD8, 0xF7), 0.003), **common, **_ranked(CHINESE_MORE, 0.38),
        **_ranked(CHINESE, 0.35), **_ranked(CHINESE_SIGNS, 0.12),
    }  # fmt: skip
    return Language("Chinese", letters, lambda character: _sign(character, -9.0), _between_letters(), MIXED_WITHIN)


def _japanese() -> Language:
    katakana = "".join(chr(code) for code in range(0x30A1, 0x30FB))
    letters = {
        **_spread(_rows("euc_jp", 0xD0, 0xF4), 0.003), **_spread(_rows("euc_jp", 0xB0, 0xCF), 0.08),
        **_ranked(KANJI, 0.2), **_ranked(HIRAGANA, 0.45), **_spread(katakana, 0.15), **_ranked(JAPANESE_SIGNS, 0.1),
    }  # fmt: skip
    return Language("Japanese", letters, lambda character: _sign(character, -9.0), _between_letters(), MIXED_WITHIN)


def _korean() -> Language:
    letters = {
        **_spread(_rows("euc_kr", 0xCA, 0xFD), 0.002), **_spread(_rows("euc_kr", 0xB0, 0xC8), 0.2),
        **_ranked(HANGUL, 0.75), **_spread("·…“”‘’「」『』※→×", 0.01),
    }  # fmt: skip
    return Language("Korean", letters, lambda character: _sign(character, -11.0), _between_letters(), MIXED_WITHIN)


def _between_letters() -> re.Pattern[str]:
    """A lone ideograph beside or within a word of letters."""
    alone = f"(?<!{IDEOGRAPH}){IDEOGRAPH}(?!{IDEOGRAPH})"
    return re.compile(f"(?<={LOWER}){alone}|{alone}(?={LOWER})")


def _sign(character: str, likelihood: float) -> float:
    """Signs are rare in any text, letters of other languages rarer."""
    return likelihood if unicodedata.category(character)[0] in "PSZN" else FOREIGN


def _alphabets() -> Iterable[Language]:
    """Languages whose letters are not Latin: each letter belongs among others of its alphabet."""
    for name, letters in (("Cyrillic", CYRILLIC), ("Greek", GREEK), ("Hebrew", HEBREW), ("Arabic", ARABIC)):
        known = _ranked(letters, 0.9)
        capitals = {
            one.upper(): likelihood - 3
            for one, likelihood in known.items()
            if one.upper() != one and len(one.upper()) == 1
        }
        yield _alphabet(name, "".join(known), "".join(capitals), capitals | known)
    thai = "".join(map(chr, range(0xE01, 0xE4F)))
    yield _alphabet("Thai", thai, "", _spread(thai, 0.9))


def _alphabet(name: str, small: str, capitals: str, known: Mapping[str, float]) -> Language:
    """A language with its own alphabet. A capital within a word is misread, and so is a letter beside a Latin one."""
    own = f"[{small}{capitals}]"
    within = f"(?<={ASCII_LETTER}){own}|{own}(?={ASCII_LETTER})" + (f"|(?<=[{small}])[{capitals}]" if capitals else "")
    letters = {**_ranked(TYPOGRAPHY + "№،؛؟", 0.03), **known}
    return Language(name, letters, lambda character: _sign(character, -10.0), re.compile(within), MIXED_WITHIN)


def _latin(name: str) -> Language:
    """A language of Latin letters, most of which are ASCII."""
    known = _ranked(LATIN[name], 0.05)
    capitals = {one.upper(): value - 3 for one, value in known.items() if len(one.upper()) == 1 and one.upper() != one}
    # A sign, a capital or a foreign letter within a word is a misread letter, and so is a lone one.
    within = re.compile(
        rf"(?<={LOWER})[^\W\d_A-Za-z{''.join(known)}](?={LOWER})"
        r"|(?<=[^\W\d_])[²³°±µ¿¡§©®¹º¶¬¦¨¸¤¼½¾×÷](?=[^\W\d_])"
        r"|(?<!\w)[^\W\d_A-Za-zàáâåæèéìíòóôöøùúº²³µ](?!\w)"
    )
    letters = _ranked(TYPOGRAPHY, 0.03) | capitals | known
    return Language(name, letters, _other_latin, within, CAPITAL_WITHIN)


def _other_latin(character: str) -> float:
    """The likelihood of a letter of another language, as in names, or of a sign."""
    if unicodedata.name(character, "").startswith("LATIN "):
        return -9.0 if character.islower() else -10.5
    return _sign(character, -9.0)
