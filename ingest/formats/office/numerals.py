"""How a number is written in lists: 3, iii, C, 三, 丙, ③."""

from collections.abc import Callable

DIGITS = "〇一二三四五六七八九"
FORMAL_DIGITS, FORMAL_PLACES = "零壹贰叁肆伍陆柒捌玖", ("", "拾", "佰", "仟")
TRADITIONAL_DIGITS, TRADITIONAL_PLACES = "零壹貳參肆伍陸柒捌玖", ("", "拾", "佰", "仟")
PLACES = ("", "十", "百", "千")
STEMS, BRANCHES = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥"
KANA = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
# As Word counts letters: after z come aa, bb, cc.
MOST_LETTERS = 26 * 30


def chinese(number: int, digits: str = DIGITS, places: tuple[str, ...] = PLACES) -> str:
    """
    >>> chinese(15), chinese(20), chinese(105)
    ('十五', '二十', '一百零五')
    """
    if not 0 < number < 10_000:
        return str(number)
    parts: list[str] = []
    zero = "零"
    for place in reversed(range(4)):
        digit = number // 10**place % 10
        if digit:
            parts.append(digits[digit] + places[place])
        elif parts and parts[-1] != zero:
            parts.append(zero)
    written = "".join(parts).rstrip(zero)
    return written[1:] if digits is DIGITS and written.startswith("一十") else written


def roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    written = ""
    for worth, letters in ROMAN:
        written += letters * (number // worth)
        number %= worth
    return written


def letters(number: int) -> str:
    """
    >>> letters(3), letters(28)
    ('c', 'bb')
    """
    if not 0 < number <= MOST_LETTERS:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)


def _of(row: str) -> Callable[[int], str]:
    """The signs of a row in order; figures for numbers beyond the last sign."""
    return lambda number: row[number - 1] if 0 < number <= len(row) else str(number)


def _circled(number: int) -> str:
    for first, last, code in ((1, 20, 0x2460), (21, 35, 0x3251), (36, 50, 0x32B1)):
        if first <= number <= last:
            return chr(code + number - first)
    return str(number)


def _ordinal(number: int) -> str:
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _digit_by_digit(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", DIGITS))


FORMATS: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02}",
    "upperRoman": lambda number: roman(number).upper(),
    "lowerRoman": roman,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerLetter": letters,
    "ordinal": _ordinal,
    "ideographTraditional": _of(STEMS),
    "ideographZodiac": _of(BRANCHES),
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "decimalEnclosedParen": lambda number: chr(0x2473 + number) if 0 < number <= 20 else f"({number})",
    "decimalEnclosedFullstop": lambda number: chr(0x2487 + number) if 0 < number <= 20 else f"{number}.",
    "ideographEnclosedCircle": lambda number: chr(0x327F + number) if 0 < number <= 10 else str(number),
    "chineseLegalSimplified": lambda number: chinese(number, FORMAL_DIGITS, FORMAL_PLACES),
    "ideographLegalTraditional": lambda number: chinese(number, TRADITIONAL_DIGITS, TRADITIONAL_PLACES),
    "japaneseLegal": lambda number: chinese(number, TRADITIONAL_DIGITS, TRADITIONAL_PLACES),
    "ideographDigital": _digit_by_digit,
    "japaneseDigitalTenThousand": _digit_by_digit,
    "taiwaneseDigital": _digit_by_digit,
    "koreanDigital2": _digit_by_digit,
    "numberInDash": lambda number: f"- {number} -",
    "aiueoFullWidth": _of(KANA),
    "aiueo": _of(KANA),
    "iroha": _of("イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"),
    "ganada": _of("가나다라마바사아자차카타파하"),
    "chosung": _of("ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"),
    "russianLower": _of("абвгдежзиклмнопрстуфхцчшщыэюя"),
    "russianUpper": _of("АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ"),
    "none": lambda number: "",
    "bullet": lambda number: "",
    **dict.fromkeys(
        ("chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCounting",
         "taiwaneseCountingThousand", "koreanCounting"),
        chinese,
    ),
}  # fmt: skip


def written(number: int, form: str) -> str:
    """A number in one of the standard's forms, given by name; in figures if the form is unknown."""
    return FORMATS.get(form, str)(number)
