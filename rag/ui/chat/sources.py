"""The sources panel: each quote of an answer, highlighted inside the source text around it."""

from collections.abc import Sequence

from rag.types import Claim
from rag.ui.elements import hint
from rag.ui.readable import balanced, readable
from rag.ui.session.excerpts import Excerpt, Nearby
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("chat/sources.html")
# The attributes of a panel in which no exchange is shown.
NOTHING_SHOWN = {
    "turn": 0,
    "selected": 0,
    "conversation": 0,
    "begun": 0,
    "done": 0,
    "missing": 0,
    "written": 0,
    "earlier": 0,
}


def render_excerpts(excerpts: Sequence[Excerpt], texts: Texts, *, turn: int) -> str:
    """A card for each document, in citation order."""
    cards: dict[str, list[Excerpt]] = {}
    for excerpt in excerpts:
        cards.setdefault(excerpt.document, []).append(excerpt)
    seen: set[int] = set()
    return "".join(_card(card, texts, turn, seen) for card in cards.values()) or hint(texts.sources_none)


def render_claims(claims: Sequence[Claim], texts: Texts, *, turn: int) -> str:
    """Every sentence of an answer with its supporting quotes; empty if there are none."""
    if not claims:
        return ""
    supported = sum(claim.supported for claim in claims)
    summary = texts.claims.format(supported=supported)
    if supported < len(claims):
        summary += texts.claims_unsupported.format(count=len(claims) - supported)
    shown = [(claim, readable([(claim.text, ())], highlight)) for claim in claims]
    return HTML("claims", summary=summary, claims=shown, turn=turn, texts=texts)


def render_nearby(nearby: Sequence[Nearby], heading: str, texts: Texts) -> str:
    items = [(item, readable([(item.snippet, ())], highlight)) for item in nearby]
    return HTML("nearby", items=items, heading=heading, texts=texts)


def render_panel(body: str, texts: Texts, *, question: str, place: int = 0, **data: int) -> str:
    """The whole panel. `data` are attributes that the browser's scripts read: `turn` is the number of its exchange (0:
    none yet), and `place` that exchange's position in its branch, from 1; `begun` counts the questions asked so far,
    `done` the reader's other actions, `missing` is the conversation that could not be opened, `earlier` counts the
    omitted exchanges, `written` is the one being written for another tab."""
    heading = texts.sources_of.format(number=place) if place else texts.sources
    return HTML("panel", body=body, asked=question, heading=heading, texts=texts, data=NOTHING_SHOWN | data)


def highlight(markers: tuple[int, ...], html: str) -> str:
    return HTML("mark", markers=markers, html=html)


def _card(card: Sequence[Excerpt], texts: Texts, turn: int, seen: set[int]) -> str:
    """An answer's quotes from one document; `seen` are the markers already drawn."""
    parts = [(excerpt, _note(excerpt, texts), _stretches(excerpt, turn, seen)) for excerpt in card]
    return HTML("card", parts=parts, turn=turn, texts=texts)


def _note(excerpt: Excerpt, texts: Texts) -> str:
    if excerpt.whole:
        return ""
    return str(texts.sources_changed if excerpt.is_there else texts.sources_gone)


def _stretches(excerpt: Excerpt, turn: int, seen: set[int]) -> list[str]:
    def mark(markers: tuple[int, ...], html: str) -> str:
        new = [marker for marker in markers if marker not in seen]
        seen.update(new)
        return HTML("mark", markers=markers, html=html, turn=turn, begins=new)

    text = str if excerpt.whole else balanced
    return [readable([(text(part.text), part.markers) for part in stretch], mark) for stretch in excerpt.stretches]
