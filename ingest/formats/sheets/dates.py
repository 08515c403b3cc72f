"""Dates and times, which spreadsheets store as days since a day before the year 1900, as their formats show them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

EPOCH_1900, EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)  # noqa: DTZ001 (cells know of no zone)
# Spreadsheets count a day that never was, 29 February 1900; days before it are one later than they seem.
DAY_THAT_NEVER_WAS = 60
LAST_DAY = 2_958_466  # of the year 9999
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CHINESE_DAYS, JAPANESE_DAYS, KOREAN_DAYS = "一二三四五六日", "月火水木金土日", "월화수목금토일"
CHINESE_MONTHS = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
# The last byte of a language's number is the language, the first its country.
CHINESE, JAPANESE, KOREAN = 0x04, 0x11, 0x12


def moment_of(value: float, *, from_1904: bool) -> datetime | None:
    """The date and time of a number, to the millisecond; None if it has none."""
    if not 0 <= value < LAST_DAY:
        return None
    start = EPOCH_1904 if from_1904 else EPOCH_1900 + timedelta(days=value < DAY_THAT_NEVER_WAS)
    return start + timedelta(milliseconds=round(value * 86_400_000))


def number_of(moment: datetime, *, from_1904: bool) -> float:
    """The number of days that a cell stores for a date."""
    return (moment.replace(tzinfo=None) - (EPOCH_1904 if from_1904 else EPOCH_1900)) / timedelta(days=1)


def date_shown(value: float, tokens: Sequence[tuple[str, str]], *, language: int, from_1904: bool) -> str | None:
    """The text of a date by the tokens of its format (kind and text); None if the number is not a date."""
    moment = moment_of(value, from_1904=from_1904)
    if moment is None:
        return None
    kinds = [kind for kind, _ in tokens]
    parts = _fractions_of_seconds(tokens)
    if not parts:  # whole seconds are shown, rounded
        moment += timedelta(milliseconds=500)
        moment = moment.replace(microsecond=0)
    total = round(value * 86_400, 3 if parts else 0)
    said: list[str] = []
    for place, (kind, text) in enumerate(tokens):
        if kind == "elapsed":
            passed = int(total // {"h": 3_600, "m": 60, "s": 1}[text[0]])
            said.append(f"{passed:0{len(text)}d}")
        elif kind == "date":
            is_minute = text[0] in "mM" and _is_minute(tokens, place)
            said.append(_part(moment, text.lower(), language, is_minute=is_minute, by_noon="noon" in kinds))
        elif kind == "noon":
            said.append(("上午", "下午")[moment.hour > 11] if "上" in text else ("AM", "PM")[moment.hour > 11])
        elif kind == "digit":
            said.append(f"{moment.microsecond:06d}"[parts[place] : parts[place] + 1] if place in parts else "")
        elif kind == "space":
            said.append(" ")
        elif kind not in ("filled", "general") and (kind, text) != ("sign", "@"):
            said.append(text)
    return "".join(said)


def _fractions_of_seconds(tokens: Sequence[tuple[str, str]]) -> dict[int, int]:
    """For each digit after the seconds, by its place, which digit of their fraction it shows."""
    found: dict[int, int] = {}
    for place, token in enumerate(tokens):
        if token[0] == "digit" and (place - 1 in found or (place and tokens[place - 1] == ("sign", "."))):
            found[place] = found.get(place - 1, -1) + 1
    return found


def _is_minute(tokens: Sequence[tuple[str, str]], place: int) -> bool:
    """Whether an `m` is minutes: after hours, or before seconds."""
    kinds = ("date", "elapsed")
    before = next((text for kind, text in reversed(tokens[:place]) if kind in kinds), "")
    after = next((text for kind, text in tokens[place + 1 :] if kind in kinds), "")
    return len(tokens[place][1]) < 3 and (before[:1] in ("h", "H") or after[:1] in ("s", "S"))


def _part(moment: datetime, text: str, language: int, *, is_minute: bool, by_noon: bool) -> str:
    size = len(text)
    if is_minute:
        return f"{moment.minute:0{min(size, 2)}d}"
    if text[0] in "ye":
        return f"{moment.year:04d}" if size > 2 or text[0] == "e" else f"{moment.year % 100:02d}"
    if text[0] == "g":
        return ""
    if text[0] in "mda" and size > 2:
        return _named(moment, text, language & 0xFF)
    hour = (moment.hour + 11) % 12 + 1 if by_noon else moment.hour
    number = {"m": moment.month, "d": moment.day, "h": hour, "s": moment.second}[text[0]]
    return f"{number:0{min(size, 2)}d}"


def _named(moment: datetime, text: str, language: int) -> str:
    """The name of a month or of a day of the week; `aaa` gives an East Asian day name whatever the language."""
    size, day = len(text), moment.weekday()
    if text[0] == "m":
        if language == CHINESE and size == 4:
            return f"{CHINESE_MONTHS[moment.month - 1]}月"
        if language in (CHINESE, JAPANESE, KOREAN):
            return f"{moment.month}{'월' if language == KOREAN else '月'}"
        name = MONTHS[moment.month - 1]
        return name[:1] if size == 5 else name if size > 3 else name[:3]
    if language == JAPANESE:
        return JAPANESE_DAYS[day] + ("曜日" if size > 3 else "")
    if language == KOREAN:
        return KOREAN_DAYS[day] + ("요일" if size > 3 else "")
    if language == CHINESE or text[0] == "a":
        return ("星期" if size > 3 else "周") + CHINESE_DAYS[day]
    return DAYS[day] if size > 3 else DAYS[day][:3]
