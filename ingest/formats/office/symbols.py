"""Characters of symbol fonts, which hold signs in the places of letters."""

# The private characters that represent the codes of such a font.
FIRST, LAST = 0xF020, 0xF0FF
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
GREEK = "αβχδεφγηιϕκλμνοπθρστυϖωξψζΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
SYMBOL = {
    **dict(zip(map(ord, LETTERS), GREEK, strict=True)),
    0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±", 0xB3: "≥",
    0xB4: "×", 0xB5: "∝", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xBC: "…", 0xC5: "⊕",
    0xC6: "∅", 0xC7: "∩", 0xC8: "∪", 0xCC: "⊂", 0xCD: "⊆", 0xCE: "∈", 0xCF: "∉", 0xD0: "∠", 0xD1: "∇", 0xD5: "∏",
    0xD6: "√", 0xD7: "⋅", 0xD8: "¬", 0xD9: "∧", 0xDA: "∨", 0xDB: "⇔", 0xDC: "⇐", 0xDE: "⇒", 0xE5: "∑", 0xF2: "∫",
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2D: "−", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥", 0x7E: "∼",
}  # fmt: skip
WINGDINGS = {
    0x6C: "●", 0x6D: "○", 0x6E: "■", 0x6F: "☐", 0x70: "☐", 0x71: "☐", 0x72: "☐", 0x75: "◆", 0x76: "❖", 0x78: "☒",
    0x9F: "•", 0xA7: "▪", 0xA8: "☐", 0xAB: "★", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔",
    0xEF: "⇦", 0xF0: "⇨", 0xF1: "⇧", 0xF2: "⇩", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
    **{0x80 + n: chr(0x245F + n) for n in range(1, 11)}, 0x80: "⓪", 0x8B: "⓿",
    **{0x8B + n: chr(0x2775 + n) for n in range(1, 11)},
}  # fmt: skip
WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x2A: "☐", 0xA3: "☐", 0x97: "●"}
FONTS = {"symbol": SYMBOL, "wingdings": WINGDINGS, "wingdings 2": WINGDINGS_2}


def symbol(code: int, font: str) -> str | None:
    """The character that a font shows for a code; None if that is not known."""
    signs = FONTS.get(font.lower())
    if not FIRST <= code <= LAST:
        return None if signs is None or code > 0xFF else signs.get(code, chr(code))
    code -= FIRST - 0x20
    if signs is not None:
        return signs.get(code, chr(code) if chr(code).isdecimal() or code in b" ()+,./:;<=>[]{}|%&!?" else None)
    return None


def plain(text: str, font: str) -> tuple[str, int]:
    """A text with the private characters of symbol fonts replaced, and how many of them are unknown."""
    if not any(FIRST <= ord(character) <= LAST for character in text):
        return text, 0
    found = [symbol(ord(one), font) if FIRST <= ord(one) <= LAST else one for one in text]
    return "".join(filter(None, found)), found.count(None)
