"""Where a reader is in the practice room, as the address of the page says it after the room's own name: a view, and
what is open in it. What a handful of words cannot say, such as the cards that are left, is remembered beside it."""

import threading
from dataclasses import fields
from urllib.parse import parse_qs, quote, urlencode

from rag.ui.browser_input import member_of, number_of
from rag.ui.session.practice import Filter, Practice, Standing, View

# Places that are remembered, of all readers, the newest ones.
MOST = 500
# Of an address, which anybody may have written.
CHARACTERS = 2_000
SOUGHT = 200
# What belongs to the page, not to a place.
OF_THE_PAGE = frozenset({"is_open", "has_acted", "zone", "renders", "grades", "editions"})
OF_A_PLACE = tuple(field.name for field in fields(Practice) if field.name not in OF_THE_PAGE)


def place_of(practice: Practice) -> str:
    """In letters that an address takes as they are.

    >>> place_of(Practice(View.BANK, filter=Filter("KV cache", "memory")))
    'bank?words=KV%20cache&topic=%2Fmemory'
    >>> place_of(Practice(View.QUESTION, question="zero.md#Why?", back=View.TODAY))
    'question?name=zero.md%23Why%3F&back=today'
    """
    fields = {name: value for name, value in _fields(practice).items() if value}
    return "?".join(filter(None, (str(practice.view), urlencode(fields, quote_via=quote, safe=""))))


def _fields(practice: Practice) -> dict[str, str]:
    match practice.view:
        case View.BANK:
            wanted = practice.filter
            return {
                "words": wanted.words,
                "topic": "" if wanted.topic is None else f"/{wanted.topic}",
                "standing": "" if wanted.standing is Standing.ALL else str(wanted.standing),
                "bookmarked": "on" if wanted.bookmarked else "",
                "seed": str(wanted.seed or ""),
            }
        case View.QUESTION:
            return {"name": practice.question, "back": "" if practice.back is View.BANK else str(practice.back)}
        case View.RECALL | View.STATEMENTS:
            return {"sitting": practice.sitting if practice.deck or practice.dealt or practice.statements else ""}
        case View.INTERVIEW:
            return {"round": practice.round_id}
        case _:
            return {}


def go_to(practice: Practice, place: str) -> None:
    """As an address says; what it does not say is as at the beginning. A name that there is not is taken as it is:
    whoever shows the place finds nothing by it."""
    name, _, query = place[:CHARACTERS].partition("?")
    values = {key: found[-1] for key, found in parse_qs(query).items()}
    begun = Practice(member_of(View, name) or View.TODAY)
    topic, standing, back, seed = (values.get(key, "") for key in ("topic", "standing", "back", "seed"))
    begun.filter = Filter(
        words=values.get("words", "")[:SOUGHT],
        topic=topic[1:] if topic else None,
        standing=member_of(Standing, standing) or Standing.ALL,
        bookmarked=values.get("bookmarked") == "on",
        seed=number_of(seed, 10) or 0,
    )
    begun.question, begun.round_id = values.get("name", ""), values.get("round", "")
    if begun.view is View.QUESTION and not begun.question:
        begun.view = View.TODAY
    begun.back = View(back) if back in (View.TODAY, View.BANK) else View.BANK
    _take(practice, begun)


class Places:
    """What was open in each place, for whoever comes back to it: by the reader, and the place as an address says it.
    It is gone when the program ends."""

    def __init__(self) -> None:
        self._left: dict[tuple[str, str], Practice] = {}
        self._writing = threading.Lock()

    def remember(self, user: str, practice: Practice) -> str:
        """The place where a reader is."""
        place, left = place_of(practice), Practice()
        _take(left, practice)
        with self._writing:
            self._left.pop((user, place), None)
            self._left[user, place] = left
            if len(self._left) > MOST:
                del self._left[next(iter(self._left))]
        return place

    def return_to(self, user: str, place: str, practice: Practice) -> None:
        left = self._left.get((user, place))
        if left is None:
            go_to(practice, place)
        else:
            _take(practice, left)


def _take(practice: Practice, other: Practice) -> None:
    for name in OF_A_PLACE:
        setattr(practice, name, getattr(other, name))
