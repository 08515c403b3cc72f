"""The sources panel: each quote of an answer, highlighted inside the source text around it."""

from collections.abc import Sequence

from rag.types import Claim
from rag.ui.readable import balanced, readable, text_of
from rag.ui.session.excerpts import Excerpt, Nearby
from rag.ui.texts import Texts


def render_excerpts(excerpts: Sequence[Excerpt], texts: Texts, *, turn: int) -> str:
    if not excerpts:
        return f'<p class="hint">{text_of(texts.sources_none)}</p>'
    return "".join(_excerpt(excerpt, texts, turn) for excerpt in excerpts)


def render_claims(claims: Sequence[Claim], texts: Texts, *, turn: int) -> str:
    """Every sentence of an answer with the quotes on which it rests; empty where there are none."""
    if not claims:
        return ""
    supported = sum(claim.supported for claim in claims)
    summary = texts.claims.format(supported=supported)
    if supported < len(claims):
        summary += texts.claims_unsupported.format(count=len(claims) - supported)
    items = "".join(_claim(claim, texts, turn) for claim in claims)
    return f'<details class="claims"><summary>{text_of(summary)}</summary><ol>{items}</ol></details>'


def _claim(claim: Claim, texts: Texts, turn: int) -> str:
    said = f'<div class="readable">{readable([(claim.text, ())], highlight)}</div>'
    if not claim.supported:
        warning = f'<span class="warning">⚠️ {text_of(texts.claim_unsupported)}</span>'
        return f'<li class="unsupported">{said} {warning}</li>'
    links = "".join(
        f'<a href="#cite-{turn}-{marker}" title="{text_of(texts.source_number.format(number=marker))}">{marker}</a>'
        for marker in claim.citations
    )
    return f"<li>{said} {links}</li>"


def render_nearby(nearby: Sequence[Nearby], heading: str) -> str:
    cards = "".join(
        f'<article class="source nearby">{_head(item.title, item.section, item.document)}'
        f'<p class="readable">{readable([(item.snippet, ())], highlight)}</p></article>'
        for item in nearby
    )
    return f'<p class="hint">{text_of(heading)}</p>{cards}'


def render_panel(
    body: str,
    texts: Texts,
    *,
    turn: int,
    question: str,
    place: int = 0,
    selected: int = 0,
    conversation: int = 0,
    begun: int = 0,
    done: int = 0,
    missing: int = 0,
) -> str:
    """The whole panel. `turn` is the number of the exchange it belongs to (0: none yet), `place` where that stands in
    its branch, from 1; `begun` counts the questions asked so far, `done` what the reader did beside, `missing`
    is the conversation that could not be opened. The browser's scripts read the `data-` attributes."""
    heading = texts.sources_of.format(number=place) if place else texts.sources
    asked = f'<p class="asked">{text_of(question)}</p>' if turn else ""
    return (
        f'<section class="panel" data-turn="{turn}" data-selected="{selected}" data-language="{texts.tag}"'
        f' data-conversation="{conversation}" data-begun="{begun}" data-done="{done}" data-missing="{missing}"'
        f' aria-label="{text_of(texts.sources)}">'
        f"<header><h2>{text_of(heading)}</h2>{as_written(texts)}"
        f'<button type="button" class="close" title="{text_of(texts.close)}" aria-label="{text_of(texts.close)}">×'
        f'</button></header>{asked}<div class="body" tabindex="0">{body}</div></section>'
    )


def as_written(texts: Texts) -> str:
    """The switch that shows sources with the signs of their Markdown."""
    return f'<button type="button" class="as-written" aria-pressed="false">{text_of(texts.as_written)}</button>'


def highlight(markers: tuple[int, ...], html: str) -> str:
    return f'<mark data-cites="{" ".join(map(str, markers))}">{html}</mark>'


def _excerpt(excerpt: Excerpt, texts: Texts, turn: int) -> str:
    seen: set[int] = set()

    def mark(markers: tuple[int, ...], html: str) -> str:
        new = [marker for marker in markers if marker not in seen]
        seen.update(new)
        # The number is drawn by CSS, so that the text of the element is the quote and nothing else.
        anchors = "".join(f'<i id="cite-{turn}-{marker}" data-number="{marker}"></i>' for marker in new)
        return anchors + highlight(markers, html)

    text = str if excerpt.whole else balanced
    stretches = [readable([(text(part.text), part.markers) for part in stretch], mark) for stretch in excerpt.stretches]
    changed = texts.sources_changed if excerpt.is_there else texts.sources_gone
    note = "" if excerpt.whole else f'<p class="hint">{text_of(changed)}</p>'
    body = '<div class="gap" aria-hidden="true">⋯</div>'.join(
        f'<div class="stretch readable">{part}</div>' for part in stretches
    )
    page = "" if excerpt.page is None else texts.page.format(number=excerpt.page)
    head = _head(excerpt.title, excerpt.section, excerpt.document, page=page)
    number = next(iter(excerpt.markers), 0)
    whole = (
        f'<button type="button" class="whole-source do-whole-{turn}-{number}">{text_of(texts.whole_source)}</button>'
    )
    return f'<article class="source">{head}{note}<div class="excerpt">{body}</div>{whole}</article>'


def _head(title: str, section: tuple[str, ...], document: str, *, page: str = "") -> str:
    path = [name for name in section if name != title]
    crumbs = f'<p class="path">{" › ".join(text_of(name) for name in path)}</p>' if path else ""
    place = text_of(" · ".join(filter(None, (document, page))))
    return f'<h3>{text_of(title)}</h3>{crumbs}<p class="document">{place}</p>'
