"""Actions that the browser sends from the practice room. They are untrusted input."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

from rag.practice.plan import Plan
from rag.practice.schedule import Rating
from rag.types import Citation
from rag.ui.browser_input import member_of, number_of, storable
from rag.ui.session.practice import Filter, Standing

ALL = ""


class PracticeActionName(StrEnum):
    """Values of `data-act` on buttons and forms."""

    SHOW = "show"  # draws the view again
    PLACE = "place"  # goes to the place that the address names
    GO = "go"
    PLAN = "plan"
    TONIGHT = "tonight"
    FILTER = "filter"
    MORE = "more"
    TOPIC = "topic"
    SHUFFLE = "shuffle"
    OPEN = "open"
    NEXT = "next"
    DUE = "due"
    BOOKMARK = "bookmark"
    KEEP = "keep"
    GRADE = "grade"
    OVERRIDE = "override"
    DEAL = "deal"
    REVEAL = "reveal"
    RATE = "rate"
    STATE = "state"
    JUDGE = "judge"
    ONWARD = "onward"
    BEGIN = "begin"
    CONTINUE = "continue"
    ANSWER = "answer"
    END = "end"
    REPORT = "report"
    SOURCE = "source"
    EXPORT = "export"
    BACKUP = "backup"
    RESTORE = "restore"
    SAVE_REPORT = "save-report"


@dataclass(frozen=True, slots=True)
class PracticeAction:
    """`rest` is the `data-rest` of the button, `fields` are the values of its form, `zone` is the browser's time
    zone."""

    name: PracticeActionName | None
    rest: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    zone: str = ""

    @classmethod
    def read(cls, data: object) -> "PracticeAction":
        """Parse what the page sent, which may be anything. An unknown name becomes None, and the action does
        nothing."""
        values: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        fields = values.get("fields")
        return cls(
            member_of(PracticeActionName, values.get("action")),
            storable(values.get("rest") or ""),
            {str(key): storable(value) for key, value in fields.items()} if isinstance(fields, Mapping) else {},
            storable(values.get("zone") or "")[:60],
        )

    def text(self, name: str) -> str:
        """A field's text with LF line endings; browsers send CRLF."""
        return self.fields.get(name, "").replace("\r\n", "\n")

    def number(self, name: str, least: int, most: int) -> int:
        value = number_of(self.fields.get(name, ""), 9)
        return least if value is None else min(max(value, least), most)

    @property
    def edition(self) -> int:
        """The edition of the typed text, which practice.js counts."""
        return self.number("edition", 0, 10**9)

    @property
    def topic(self) -> str | None:
        """None for all topics. A topic's value has a leading mark, so that the empty topic differs from all topics."""
        return self.fields.get("topic", ALL)[1:] if self.fields.get("topic") else None

    @property
    def filter(self) -> Filter:
        return Filter(
            words=self.text("words").strip()[:200],
            topic=self.topic,
            standing=member_of(Standing, self.fields.get("standing")) or Standing.ALL,
            bookmarked=self.fields.get("bookmarked") == "on",
        )

    @property
    def plan(self) -> Plan:
        """An invalid date counts as no date."""
        day = self.fields.get("interview", "")
        try:
            interview = date.fromisoformat(day) if day else None
        except ValueError:
            interview = None
        return Plan(interview, self.text("role")[:100], self.fields.get("deep") == "on")

    @property
    def rating(self) -> Rating | None:
        return member_of(Rating, self.rest)

    @property
    def citation(self) -> Citation | None:
        """The quote that a source button names; None if its fields are invalid."""
        document, quote = self.fields.get("document"), self.fields.get("quote")
        start = number_of(self.fields.get("start", ""), 11)
        if not document or not quote or start is None:
            return None
        title = self.fields.get("title") or document
        return Citation(1, document, title, start, start + len(quote), quote)
