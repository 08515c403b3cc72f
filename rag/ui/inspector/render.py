"""An inspection as HTML: tables, and the whole as a JSON file to take away."""

import json
from base64 import b64encode
from collections.abc import Iterable
from html import escape

from rag.inspection import Candidate, Inspection, Judgement
from rag.types import Found
from rag.ui.figures import figures
from rag.ui.inspector.texts import InspectorTexts


def render(inspection: Inspection, texts: InspectorTexts) -> str:
    return "".join(
        (
            _download(inspection, texts),
            _heading(texts.standalone),
            f"<p>{escape(inspection.standalone)}</p>",
            _heading(texts.searched),
            _lines(inspection.queries),
            _heading(texts.ranking),
            _ranking(inspection, texts),
            _heading(texts.judgement),
            _judgement(inspection.judgement, texts),
            _heading(texts.given if inspection.prompt else texts.quoted),
            *(_quote(" › ".join(filter(None, (part.document, part.heading))), part.text) for part in inspection.chosen),
            _prompt(inspection, texts),
            _heading(texts.times),
            figures(
                [list(inspection.milliseconds), [f"{value:,.1f} ms" for value in inspection.milliseconds.values()]]
            ),
        )
    )


def _quote(place: str, text: str) -> str:
    return f'<blockquote><span class="path">{escape(place)}</span>{escape(text)}</blockquote>'


def _ranking(inspection: Inspection, texts: InspectorTexts) -> str:
    if not inspection.candidates:
        return f'<p class="hint">{escape(texts.nothing)}</p>'
    hint = texts.ranking_hint.format(
        proposed=inspection.proposed, listed=len(inspection.candidates), top_k=inspection.top_k
    )
    columns = (
        texts.rank, texts.dense, texts.keyword, texts.cosine, texts.share, texts.likeness, texts.fused, texts.voted,
        texts.fate, texts.passage,
    )  # fmt: skip
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(_row(candidate, texts) for candidate in inspection.candidates)
    return (
        f'<p class="hint">{escape(hint)}</p><div class="scroll" tabindex="0"><table class="figures ranking">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(candidate: Candidate, texts: InspectorTexts) -> str:
    moved = "" if candidate.fused_rank == candidate.rank else f" ({candidate.fused_rank})"
    numbers = (
        f"{candidate.rank}{moved}",
        _found(candidate.dense),
        _found(candidate.keyword),
        f"{candidate.cosine:.3f}",
        f"{candidate.share:.3f}",
        "–" if candidate.likeness is None else f"{candidate.likeness:.3f}",
        f"{candidate.fused:.3f}",
        "–" if candidate.voted is None else f"{candidate.voted:.3f}",
        getattr(texts, candidate.fate),
    )
    place = " › ".join((candidate.document, *candidate.section[-1:]))
    cells = "".join(f"<td>{escape(cell)}</td>" for cell in numbers)
    return (
        f'<tr class="{candidate.fate}">{cells}<td class="passage"><span class="path">{escape(place)}</span>'
        f"{escape(candidate.text)}</td></tr>"
    )


def _found(found: Found | None) -> str:
    return "–" if found is None else f"{found.rank} · {found.score:.3f}"


def _judgement(judgement: Judgement, texts: InspectorTexts) -> str:
    reason = ", ".join((judgement.reason, *judgement.missing))
    lines = [texts.refused.format(reason=reason) if judgement.refused else texts.answered]
    if judgement.log_odds is None or judgement.probability is None:
        lines.append(texts.no_calibration)
    else:
        lines.append(
            texts.odds.format(
                odds=judgement.log_odds, threshold=judgement.threshold, probability=f"{judgement.probability:.0%}"
            )
        )
    if judgement.names:
        lines.append(texts.names.format(names=", ".join(judgement.names)))
    if judgement.missing:
        lines.append(texts.missing.format(names=", ".join(judgement.missing)))
    signs = figures([list(judgement.signs), [f"{value:.3f}" for value in judgement.signs.values()]])
    return _lines(lines) + (signs if judgement.signs else "")


def _prompt(inspection: Inspection, texts: InspectorTexts) -> str:
    if not inspection.prompt:
        return ""
    messages = "".join(
        f'<p class="hint">{escape(role)}</p><pre tabindex="0">{escape(text)}</pre>' for role, text in inspection.prompt
    )
    return (
        _heading(texts.prompt.format(llm=inspection.llm))
        + f'<p class="hint">{escape(texts.prompt_hint.format(tokens=inspection.prompt_tokens))}</p>{messages}'
    )


def _download(inspection: Inspection, texts: InspectorTexts) -> str:
    text = json.dumps(inspection.as_dict(), ensure_ascii=False, indent=1)
    address = "data:application/json;base64," + b64encode(text.encode()).decode()
    return f'<p><a class="download" download="inspection.json" href="{address}">{escape(texts.download)}</a></p>'


def _heading(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
